package plots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"pollbench/bench/analysis"
	"pollbench/bench/analysis/analysistest"
	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

func chartOf(t *testing.T, name string, p picturing) Chart {
	t.Helper()
	charts, err := Charts(p.Analysis, p.Pictures)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(names(charts), name)
	if i < 0 {
		t.Fatalf("no chart %s among %v", name, names(charts))
	}
	return charts[i]
}

func TestChartsOfVariants(t *testing.T) {
	two := []string{"traditional", "continuous"}
	swept := far(two, 0, 100)
	swept.Groups[0].Sweep = delaysMs(2000, 4000)
	swept.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeH2}}
	slow := far(two, 50, 100)
	slow.Groups[0].Sweep = delaysMs(2000, 4000)
	idle := analysistest.Scenario("idle", two, panelsOf(2, 12_000))
	idle.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(10_000)}}
	for _, test := range []struct {
		name string
		of   picturing
		want string
	}{
		{"proxies", play(edges(deciding, unequal()...), nil), "vice last-hop"},
		{"tabs", play(seven(two, 8, 1000), nil), "vice tabs-http1 tabs-h2"},
		{"round trips", play(far(two, 0, 50), nil), "vice network-http1 network-h2"},
		{"cuts", cut(two), "vice cuts-http1 cuts-h2"},
		{"a proxy that ends what idles", play(idle, nil), "vice failures-http1 failures-h2"},
		{"drawn delays", play(drawnDelays(two, 3), nil), "vice mix-http1 mix-h2"},
		{"a sweep of everything", play(swept, nil), "sawtooth-http1 sawtooth-h2 sawtooth-h2-edge-h2 load-http1 load-h2 load-h2-edge-h2 speedup speedup-edge-h2 " +
			"vice last-hop network-http1 network-h2 network-h2-edge-h2"},
		{"a sweep on slow networks alone", play(slow, nil), "sawtooth-http1-direct-rtt-50ms sawtooth-http1-direct-rtt-100ms sawtooth-h2-direct-rtt-50ms sawtooth-h2-direct-rtt-100ms " +
			"load-http1-direct-rtt-50ms load-http1-direct-rtt-100ms load-h2-direct-rtt-50ms load-h2-direct-rtt-100ms " +
			"speedup-direct-rtt-50ms speedup-direct-rtt-100ms vice network-http1 network-h2"},
	} {
		test.of.Waterfalls = nil
		charts, err := Charts(test.of.Analysis, test.of.Pictures)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := strings.Join(names(charts), " "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
	falls := play(edges(two, panelsOf(2, 6000)), nil)
	chartOf(t, "waterfall-continuous-h2", falls)
	chartOf(t, "waterfall-continuous-h2-edge-h2", falls)
}

// What a load cannot beat is the last tab's search; a group's panels count from their own tab. Where no strategy goes by the server's protocol, no title
// and no caption speak of one.
func TestTabsBehindProxies(t *testing.T) {
	p := play(tabbedEdges(), nil)
	rc, _ := lastHopOf(read(p.Analysis, p.Pictures))
	if loads, fast := rc.facets[0], rc.facets[1]; loads.title != "all tabs loaded" || loads.own[0] != 6+3 || fast.own[0] != 1 {
		t.Errorf("%s: ticks %v and %v", loads.title, loads.own, fast.own)
	}
	c := chartOf(t, "last-hop", p)
	if strings.Contains(c.Title, "decides") || strings.Contains(c.Caption, wrongHopLabel) || !strings.Contains(c.Caption, "from the last tab's start") {
		t.Errorf("title %q, caption %q", c.Title, c.Caption)
	}
	c = chartOf(t, "last-hop", play(edges(deciding, unequal()...), nil))
	if !strings.Contains(c.Title, "decides") || !strings.Contains(c.Caption, wrongHopLabel) || strings.Contains(c.Caption, "tab") {
		t.Errorf("title %q, caption %q", c.Title, c.Caption)
	}
}

// Delays that are drawn are no exact ones, those beside them are.
func TestDrawnLabels(t *testing.T) {
	p := play(mixedTabs(), nil)
	svg := string(written(t, chartOf(t, "vice", p), SVG))
	if !strings.Contains(svg, ">2 panels of 0.7 s<") || !strings.Contains(svg, ">8 panels, p50 ") {
		t.Errorf("labels of groups in %s", svg)
	}
	if c := chartOf(t, "tabs-h2", p); !strings.Contains(c.Subtitle, "longest query ") || strings.Contains(c.Subtitle, "query delay") {
		t.Errorf("subtitle %s", c.Subtitle)
	}
	if c := chartOf(t, "mix-h2", p); !strings.Contains(c.Caption, "slowest query, from the start of the last tab.") {
		t.Errorf("caption %s", c.Caption)
	}
}

// Where a proxy ends what idles, what fails did not fail for a cut alone, and has a chart of its own.
func TestCutsAndOtherFailures(t *testing.T) {
	p := play(cutAndIdle(), nil)
	of := func(s span) string {
		var all []string
		for _, h := range s.hops {
			all = append(all, h.topology)
		}
		return strings.Join(all, " ")
	}
	spans := read(p.Analysis, p.Pictures).broken()
	if len(spans) != 4 || of(spans[0]) != "direct direct+wifi" || of(spans[1]) != "direct edge-idle-timeout-10s edge-idle-timeout-10s+wifi" {
		t.Errorf("hops %+v", spans)
	}
	if c := chartOf(t, "cuts-h2", p); !strings.Contains(c.Title, "cut connections") {
		t.Errorf("title %s", c.Title)
	}
	if c := chartOf(t, "failures-h2", p); strings.Contains(c.Title, "cut") {
		t.Errorf("title %s", c.Title)
	}
}

func delaysMs(values ...int) (all []clock.Seconds) {
	for _, v := range values {
		all = append(all, ms(v))
	}
	return all
}

// Going by the server's protocol is wrong behind both proxies, each time where the browser's protocol makes it hurt: fast panels that wait for long polls on
// HTTP/1.1, and sleeps on h2.
func TestWrongHop(t *testing.T) {
	p := play(edges(deciding, unequal()...), nil)
	rc, _ := lastHopOf(read(p.Analysis, p.Pictures))
	var rows, wrong []string
	for _, r := range rc.rows {
		rows = append(rows, r.name+" "+r.detail)
	}
	for _, f := range rc.facets {
		for _, m := range f.marks {
			if m.note != "" {
				wrong = append(wrong, fmt.Sprintf("%s, %s, %s: %s", f.title, rc.rows[m.row].detail, m.strategy, m.label))
			}
		}
	}
	if got, want := strings.Join(rows, ", "), "HTTP/1.1 → HTTP/1.1 direct, HTTP/1.1 → h2 edge-http1, h2 → HTTP/1.1 edge-h2, h2 → h2 direct"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	want := "dashboard loaded, edge-h2, auto-by-server: 8.2 s; panels “fast” delivered, edge-http1, auto-by-server: 6.0 s"
	if got := strings.Join(wrong, "; "); got != want {
		t.Errorf("wrong: %s\nwant %s", got, want)
	}
	if f := rc.facets[1]; f.own[0] != 1 || rc.facets[0].own[0] != 6 {
		t.Errorf("ticks %v and %v", rc.facets[0].own, f.own)
	}
	// With equal panels there is no group to look at; the page's small requests are what suffers.
	p = play(edges(deciding, panelsOf(10, 6000)), nil)
	if rc, _ := lastHopOf(read(p.Analysis, p.Pictures)); rc.facets[1].title != "bystanders answered" {
		t.Errorf("second facet: %s", rc.facets[1].title)
	}
	// Where no hop differs from the server's there is nothing to decide.
	p = play(analysistest.Scenario("direct", deciding, unequal()...), nil)
	if rc, _ := lastHopOf(read(p.Analysis, p.Pictures)); len(rc.rows) > 0 {
		t.Error("a chart of proxies without a proxy")
	}
}

// The seventh tab of 20 s, opened after 6, waits for the first's end, and the eighth 0.2 s more, while the seventh's submit is held: 33.2 s.
func TestTabsChart(t *testing.T) {
	p := play(seven([]string{"traditional", "continuous"}, 8, 1000), nil)
	svg := string(written(t, chartOf(t, "tabs-http1", p), SVG))
	for _, want := range []string{
		">33.2 s<", ">20.7 s<", ">What the last of 8 tabs waits for<",
		">tabs · HTTP/1.1 · query delay 20 s · 8 tabs of 1 panel · 7 loads per strategy<",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
	if got := markers([]byte(svg)); got != 2*8+2 {
		t.Errorf("%d markers, want one for each tab and strategy, and two of the legend", got)
	}
	// Of all tabs the median panel was there in time; the last one's was not.
	svg = string(written(t, chartOf(t, "vice", p), SVG))
	if !strings.Contains(svg, ">of 8, all its panels<") || strings.Count(svg, ">33.2 s<") != 1 {
		t.Error("the vice chart does not show what the last tab suffers")
	}
	hidden := seven([]string{"traditional", "continuous"}, 3, 1000)
	hidden.Tabs.Hide = ms(3000)
	c := chartOf(t, "tabs-h2", play(hidden, nil))
	if got := markers(written(t, c, SVG)); got != 2+2 || !strings.Contains(c.Caption, "hidden") {
		t.Errorf("%d markers of one tab that is not hidden; %s", got, c.Caption)
	}
}

// Points and expectations are of the networks that differ by their round trips alone, and are means over the delays.
func TestNetworkChart(t *testing.T) {
	s := far([]string{"traditional", "continuous"}, 300, 0, 50)
	s.Networks = append(s.Networks, scenario.Network{Name: "narrow", LastHop: scenario.Conditions{RTT: ms(80), Bandwidth: 10_000}})
	s.Groups[0].Sweep = delaysMs(2000, 6000)
	p := play(s, nil)
	r := read(p.Analysis, p.Pictures)
	spans := r.byRTT()
	if len(spans) != 2 || len(spans[1].hops) != 3 {
		t.Fatalf("spans %+v", spans)
	}
	measured, expected := r.rttPoints(spans[1], "continuous")
	for i, want := range []float64{0, 50, 300} {
		// What a long poll wastes is one round trip, and here a millisecond of the program's own and 3 of noise.
		if m := measured[i]; m.x != want || m.y < want/1000 || m.y > want/1000+0.006 {
			t.Errorf("measured %+v at %v ms", m, want)
		}
		if e := expected[i]; e.x != want || e.y < want/1000 || e.y > want/1000+0.006 {
			t.Errorf("expected %+v at %v ms", e, want)
		}
	}
	// Charts of anything else leave the slow networks out.
	if rc, _ := viceOf(r); len(rc.facets) != 2 || rc.facets[0].title != "HTTP/1.1 · direct" {
		t.Errorf("facets %+v", rc.facets)
	}
	c := chartOf(t, "network-h2", p)
	if !strings.Contains(c.Caption, "Means over all query delays") || !strings.Contains(c.Caption, "the model expects") {
		t.Errorf("caption %s", c.Caption)
	}
}

// Of two searches in seven one fails, so of a hundred 28.6; a load without any finished trial counts all the same.
func TestCutsChart(t *testing.T) {
	s := analysistest.Scenario("cuts", []string{"traditional", "patient"}, panelsOf(1, 1000))
	s.Protocols = s.Protocols[1:]
	s.Networks = []scenario.Network{
		{Name: scenario.PerfectNetwork}, {Name: "train", LastHop: scenario.Conditions{Cut: 0.2}}, {Name: "far", LastHop: scenario.Conditions{RTT: ms(100)}},
	}
	p := play(s, func(x *record.Trial) {
		if x.Topology != "direct+train" {
			return
		}
		x.Outcome, x.Searches[0].Outcome = record.Failed, record.Failed
		if x.Strategy == "patient" {
			x.Searches[0].Retries = 1
			if x.Repeat > 2 {
				x.Outcome, x.Searches[0].Outcome = record.OK, record.OK
			}
		}
	})
	svg := string(written(t, chartOf(t, "cuts-h2", p), SVG))
	for _, want := range []string{">29<", ">100<", ">searches failed<", ">failed polls asked again<", ">cuts · HTTP/2 (h2) · 28 searches<", ">train<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(svg, ">far<") {
		t.Error("a network without trouble takes room")
	}
	// The order of looks counts the strategies of which nothing has finished, so that the others look the same in all charts.
	if r := read(p.Analysis, p.Pictures); !slices.Equal(r.all, []string{"traditional", "patient"}) {
		t.Errorf("strategies %v", r.all)
	}
}

func TestMixChart(t *testing.T) {
	p := play(drawnDelays([]string{"traditional", "continuous"}, 20), nil)
	c := chartOf(t, "mix-h2", p)
	svg := string(written(t, c, SVG))
	longest := 0
	for path := range strings.SplitSeq(svg, "<path") {
		path, _, _ = strings.Cut(path, "/>")
		longest = max(longest, strings.Count(path, "L"))
	}
	if longest != 2*20-1 {
		t.Errorf("a line of %d strokes, want two a dashboard less the first", longest)
	}
	m := p.Summary[1].Mix
	want := fmt.Sprintf("continuous: gain %.1f %% [%.1f, %.1f] over traditional", *m.Gain*100, *m.Lo*100, *m.Hi*100)
	if !strings.Contains(svg, ">"+want+"<") {
		t.Errorf("no legend %s", want)
	}
	if got := staircase([]float64{1, 2}); fmt.Sprint(got) != "[{1 0} {1 50} {2 50} {2 100}]" {
		t.Errorf("steps %v", got)
	}
	for _, v := range []struct {
		of   float64
		want string
	}{{-0.04, "0.0"}, {-0.06, "−0.1"}, {8.04, "8.0"}} {
		if got := tenths(v.of); got != v.want {
			t.Errorf("%v: %s, want %s", v.of, got, v.want)
		}
	}
	if lo, hi := logLimits(2, 3); lo != 1 || hi != 10 {
		t.Errorf("an axis from %v to %v has no label", lo, hi)
	}
}

func TestInside(t *testing.T) {
	for _, test := range []struct{ levels, want []vg.Length }{
		{[]vg.Length{50, 60}, []vg.Length{50, 60}},
		{[]vg.Length{95, 105}, []vg.Length{90, 100}}, // pushed down, both
		{[]vg.Length{5, -5}, []vg.Length{10, 0}},     // pushed up, in their order
	} {
		if got := inside(test.levels, 10, 0, 100); !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.levels, got, test.want)
		}
	}
}

