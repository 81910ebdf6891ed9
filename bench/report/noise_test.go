package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"pollbench/bench/analysis"
	"pollbench/bench/analysis/analysistest"
	"pollbench/bench/scenario"
)

// Of an unhealthy run the first line says so, and why.
func TestDoubt(t *testing.T) {
	a := sample()
	a.Health = analysis.Health{Reasons: []string{"late", "busy"}}
	for format, want := range map[string]string{
		"text":     "WARNING: the run was not healthy, trust no number below: late; busy\n",
		"markdown": "> **Warning: the run was not healthy, trust no number below: late; busy**\n",
	} {
		if got, err := Write(a, format); err != nil || !bytes.HasPrefix(got, []byte(want)) {
			t.Errorf("%s, %v: %.100s", format, err, got)
		}
	}
}

// A difference is told if a p-value stands among as many comparisons, or without any if it is of 5 %.
func TestDiffers(t *testing.T) {
	of := func(speedup float64, ps ...*float64) []analysis.Comparison {
		var all []analysis.Comparison
		for _, p := range ps {
			all = append(all, analysis.Comparison{Other: "other", Speedup: &speedup, P: p})
		}
		return all
	}
	for _, c := range []struct {
		what        string
		comparisons []analysis.Comparison
		mix         *analysis.Mix
		want        bool
	}{
		{"sure", of(0.01, p(0.05)), nil, true},
		{"unsure", of(0.3, p(0.051)), nil, false},
		{"one of two by chance", of(0.3, p(0.03), p(0.9)), nil, false},
		{"one of two", of(0.3, p(0.025), p(0.9)), nil, true},
		{"nothing, for sure", of(0.0004, p(0.0001)), nil, false},
		{"few loads", of(0.049, nil), nil, false},
		{"few loads, much slower", of(-0.05, nil), nil, true},
		{"nothing finished", []analysis.Comparison{{Other: "other"}}, nil, false},
		{"a gain", nil, &analysis.Mix{Gain: p(0.02), Lo: p(0.001), Hi: p(0.03)}, true},
		{"a loss", nil, &analysis.Mix{Gain: p(-0.02), Lo: p(-0.03), Hi: p(-0.001)}, true},
		{"no gain", nil, &analysis.Mix{Gain: p(0.2), Lo: p(-0.001), Hi: p(0.3)}, false},
		{"few dashboards", nil, &analysis.Mix{Gain: p(0.04)}, false},
	} {
		if got := differs(analysis.Analysis{Comparisons: c.comparisons}, analysis.Summary{Other: "other", Mix: c.mix}); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func TestSlower(t *testing.T) {
	of := func(lo, median, hi float64) analysis.Interval {
		return analysis.Interval{Median: &median, Lo: &lo, Hi: &hi}
	}
	for _, c := range []struct {
		what      string
		own, base analysis.Interval
		want      bool
	}{
		{"clear of the base", of(1.9, 2, 2.1), of(0.9, 1, 1.1), true},
		{"overlapping", of(1.05, 2, 3), of(0.9, 1, 1.1), false},
		{"by less than a tenth", of(1.09, 1.09, 1.09), of(1, 1, 1), false},
		{"without intervals", analysis.Interval{Median: p(2)}, analysis.Interval{Median: p(1)}, true},
		{"of nothing", analysis.Interval{}, of(1, 1, 1), false},
	} {
		if got := slower(c.own, c.base); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// Noise alone, of two strategies that wait alike, makes no finding.
func TestNoFinding(t *testing.T) {
	s := analysistest.Scenario("alike", []string{"fallback", "auto"}, scenario.Group{Name: "panels", Panels: 4, Delay: ms(6000)})
	s.Protocols = s.Protocols[:1]
	got := conclusions(analysis.Analyse(analysistest.Play(s, 50*time.Millisecond)))
	if want := "HTTP/1.1: no difference from fallback beyond noise: auto"; got[0] != want || slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, "loads ") }) {
		t.Errorf("got %q", got)
	}
}

// A delay that is drawn is shown as the median that it is, and not in sentences; beside it an exact one is.
func TestDrawnDelays(t *testing.T) {
	drawn := analysis.Group{Name: "drawn", Delay: 2.134567, Drawn: true}
	fixed := analysis.Group{Name: "quick", Delay: 0.7}
	if got := panelsOf(drawn) + "; " + panelsOf(fixed); got != "drawn panels; quick panels, of 0.7 s," {
		t.Errorf("got %q", got)
	}
	a := analysis.Analysis{Cells: []analysis.Cell{{Delay: 12.345678, Groups: []analysis.Group{drawn, fixed}}}}
	if got := delayOf(a, a.Cells[0]); got != "median 12.35 s" {
		t.Errorf("got %q", got)
	}
	other := fixed
	other.Delay = 1.4
	a.Cells = append(a.Cells, analysis.Cell{Delay: 12.345678, Groups: []analysis.Group{drawn, other}})
	if got := delayOf(a, a.Cells[1]); got != "quick 1.4 s" {
		t.Errorf("of a sweep beside it: %q", got)
	}
}

// Long panels whose delays are drawn hold up the quick ones on HTTP/1.1. The sentence names the delay that is exact, and not the dashboard by its longest.
func TestDrawnHarm(t *testing.T) {
	s := analysistest.Scenario("mix", []string{"traditional", "continuous"},
		scenario.Group{Name: "slow", Panels: 8, Distribution: &scenario.Distribution{Lognormal: &scenario.Lognormal{P50: ms(8000), P95: ms(12_000)}}},
		scenario.Group{Name: "quick", Panels: 2, Delay: ms(700)})
	s.Protocols, s.Repeats = s.Protocols[:1], 20
	got := harms(analysis.Analyse(analysistest.Play(s, 0)))
	if len(got) == 0 || !strings.HasPrefix(got[0], "HTTP/1.1: under continuous the quick panels, of 0.7 s, were there after ") {
		t.Errorf("got %q", got)
	}
}
