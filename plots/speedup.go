package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// gains are the speed-ups of one strategy on one hop, in %.
type gains struct {
	hop  hop
	base string
	pts  []point
	mean *float64
}

// contest is a strategy whose loads were compared over a topology.
type contest struct{ other, topology string }

// gainsOf reads the comparisons of whole loads; those without a figure are left out.
func gainsOf(r result, of contest) []gains {
	var all []gains
	for _, h := range r.shown() {
		if h.topology != of.topology {
			continue
		}
		g := gains{hop: h}
		for _, c := range r.Comparisons {
			if c.Group != nil || c.Other != of.other || !h.of(c.Protocol, c.Topology) || c.Speedup == nil {
				continue
			}
			g.base = c.Base
			g.pts = append(g.pts, point{c.Delay, *c.Speedup * 100, percent(c.Lo), percent(c.Hi)})
		}
		if len(g.pts) == 0 {
			continue
		}
		slices.SortStableFunc(g.pts, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		for _, s := range r.Summary {
			if s.Other == of.other && h.of(s.Protocol, s.Topology) {
				g.mean = percent(s.Mean)
			}
		}
		all = append(all, g)
	}
	return all
}

func percent(v *float64) *float64 {
	if v == nil {
		return nil
	}
	p := *v * 100
	return &p
}

// compared lists what was compared at more than one delay.
func (r result) compared() []contest {
	var all []contest
	for _, c := range r.Comparisons {
		of := contest{c.Other, c.Topology}
		if slices.Contains(all, of) {
			continue
		}
		if slices.ContainsFunc(gainsOf(r, of), func(g gains) bool { return len(g.pts) > 1 }) {
			all = append(all, of)
		}
	}
	return all
}

// speedup shows how much of the base's load time a strategy saves at each delay over a topology, one series a protocol.
func speedup(r result, of contest) (Chart, error) {
	all := gainsOf(r, of)
	base := all[0].base
	where := ""
	if all[0].hop.apart {
		where = of.topology
	}
	var cells []analysis.Cell
	for _, g := range all {
		cells = append(cells, r.of(g.hop)...)
	}
	p := newPlot("query delay (s)", "speed-up: load time saved (%)")
	p.Add(grid())
	ch := Chart{
		Name:     "speedup",
		Title:    fmt.Sprintf("Speed-up of %s over %s polling", of.other, base),
		Subtitle: r.subtitle(where, cells, "point"),
		Caption:  "Speed-up: 1 − ratio of median load times; protocols side by side. Dashed: mean over the delays.",
		height:   bodyHeight,
		body:     p.Draw,
	}
	if of.other != "continuous" {
		ch.Name += "-" + of.other
	}
	ch.Name += behind(of.topology)
	p.Add(zero{}, meansOf(all))
	apart := dodge(all)
	barred := false
	for i, g := range all {
		l := hopLook(g.hop)
		pts := slices.Clone(g.pts)
		for j := range pts {
			pts[j].x += (float64(i) - float64(len(all)-1)/2) * apart
		}
		some, err := addIntervals(p, pts, l)
		if err != nil {
			return Chart{}, err
		}
		barred = barred || some
		if err := addMarkers(p, pts, l); err != nil {
			return Chart{}, err
		}
		ch.legend = append(ch.legend, entry{protocolName(g.hop.protocol), sample{glyph: l.glyph(2.8)}})
	}
	if barred {
		ch.Caption += " Bars: 95 % confidence interval."
	}
	fit(p)
	p.X.Max += 2 * apart // clear of the labels
	return ch, nil
}

// dodge is how far apart the series stand at one delay: a quarter of the way to the next.
func dodge(all []gains) float64 {
	least := 0.0
	for _, g := range all {
		for i := 1; i < len(g.pts); i++ {
			if d := g.pts[i].x - g.pts[i-1].x; d > 0 && (least == 0 || d < least) {
				least = d
			}
		}
	}
	return least / 4
}

// zero is the line between gain and loss.
type zero struct{}

// Plot implements plot.Plotter.
func (zero) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8}, c.Min.X, y(0), c.Max.X, y(0))
}

// DataRange implements plot.DataRanger: the line is always in sight.
func (zero) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, 0, 0, 0 }

// meansOf are the means over the delays, as lines across the chart.
func meansOf(all []gains) endLabels {
	var m endLabels
	for _, g := range all {
		if g.mean != nil {
			m = append(m, endLabel{y: *g.mean, text: "mean " + decimal(*g.mean, 1) + " %", name: protocolName(g.hop.protocol), look: hopLook(g.hop), across: true})
		}
	}
	return m
}
