package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"pollbench/bench/analysis"
)

// labels lists what an axis says, and how many ticks it has in all.
func labels(t plot.Ticker, lo, hi float64) string {
	var out []string
	ticks := t.Ticks(lo, hi)
	for _, t := range ticks {
		if !t.IsMinor() {
			out = append(out, t.Label)
		}
	}
	return fmt.Sprintf("%s of %d", strings.Join(out, " "), len(ticks))
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		ticker plot.Ticker
		lo, hi float64
		want   string
	}{
		{steps{}, 0, 23, "0 5 10 15 20 of 24"},
		{steps{}, 0, 25.7, "0 5 10 15 20 25 of 26"},
		{steps{}, 0, 5, "0 1 2 3 4 5 of 11"},
		{steps{}, 0, 10, "0 2 4 6 8 10 of 11"},
		{steps{}, -7, 28, "−5 0 5 10 15 20 25 of 36"},
		{steps{}, 0, 0.3, "0.00 0.05 0.10 0.15 0.20 0.25 0.30 of 31"},
		{steps{}, 0, 600, "0 100 200 300 400 500 600 of 13"},
		{steps{}, 3, 3, "3 of 1"},
		{decades{}, 0.001, 10.7, "1 ms 10 ms 100 ms 1 s 10 s of 37"},
		{decades{}, 0.00002, 0.0003, "20 µs 50 µs 100 µs 200 µs of 11"},
		{decades{}, 3.2, 27, "5 s 10 s 20 s of 8"},
		{decades{}, 1, 100, "1 s 2 s 5 s 10 s 20 s 50 s 100 s of 19"},
		{decades{}, 0.0002, 0.06, "1 ms 10 ms of 23"},
		{decades{}, 0.5, 200, "1 s 10 s 100 s of 25"},
	} {
		if got := labels(test.ticker, test.lo, test.hi); got != test.want {
			t.Errorf("%T from %v to %v: %s, want %s", test.ticker, test.lo, test.hi, got, test.want)
		}
	}
}

// A range that no step divides must not be searched for ever.
func TestStepsOfNoRange(t *testing.T) {
	for _, hi := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if step, minor := stepOf(0, hi); step != 1 || minor != 0.5 {
			t.Errorf("from 0 to %v: %v, %v", hi, step, minor)
		}
	}
}

func TestSeconds(t *testing.T) {
	for v, want := range map[float64]string{
		0.0004: "0.4 ms", 0.0021: "2.1 ms", 0.00996: "10 ms", 0.21: "210 ms", 0.9994: "999 ms", 0.9996: "1.0 s", 4.93: "4.9 s", 10.704: "10.7 s", 99.96: "100 s", 600: "600 s",
	} {
		if got := seconds(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, test := range []struct{ levels, want []vg.Length }{
		{nil, []vg.Length{}},
		{[]vg.Length{5, 50}, []vg.Length{5, 50}},                        // far enough apart
		{[]vg.Length{10, 10}, []vg.Length{5, 15}},                       // about their middle
		{[]vg.Length{11, 10}, []vg.Length{15.5, 5.5}},                   // in their order
		{[]vg.Length{0, 9, 17}, []vg.Length{-4. / 3, 26. / 3, 56. / 3}}, // 17 joins the block of 0 and 9: middle 26/3
	} {
		got := spread(test.levels, 10)
		if !slices.EqualFunc(got, test.want, func(a, b vg.Length) bool { return math.Abs(float64(a-b)) < 1e-9 }) {
			t.Errorf("%v: %v, want %v", test.levels, got, test.want)
		}
	}
}

func TestBoxes(t *testing.T) {
	lane := analysis.Lane{Spans: []analysis.Span{
		{From: 0, To: 0.001, Activity: analysis.Network}, {From: 0.001, To: 8, Activity: analysis.Useful}, {From: 8, To: 8, Activity: analysis.Slot},
		{From: 8, To: 8.2, Activity: analysis.Sleep}, {From: 8.2, To: 8.201, Activity: analysis.Server}, {From: 8.201, To: 8.202, Activity: analysis.Network},
	}}
	got := boxes(lane, func(s float64) vg.Length { return vg.Length(s * 50) }) // 50 points a second
	want := []box{
		{0, hairline, analysis.Network}, // true: 0.05 points
		{hairline, 400, analysis.Useful},
		{400, 410, analysis.Sleep},
		{410, 410 + hairline, analysis.Server},
		{410 + hairline, 410 + 2*hairline, analysis.Network},
	}
	same := func(a, b box) bool {
		return math.Abs(float64(a.from-b.from)) < 1e-9 && math.Abs(float64(a.to-b.to)) < 1e-9 && a.activity == b.activity
	}
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("got %v, want %v", got, want)
	}
	if ideal, wasted := length(lane, useful), length(lane, waste); math.Abs(ideal-7.999) > 1e-9 || math.Abs(wasted-0.203) > 1e-9 {
		t.Errorf("useful %v, wasted %v", ideal, wasted)
	}
}

func TestLaneNames(t *testing.T) {
	lanes := []analysis.Lane{{Group: "slow"}, {Group: "slow"}, {Group: "fast"}, {}, {Group: "panels"}}
	if got, want := strings.Join(laneNames(lanes), ", "), "slow 1, slow 2, fast 1, panel 1, panel 2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Only continuous polling on HTTP/1.1 holds anybody up for seconds.
func TestHeldUp(t *testing.T) {
	rc, _ := viceOf(read(viceResult(), analysis.Pictures{}))
	var held []string
	for _, f := range rc.facets {
		for _, m := range f.marks {
			if m.strong {
				held = append(held, rc.rows[m.row].name+" "+m.strategy+" "+f.title)
			}
		}
	}
	if got, want := strings.Join(held, ", "), "fast continuous HTTP/1.1, bystanders continuous HTTP/1.1"; got != want {
		t.Errorf("held up: %s, want %s", got, want)
	}
	for _, f := range rc.facets {
		if f.lo != 0.001 || math.Abs(f.hi-10.707) > 1e-9 { // 1.9 ms lies in the decade of 1 ms; 10.704 + 0.003
			t.Errorf("axis from %v to %v", f.lo, f.hi)
		}
	}
}

func TestLooks(t *testing.T) {
	strategies := []string{"fallback", "traditional", "kibana-8.5", "continuous", "kibana-8.6", "no-backoff", "long-first-wait", "rally", "sync"}
	type pair struct {
		color any
		shape shape
	}
	taken := map[pair]string{}
	for _, s := range strategies {
		l := lookOf(s, strategies)
		p := pair{l.color, l.shape}
		if other, ok := taken[p]; ok {
			t.Errorf("%s looks like %s", s, other)
		}
		taken[p] = s
	}
	if l := lookOf("continuous", []string{"continuous"}); l.color != blue || l.shape != circle {
		t.Error("the look of continuous depends on the others")
	}
}

func TestWrap(t *testing.T) {
	style := sans(8)
	txt := "a few words and then " + strings.Repeat("one", 50) + " that is too long"
	lines := wrap(style, txt, 100)
	for _, l := range lines {
		if style.Width(l) > 100 {
			t.Errorf("%q is %v wide", l, style.Width(l))
		}
	}
	if got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(txt, " ", ""); got != want {
		t.Errorf("wrapping lost something: %q", lines)
	}
	if got := shorten(style, txt, 100); style.Width(got) > 100 || !strings.HasSuffix(got, "…") {
		t.Errorf("shortened to %q", got)
	}
	if got := shorten(style, "short", 100); got != "short" {
		t.Errorf("shortened to %q", got)
	}
}
