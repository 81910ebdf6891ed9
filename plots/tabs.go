package plots

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// tabbed lists the cells of a hop's longest delay, if they are of several tabs.
func (r result) tabbed(h hop) []analysis.Cell {
	var cells []analysis.Cell
	for _, c := range r.of(h) {
		switch {
		case len(c.Tabs) < 2 || len(cells) > 0 && c.Delay < cells[0].Delay:
		case len(cells) > 0 && c.Delay == cells[0].Delay:
			cells = append(cells, c)
		default:
			cells = []analysis.Cell{c}
		}
	}
	return cells
}

// tabs shows each tab's own load time, in the order in which they were opened: on HTTP/1.1 the last ones find every connection taken.
func tabs(r result, h hop) (Chart, error) {
	cells := r.tabbed(h)
	last := len(cells[0].Tabs)
	p := newPlot("tab, in the order of opening", "load time from the tab's own start, median (s)")
	p.X.Tick.Marker = tabTicks(last)
	g := grid()
	g.Vertical.Width = 0
	p.Add(g)
	ch := Chart{
		Name:     h.stem("tabs"),
		Title:    fmt.Sprintf("What the last of %d tabs waits for", last),
		Subtitle: r.subtitle(h.label()+" · "+queryDelay(cells[0]), cells, "strategy"),
		Caption:  "Markers: measured, strategies side by side; lines only join them. Figures: the last tab's.",
		height:   bodyHeight,
		body:     p.Draw,
	}
	ideal := draw.LineStyle{Color: ink, Width: 0.7, Dashes: []vg.Length{4, 2.5}}
	if err := addLine(p, xys([]point{{x: 0.5, y: cells[0].Delay}, {x: float64(last) + 0.5, y: cells[0].Delay}}), ideal); err != nil {
		return Chart{}, err
	}
	var labels endLabels
	barred, hidden := false, false
	for i, s := range r.strategies {
		pts := tabPoints(cells, s)
		hidden = hidden || len(pts) < last
		if len(pts) == 0 {
			continue
		}
		l := r.look(s)
		ended := pts[len(pts)-1].x == float64(last)
		for j := range pts {
			pts[j].x += (float64(i) - float64(len(r.strategies)-1)/2) * 0.6 / float64(max(len(r.strategies), 4))
		}
		if at := pts[len(pts)-1]; ended {
			labels = append(labels, endLabel{y: at.y, from: at.x, text: seconds(at.y), name: s, look: l})
		}
		some, err := addSeries(p, pts, l)
		if err != nil {
			return Chart{}, err
		}
		barred = barred || some
		ch.legend = append(ch.legend, entry{s, sample{glyph: l.glyph(2.8), line: l.line(0.6)}})
	}
	p.Add(labels)
	name := "ideal: the query delay itself"
	if cells[0].Drawn() {
		name = "ideal: the longest query, at the median"
	}
	ch.legend = append(ch.legend, entry{name, sample{line: ideal}})
	if barred {
		ch.Caption += " Bars: 95 % confidence interval; where none shows, it is smaller than the marker."
	}
	if hidden {
		ch.Caption += " Tabs that were hidden before they had loaded have no marker."
	}
	fit(p)
	p.X.Min, p.X.Max = 0.5, float64(last)+0.5
	return ch, nil
}

func tabPoints(cells []analysis.Cell, strategy string) []point {
	i := slices.IndexFunc(cells, func(c analysis.Cell) bool { return c.Strategy == strategy })
	if i < 0 {
		return nil
	}
	var pts []point
	for _, t := range cells[i].Tabs {
		if t.Load.Median != nil {
			pts = append(pts, point{float64(t.Tab), *t.Load.Median, t.Load.Lo, t.Load.Hi})
		}
	}
	return pts
}

// addSeries draws points, joined, with their intervals, and reports whether any has one.
func addSeries(p *plot.Plot, pts []point, l look) (barred bool, err error) {
	if err := addLine(p, xys(pts), l.line(0.6)); err != nil {
		return false, err
	}
	if barred, err = addIntervals(p, pts, l); err != nil {
		return false, err
	}
	return barred, addMarkers(p, pts, l)
}

// tabTicks marks an axis at the whole numbers from 1, as many as there is room for.
func tabTicks(last int) plot.ConstantTicks {
	const most = 24
	every := (last + most - 1) / most
	var ticks plot.ConstantTicks
	for i := 1; i <= last; i += every {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(i)})
	}
	return ticks
}
