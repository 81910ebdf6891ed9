package report

import (
	"strings"
	"testing"

	"pollbench/bench/analysis"
	"pollbench/bench/record"
)

// onReal is the sample as it may come out on a real Elasticsearch: a little later, and without a gain at its only delay if that is asked for.
func onReal(gain bool) analysis.Analysis {
	a := sample()
	a.Scenario = "sawtooth"
	a.Environment.Backend = record.Backend{
		Kind: "container", Product: "Elasticsearch", Version: "8.19.0", ReadyResolution: 0.001, DelayImplementer: "server",
		ServerClock: &record.ServerClock{Offset: 0.0001, Uncertainty: 0.0004}, SearchPool: &record.SearchPool{Nodes: 1, Size: 928, Queue: 1000},
	}
	for i := range a.Cells[:2] {
		c := &a.Cells[i]
		c.Load.Median, c.Wasted.Server, c.Model.Difference.Median = p(*c.Load.Median+0.012), p(*c.Wasted.Server+0.008), p(0.0162)
	}
	if !gain {
		c := &a.Comparisons[0]
		c.Speedup, c.Lo, c.Hi = p(0.001), p(-0.01), p(0.012)
	}
	return a
}

func TestRealBesideTheStandIn(t *testing.T) {
	stand := sample()
	stand.Scenario = "sawtooth"
	golden(t, "results-real.markdown", Results([]Run{{Analysis: stand}, {Analysis: onReal(true), Charts: []Chart{{Name: "sawtooth-h2", Path: "docs/charts/x.svg"}}}}))
	page := string(Results([]Run{{Analysis: stand}, {Analysis: onReal(false)}}))
	if !strings.Contains(page, "0 of 1 comparisons of loads end alike on both servers; not so h2 at 6 s: faster on the stand-in, no difference on the real server") {
		t.Error(page)
	}
	// Alone it is shown as any other run.
	page = string(Results([]Run{{Analysis: onReal(true)}}))
	for _, want := range []string{"## Elasticsearch 8.19.0: sawtooth on container", "load time (median), its distance from the model"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}
