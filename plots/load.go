package plots

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// load shows load time against query delay for one hop, above the ideal that no strategy can beat.
func load(r result, h hop) (Chart, error) {
	cells := r.of(h)
	p := newPlot("query delay (s)", "load time, median (s)")
	p.Add(grid())
	ch := Chart{
		Name:     h.stem("load"),
		Title:    "Load time of the dashboard against query delay",
		Subtitle: r.subtitle(h.label(), cells, "point"),
		height:   bodyHeight,
		body:     p.Draw,
	}
	ideal := draw.LineStyle{Color: ink, Width: 0.7, Dashes: []vg.Length{4, 2.5}}
	barred := false
	for _, s := range r.strategies {
		pts := loads(cells, s)
		if len(pts) == 0 {
			continue
		}
		l := r.look(s)
		if err := addLine(p, xys(pts), l.line(0.6)); err != nil {
			return Chart{}, err
		}
		some, err := addIntervals(p, pts, l)
		if err != nil {
			return Chart{}, err
		}
		barred = barred || some
		if err := addMarkers(p, pts, l); err != nil {
			return Chart{}, err
		}
		ch.legend = append(ch.legend, entry{s, sample{glyph: l.glyph(2.8), line: l.line(0.6)}})
	}
	// The ideal lies over the points, which would hide it where they reach it.
	if err := addLine(p, r.diagonal(cells), ideal); err != nil {
		return Chart{}, err
	}
	name := "ideal: the query delay itself"
	if r.tabs() > 0 {
		name = "ideal: the query delay, from the start of the last tab"
	}
	ch.legend = append(ch.legend, entry{name, sample{line: ideal}})
	ch.Caption = "Markers: measured; lines only join them. Too few loads for a confidence interval."
	if barred {
		ch.Caption = "Markers: measured; lines only join them. Bars: 95 % confidence interval; where none shows, it is smaller than the marker."
	}
	fit(p)
	return ch, nil
}

// loads lists a strategy's median load time at each delay.
func loads(cells []analysis.Cell, strategy string) []point {
	return points(cells, strategy, func(c analysis.Cell) (y float64, lo, hi *float64) { return *c.Load.Median, c.Load.Lo, c.Load.Hi })
}

// diagonal is the line on which load time is ideal: equal to the delay, later by the last tab's start.
func (r result) diagonal(cells []analysis.Cell) plotter.XYs {
	far := slices.MaxFunc(cells, func(a, b analysis.Cell) int { return cmp.Compare(a.Delay, b.Delay) })
	return plotter.XYs{{Y: r.ideal(analysis.Cell{})}, {X: far.Delay, Y: r.ideal(far)}}
}
