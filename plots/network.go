package plots

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// span is the hops of one protocol and topology that differ by their networks.
type span struct {
	first hop // names it
	hops  []hop
}

// spans groups the hops that keep a condition.
func (r result) spans(hops []hop, keep func(analysis.Hop) bool) []span {
	var all []span
	for _, h := range hops {
		info := r.info(h)
		if !keep(info) {
			continue
		}
		i := slices.IndexFunc(all, func(s span) bool { return s.first.of(info.Protocol, info.Kind) })
		if i < 0 {
			i = len(all)
			all = append(all, span{first: hop{info.Protocol, info.Kind, info.Kind != direct}})
		}
		all[i].hops = append(all[i].hops, h)
	}
	return all
}

// byRTT lists the spans whose networks have different round trips and differ by nothing else.
func (r result) byRTT() []span {
	return slices.DeleteFunc(r.spans(r.hops, func(h analysis.Hop) bool { return h.OnlyRTT }), func(s span) bool {
		return !slices.ContainsFunc(s.hops, func(h hop) bool { return r.info(h).RTT != r.info(s.hops[0]).RTT })
	})
}

// network shows what a longer round trip costs each strategy, and what the model makes of it.
func network(r result, s span) (Chart, error) {
	var cells []analysis.Cell
	for _, h := range s.hops {
		cells = append(cells, r.of(h)...)
	}
	p := newPlot("round trip that the network adds, browser to Elasticsearch (ms)", "wasted time, mean per search (s)")
	p.Add(grid())
	ch := Chart{
		Name:     s.first.stem("network"),
		Title:    "Wasted time against the network's round trip",
		Subtitle: r.subtitle(s.first.label(), cells, "point"),
		Caption:  "Markers: measured; lines only join them.",
		height:   bodyHeight,
		body:     p.Draw,
	}
	if slices.ContainsFunc(cells, func(c analysis.Cell) bool { return c.Delay != cells[0].Delay }) {
		ch.Caption += " Means over all query delays."
	}
	modelled := false
	for _, name := range r.strategies {
		pts, expected := r.rttPoints(s, name)
		if len(pts) == 0 {
			continue
		}
		l := r.look(name)
		if err := addLine(p, xys(pts), l.line(0.9)); err != nil {
			return Chart{}, err
		}
		if len(expected) > 0 {
			modelled = true
			p.Add(dashes{expected, l})
		}
		ch.legend = append(ch.legend, entry{name, sample{glyph: l.glyph(2.8), line: l.line(0.9)}})
	}
	for _, name := range r.strategies {
		if pts, _ := r.rttPoints(s, name); len(pts) > 0 {
			if err := addMarkers(p, pts, r.look(name)); err != nil {
				return Chart{}, err
			}
		}
	}
	if modelled {
		ch.Caption += " Dashes beside them: what the model expects at the measured round trip."
		ch.legend = append(ch.legend, entry{"the model", sample{line: draw.LineStyle{Color: ink, Width: 1.6}}})
	}
	fit(p)
	return ch, nil
}

// rttPoints are a strategy's wasted times by round trip, in ms, as measured and as expected: the means over all delays.
func (r result) rttPoints(s span, strategy string) (measured, expected []point) {
	for _, h := range s.hops {
		var sum, want float64
		var n, known int
		for _, c := range r.of(h) {
			if c.Strategy != strategy {
				continue
			}
			n++
			sum += *c.Wasted.Mean
			if m := c.Model.WastedRTT.Mean; m != nil {
				known++
				want += *m
			}
		}
		if n == 0 {
			continue
		}
		x := r.info(h).RTT * 1000
		measured = append(measured, point{x: x, y: sum / float64(n)})
		if known == n { // else it would be of other delays
			expected = append(expected, point{x: x, y: want / float64(n)})
		}
	}
	byX := func(a, b point) int { return cmp.Compare(a.x, b.x) }
	slices.SortStableFunc(measured, byX)
	slices.SortStableFunc(expected, byX)
	return measured, expected
}

// dashes are values beside markers: wide enough to look out from behind them.
type dashes struct {
	pts  []point
	look look
}

const dash vg.Length = 8 // half of one, where neighbours leave room

// Plot implements plot.Plotter.
func (d dashes) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := dash
	for i := 1; i < len(d.pts); i++ {
		if gap := x(d.pts[i].x) - x(d.pts[i-1].x); gap > 0 {
			half = max(5, min(half, gap*0.45))
		}
	}
	for _, pt := range d.pts {
		c.StrokeLine2(draw.LineStyle{Color: d.look.color, Width: 1.6}, x(pt.x)-half, y(pt.y), x(pt.x)+half, y(pt.y))
	}
}

// DataRange implements plot.DataRanger.
func (d dashes) DataRange() (xmin, xmax, ymin, ymax float64) {
	ymin, ymax = d.pts[0].y, d.pts[0].y
	for _, pt := range d.pts {
		ymin, ymax = min(ymin, pt.y), max(ymax, pt.y)
	}
	return d.pts[0].x, d.pts[len(d.pts)-1].x, ymin, ymax
}

// GlyphBoxes implements plot.GlyphBoxer: a dash at an end of the axis stays clear of what is there.
func (d dashes) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{
		{X: 0, Y: 0.5, Rectangle: vg.Rectangle{Min: vg.Point{X: -dash - 1}, Max: vg.Point{Y: 1}}},
		{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: dash + 1, Y: 1}}},
	}
}