// Lanes of several tabs say so, and begin where their tab does.
func TestTabsWaterfall(t *testing.T) {
	lanes := []analysis.Lane{{Tab: 1, Group: "slow"}, {Tab: 1, Group: "slow"}, {Tab: 2, Group: "slow"}}
	if got, want := strings.Join(laneNames(lanes), ", "), "tab 1 · slow 1, tab 1 · slow 2, tab 2 · slow 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	late := analysis.Lane{Tab: 2, Spans: []analysis.Span{{From: 2, To: 3, Activity: analysis.Useful}}}
	if got := boxes(late, func(s float64) vg.Length { return vg.Length(s * 50) }); got[0].from != 100 || got[0].to != 150 {
		t.Errorf("boxes %v", got)
	}
	w := analysis.Waterfall{Strategy: "continuous", Protocol: "h2", Topology: "edge-h2", Delay: 1, Lanes: []analysis.Lane{{Tab: 1}, late}}
	c := waterfall(read(analysis.Analysis{}, analysis.Pictures{}), w)
	if c.Name != "waterfall-continuous-h2-edge-h2" || !strings.Contains(c.Title, "edge-h2") || !strings.Contains(c.Subtitle, "loaded in 3.00 s") {
		t.Errorf("%s, %s, %s", c.Name, c.Title, c.Subtitle)
	}
	if last := c.legend[len(c.legend)-1].name; last != "ideal: longest search of the last tab, 3.00 s" {
		t.Errorf("legend %s", last)
	}
}

// A line leads from the marker of a level to its label.
func TestLeader(t *testing.T) {
	label := func(from float64) string {
		p := newPlot("", "")
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 8, 0, 2
		p.Add(endLabels{{y: 1, from: from, text: "1.0 s", name: "one", look: lookOf("one", []string{"one"})}})
		return string(written(t, Chart{height: bodyHeight, body: p.Draw}, SVG))
	}
	if without, with := strings.Count(label(0), "<path"), strings.Count(label(4), "<path"); with != without+1 {
		t.Errorf("%d paths without a marker to lead to, %d with one", without, with)
	}
}
