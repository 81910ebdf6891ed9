package analysis

import (
	"slices"
	"strings"
	"testing"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// Each search of these loads has a submit and one poll. By status that poll is two requests to Elasticsearch: 1 asks for the status, 2 for the result.
func TestFaultsThatStrikeNothing(t *testing.T) {
	for _, c := range []struct {
		fault   scenario.Fault
		failed  bool // the first search of each load
		submits bool // no polls
		want    []string
	}{
		{fault: scenario.Fault{Kind: scenario.CutAnswer}},
		{fault: scenario.Fault{Kind: scenario.CutAnswer, On: []int{3, 2}},
			want: []string{"with continuous, 28 of 28 searches ended before request 2, where the fault cut would have struck"}},
		{fault: scenario.Fault{Kind: scenario.CutAnswer, On: []int{2}}, failed: true,
			want: []string{"with continuous, 14 of 28 searches ended before request 2, where the fault cut would have struck"}},
		{fault: scenario.Fault{Kind: scenario.CutAnswer}, submits: true, want: []string{
			"with traditional, 28 of 28 searches ended before request 1, where the fault cut would have struck",
			"with continuous, 28 of 28 searches ended before request 1, where the fault cut would have struck"}},
		{fault: scenario.Fault{Kind: scenario.CutAnswer, On: []int{0}}, submits: true},
		{fault: scenario.Fault{Kind: scenario.SearchFails}, submits: true},
	} {
		r := loads(7)
		r.Manifest.Scenario.Groups[0].Fault = &c.fault
		for i := range r.Trials {
			searches := r.Trials[i].Searches
			if c.failed {
				searches[0].Outcome = record.Failed
			}
			for j := range searches {
				if c.submits {
					searches[j].Requests = searches[j].Requests[1:]
				}
			}
		}
		said := slices.DeleteFunc(Analyse(r).Warnings, func(w string) bool { return !strings.Contains(w, "would have struck") })
		if len(said) != len(c.want) {
			t.Errorf("%+v: %q", c.fault, said)
		}
		for _, want := range c.want {
			warned(t, said, "group panels: "+want)
		}
	}
}
