package report

import (
	"strings"
	"testing"

	"pollbench/bench/analysis"
	"pollbench/bench/record"
)

// onReal is the sample as it may come out on a real Elasticsearch: a little later, and with the gain at its only delay that is given, if one is.
func onReal(gain ...float64) analysis.Analysis {
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
	if gain != nil {
		c := &a.Comparisons[0]
		c.Speedup, c.Lo, c.Hi = p(gain[0]), p(gain[1]), p(gain[2])
	}
	return a
}

func TestRealBesideTheStandIn(t *testing.T) {
	stand := sample()
	stand.Scenario = "sawtooth"
	golden(t, "results-real.markdown", Results([]Run{{Analysis: stand}, {Analysis: onReal(), Charts: []Chart{{Name: "sawtooth-h2", Path: "docs/charts/x.svg"}}}}))
	// Alone it is shown as any other run.
	page := string(Results([]Run{{Analysis: onReal()}}))
	for _, want := range []string{"## Elasticsearch 8.19.0: sawtooth on container", "load time (median), its distance from the model"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}

func TestWhatChangesOnTheRealServer(t *testing.T) {
	stand := sample() // 26.8 % [26.8, 26.9]
	for _, c := range []struct {
		name         string
		gain, lo, hi float64
		want         string
	}{
		{"nothing", 0.26, 0.255, 0.265, "which strategy is faster does not change: cells compared 1, with another verdict on the real server 0; without"},
		{"the verdict", 0.001, -0.01, 0.012,
			"which strategy is faster changes: cells compared 1, with another verdict on the real server 1: h2 at 6 s: faster on the stand-in, no difference on the real server; without"},
		{"the gain", 0.014, 0.011, 0.018,
			"on the real server 0; by how much does: h2 at 6 s: 26.8 % [26.8, 26.9] on the stand-in, 1.4 % [1.1, 1.8] on the real server; without"},
		{"the gain, by a little more than counts", 0.218, 0.215, 0.221,
			"on the real server 0; by how much does: h2 at 6 s: 26.8 % [26.8, 26.9] on the stand-in, 21.8 % [21.5, 22.1] on the real server; without"},
		{"the gain, within its interval", 0.22, 0.2, 0.27, "on the real server 0; without"},
		{"how sure it is", 0.233, 0.014, 0.234,
			"on the real server 0; by how much cannot be relied on where the loads of one strategy lie far apart: " +
				"h2 at 6 s: 26.8 % [26.8, 26.9] on the stand-in, 23.3 % [1.4, 23.4] on the real server; without"},
	} {
		if got := changed(stand, onReal(c.gain, c.lo, c.hi)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
