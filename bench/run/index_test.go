package run

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/network"
)

// An index that somebody removes meanwhile ends the run, in the warm-up and later, and the error names it and the way out.
func TestIndexIsRemoved(t *testing.T) {
	s := shipped(t, "smoke")
	for _, c := range []struct {
		after time.Duration // the warm-up takes 1.3 s, and 1 s later the first load starts
		index string
		want  string
		kept  bool
	}{
		{0, "", "somebody has removed the index pollbench: a run that has made it removes it at its end: play runs one after the other, or on an index of your own, by --index", false},
		{0, "pollbench", "somebody has removed the index pollbench: name one that stays with --index", false},
		{2350 * time.Millisecond, "", "somebody has removed the index pollbench: a run", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &network.Memory{}
			d := newDouble(t, n, elastic.Options{})
			defer d.Close()
			mine := Server{URL: d.url}
			backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: mine, Index: c.index})
			if err != nil {
				t.Fatal(err)
			}
			defer backend.Close()
			removed := make(chan error)
			time.AfterFunc(c.after, func() { removed <- remove(t, mine, n) })
			if c.after == 0 {
				err = <-removed
			}
			var kept int
			failed := Run(t.Context(), Options{
				Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend,
				Record: func(record.Trial) error { kept++; return nil },
			})
			if c.after > 0 {
				err = <-removed
			}
			if err != nil || failed == nil || !strings.Contains(failed.Error(), c.want) || (kept > 0) != c.kept {
				t.Errorf("after %v: %d loads kept, %v, %v", c.after, kept, failed, err)
			}
		})
	}
}
