package run

import (
	"testing"

	"pollbench/bench/plan"
	"pollbench/fixtures/documents"
)

// A payload is asked for as the number of hits that make it, of the index that is searched.
func TestPayloadIsHits(t *testing.T) {
	s := shipped(t, "smoke")
	s.Payload = 1000
	for index, want := range map[string]string{"": documents.Index, "mine": "mine"} {
		r := &runner{Options: Options{Scenario: s, Backend: &Backend{target: Target{Index: index}}}}
		if d := r.dashboard(plan.New(s, plan.Options{}).Trials[0]); d.Hits != 4 || d.Index != want {
			t.Errorf("%d hits of %q, want 4 of %q", d.Hits, d.Index, want)
		}
	}
}
