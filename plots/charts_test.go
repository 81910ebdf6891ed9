package plots

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"pollbench/bench/analysis"
)

func names(charts []Chart) []string {
	var out []string
	for _, c := range charts {
		out = append(out, c.Name)
	}
	return out
}

// drawn is one chart of a result.
func drawn(t *testing.T, name string, a analysis.Analysis, curves []analysis.Curve, falls ...analysis.Waterfall) Chart {
	t.Helper()
	charts, err := Charts(a, analysis.Pictures{Curves: curves, Waterfalls: falls})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(names(charts), name)
	if i < 0 {
		t.Fatalf("no chart %s among %v", name, names(charts))
	}
	return charts[i]
}

func TestChartsOfAResult(t *testing.T) {
	freely := whole()
	for i := range freely.Comparisons {
		freely.Comparisons[i].Other = "my/own"
	}
	single := viceResult()
	for i := range single.Cells {
		single.Cells[i].Groups = single.Cells[i].Groups[:1]
	}
	for _, test := range []struct {
		name  string
		a     analysis.Analysis
		falls []analysis.Waterfall
		want  string
	}{
		{"sweep", whole(), nil, "sawtooth-http1 sawtooth-h2 load-http1 load-h2 speedup"},
		{"one protocol", dense(), nil, "sawtooth-h2 load-h2 speedup"},
		{"another strategy", freely, nil, "sawtooth-http1 sawtooth-h2 load-http1 load-h2 speedup-my-own"},
		{"groups", viceResult(), []analysis.Waterfall{viceFall()}, "vice waterfall-continuous-http1"},
		{"panels and bystanders", single, nil, "vice"},
		{"two loads of a kind", viceResult(), []analysis.Waterfall{viceFall(), viceFall()},
			"vice waterfall-continuous-http1 waterfall-continuous-http1-2"},
		{"a load without panels", viceResult(), []analysis.Waterfall{{}}, "vice"},
		{"topologies", through(whole(), "proxy"), nil, "sawtooth-http1 sawtooth-http1-proxy sawtooth-h2 sawtooth-h2-proxy " +
			"load-http1 load-http1-proxy load-h2 load-h2-proxy speedup speedup-proxy"},
	} {
		charts, err := Charts(test.a, analysis.Pictures{Waterfalls: test.falls})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := strings.Join(names(charts), " "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	unfinished := whole()
	for i := range unfinished.Cells {
		unfinished.Cells[i] = emptied(unfinished.Cells[i])
	}
	unfinished.Comparisons = nil
	for _, test := range []struct {
		a    analysis.Analysis
		want string
	}{
		{analysis.Analysis{Scenario: "sawtooth"}, `draw charts of "sawtooth": no cell has a finished trial`},
		{unfinished, `draw charts of "sawtooth": no cell has a finished trial`},
		{sweep("sawtooth", []float64{6}, both, 7),
			`draw charts of "sawtooth": one delay, one group of panels and no bystanders leave nothing to compare`},
	} {
		charts, err := Charts(test.a, analysis.Pictures{Curves: curvesOf(both, 23)})
		if err == nil || err.Error() != test.want || charts != nil {
			t.Errorf("got %v and %v, want %s", names(charts), err, test.want)
		}
	}
}

// emptied is a cell of which no trial finished.
func emptied(c analysis.Cell) analysis.Cell {
	return analysis.Cell{Delay: c.Delay, Strategy: c.Strategy, Protocol: c.Protocol, Topology: c.Topology, Trials: c.Trials, Failed: c.Trials,
		Groups: []analysis.Group{{Name: c.Groups[0].Name, Delay: c.Delay, Panels: 10}}, Bystanders: &analysis.Bystanders{}}
}

// markers counts the markers of an SVG by their fill of paper, which the chart's own ground has too, once.
func markers(svg []byte) int { return bytes.Count(svg, []byte("fill:#FFFFFF")) - 1 }

func TestMarks(t *testing.T) {
	curves := curvesOf(both, 23)
	hollow := whole()
	for i := range hollow.Cells {
		if c := hollow.Cells[i]; c.Protocol == "http1" && c.Strategy == "traditional" && c.Delay > 20 {
			hollow.Cells[i] = emptied(c)
		}
	}
	for i := range hollow.Comparisons {
		if c := &hollow.Comparisons[i]; c.Protocol == "http1" && c.Delay > 20 {
			c.Speedup, c.Lo, c.Hi = nil, nil, nil
		}
	}
	wide := "stroke-width:0.8" // of the bars of intervals, three strokes each: the bar and its caps
	for _, test := range []struct {
		chart         string
		a             analysis.Analysis
		markers, bars int // a marker for each point and one for each line of the legend
	}{
		{"sawtooth-http1", whole(), 2*23 + 2, 0},
		{"sawtooth-h2", dense(), 2*221 + 2, 0},
		{"load-http1", whole(), 2*23 + 2, 3 * 2 * 23},
		{"load-h2", dense(), 2*221 + 2, 0},       // one load has no interval
		{"speedup", whole(), 2*23 + 2, 3*46 + 1}, // the line at zero is as wide
		{"sawtooth-http1", hollow, 2*23 - 3 + 2, 0},
		{"load-http1", hollow, 2*23 - 3 + 2, 3 * (2*23 - 3)},
		{"load-h2", hollow, 2*23 + 2, 3 * 2 * 23},
		{"speedup", hollow, 2*23 - 3 + 2, 3*(2*23-3) + 1},
		{"vice", viceResult(), 3*4 + 2, 0},
	} {
		svg := written(t, drawn(t, test.chart, test.a, curves), SVG)
		if got := markers(svg); got != test.markers {
			t.Errorf("%s of %s: %d markers, want %d", test.chart, test.a.Scenario, got, test.markers)
		}
		if got := strings.Count(string(svg), wide); got != test.bars {
			t.Errorf("%s of %s: %d strokes of intervals, want %d", test.chart, test.a.Scenario, got, test.bars)
		}
	}
}

// The model's line has a corner for each of its values, so that the teeth stay as steep as it makes them.
func TestModelLine(t *testing.T) {
	curves := curvesOf([]string{"h2"}, 23)
	svg := written(t, drawn(t, "sawtooth-h2", dense(), curves), SVG)
	longest := 0
	for path := range strings.SplitSeq(string(svg), "<path") {
		longest = max(longest, strings.Count(path, "L"))
	}
	if want := len(curves[0].Delay) - 1; longest != want {
		t.Errorf("the longest line has %d strokes, want %d", longest, want)
	}
	bare := drawn(t, "sawtooth-h2", dense(), nil)
	if bare.Caption != "Markers: measured." {
		t.Errorf("without a model's line the caption speaks of one: %s", bare.Caption)
	}
}

func TestTexts(t *testing.T) {
	a := whole()
	a.Health.Healthy = false
	c := drawn(t, "speedup", a, nil)
	svg := string(written(t, c, SVG))
	for _, want := range []string{
		">Speed-up of continuous over traditional polling<", ">sawtooth · 10 panels · 7 loads per point<", ">HTTP/1.1<", ">HTTP/2 (h2)<",
		// The means of the published arithmetic, with a millisecond or two of noise.
		">mean 11.6 %<", ">mean 11.5 %<", ">query delay (s)<", ">The machine did not keep up during this run: the figures are doubtful.<",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(svg, svgFont) || !strings.Contains(svg, svgFonts) {
		t.Error("the SVG names a font that most machines lack, and no other")
	}
	a.Cells[0].Finished = 5
	if got, want := drawn(t, "load-http1", a, nil).Subtitle, "sawtooth · HTTP/1.1 · 10 panels · 5 to 7 loads per point"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSameBytes(t *testing.T) {
	draw := func() []Chart {
		a := sweep("short", []float64{1, 2, 6}, both, 7)
		for i := range a.Cells {
			a.Cells[i].Bystanders = viceResult().Cells[0].Bystanders
		}
		charts, err := Charts(a, analysis.Pictures{Curves: curvesOf(both, 23), Waterfalls: []analysis.Waterfall{viceFall()}})
		if err != nil {
			t.Fatal(err)
		}
		return charts
	}
	again := draw()
	for i, c := range draw() {
		first := written(t, c, SVG)
		if !bytes.Equal(first, written(t, c, SVG)) || !bytes.Equal(first, written(t, again[i], SVG)) {
			t.Errorf("%s: the same data gave other bytes", c.Name)
		}
	}
	c := drawn(t, "vice", viceResult(), nil)
	// Few pixels do to see whether two pictures agree; many take long under the race detector.
	var first, second bytes.Buffer
	if err := errors.Join(encode(&first, c, 72), encode(&second, c, 72)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("PNG: the same data gave other bytes")
	}
	img, err := png.DecodeConfig(bytes.NewReader(written(t, c, PNG)))
	if err != nil {
		t.Fatal(err)
	}
	if img.Width != 1600 {
		t.Errorf("%d pixels wide", img.Width)
	}
}

// Nothing is drawn near the edge of any chart, where it would be cut, however long the names are.
func TestEdges(t *testing.T) {
	long := viceResult()
	long.Scenario = strings.Repeat("long", 60)
	long.Cells[0].Groups[0].Name = strings.Repeat("wide", 30)
	ours := whole()
	own := strings.Repeat("our own strategy ", 20)
	for i := range ours.Cells {
		if c := &ours.Cells[i]; c.Strategy == "continuous" {
			c.Strategy = own
		}
	}
	for i := range ours.Comparisons {
		ours.Comparisons[i].Other = own
	}
	named, err := Charts(ours, analysis.Pictures{Waterfalls: []analysis.Waterfall{fallOf(own, "h2", 6, 10)}})
	if err != nil {
		t.Fatal(err)
	}
	charts := append(named,
		drawn(t, "sawtooth-http1", whole(), curvesOf(both, 23)), drawn(t, "load-http1", whole(), nil), drawn(t, "speedup", whole(), nil),
		drawn(t, "vice", long, nil), drawn(t, "waterfall-continuous-http1", viceResult(), nil, viceFall()),
	)
	for kind, p := range played() {
		p.Waterfalls = nil
		more, err := Charts(p.Analysis, p.Pictures)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		charts = append(charts, more...)
	}
	for _, c := range charts {
		img := raster(c, 72).Image() // a pixel a point
		const edge = int(margin / 2)
		if p, ok := inked(img, edge); ok {
			t.Errorf("%s: something is drawn at %v, at the edge of %v", c.Name, p, img.Bounds())
		}
	}
}

// inked finds a pixel within a distance of the edge that is not paper.
func inked(img image.Image, edge int) (image.Point, bool) {
	b := img.Bounds()
	inner := b.Inset(edge)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			p := image.Pt(x, y)
			if p.In(inner) {
				x = inner.Max.X - 1
				continue
			}
			if color.RGBAModel.Convert(img.At(x, y)) != paper {
				return p, true
			}
		}
	}
	return image.Point{}, false
}

func TestWriteErrors(t *testing.T) {
	c := drawn(t, "vice", viceResult(), nil)
	var b bytes.Buffer
	err := Write(&b, c, "gif")
	if want := `draw chart vice: unknown format "gif": use svg or png`; err == nil || err.Error() != want || b.Len() != 0 {
		t.Errorf("got %v and %d bytes, want %s", err, b.Len(), want)
	}
	if err := Write(full{}, c, SVG); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write chart vice: ") {
		t.Errorf("a writer's error came out as %v", err)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
