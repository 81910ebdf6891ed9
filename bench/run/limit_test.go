package run

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/network"
)

// Not even the warm-up has more searches at once than a server may get, whatever number of variants and dashboard servers there is.
func TestWarmUpKeepsToTheLimit(t *testing.T) {
	for _, c := range []struct{ limit, panels, servers, most int }{
		{limit: 2, panels: 2, servers: 1, most: 2}, {limit: 5, panels: 2, servers: 1, most: 4}, {limit: 9, panels: 4, servers: 2, most: 8},
	} {
		s := shipped(t, "smoke")
		s.Groups[0].Panels = c.panels
		synctest.Test(t, func(t *testing.T) {
			n := &network.Memory{}
			d := newDouble(t, n, elastic.Options{})
			defer d.Close()
			var mu sync.Mutex
			var now, most, all int
			d.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/_async_search") {
					mu.Lock()
					now++
					all++
					most = max(most, now)
					mu.Unlock()
					time.AfterFunc(warmUpDelay, func() { // each is executed for so long
						mu.Lock()
						now--
						mu.Unlock()
					})
				}
				d.ServeHTTP(w, r)
			})
			backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: Server{URL: d.url}, AtOnce: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			defer backend.Close()
			e := backend.entrances["direct"]
			for len(e.dashboards) < c.servers {
				e.dashboards = append(e.dashboards, e.dashboards[0])
			}
			time.Sleep(time.Second) // what was asked beforehand is over
			all, most = 0, 0
			err = warmUp(t.Context(), Options{Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend})
			if want := len(s.Variants()) * c.servers * min(4, c.limit); err != nil || most != c.most || all != want {
				t.Errorf("%d allowed: %d at once, want %d; %d in all, want %d; %v", c.limit, most, c.most, all, want, err)
			}
		})
	}
}

// A load that has more searches than are allowed is refused before anything is sent.
func TestTooManyAtOnce(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		d := newDouble(t, n, elastic.Options{})
		defer d.Close()
		_, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: Server{URL: d.url}, AtOnce: 3})
		if err == nil || !strings.Contains(err.Error(), "a load has 4 searches, and no more than 3 are allowed at once: allow more with --max-searches") || d.asked > 0 {
			t.Errorf("%v, after %d requests", err, d.asked)
		}
	})
	there := Server{URL: "https://127.0.0.1:1"}
	for _, c := range []struct {
		panels int
		t      Target
		fits   bool
	}{
		{4, Target{Elasticsearch: there, AtOnce: 4}, true},
		{51, Target{Elasticsearch: there}, true}, // its search pool is asked for
		{51, Target{Dashboard: there, Elasticsearch: there}, true},
		{50, Target{Dashboard: there}, true},
		{51, Target{Dashboard: there}, false}, // nobody can be asked
		{51, Target{Dashboard: there, AtOnce: 51}, true},
		{51, Target{Dashboard: there, Elasticsearch: there, AtOnce: 50}, false},
	} {
		s.Groups[0].Panels = c.panels
		if err := c.t.Plays(s); (err == nil) != c.fits {
			t.Errorf("%d panels, %+v: %v", c.panels, c.t, err)
		}
	}
}
