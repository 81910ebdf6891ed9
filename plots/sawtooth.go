package plots

import (
	"slices"

	"gonum.org/v1/plot/plotter"

	"pollbench/bench/analysis"
)

// sawtooth shows wasted time against query delay for one hop: measured points over the model's line.
func sawtooth(r result, h hop) (Chart, error) {
	cells := r.of(h)
	p := newPlot("query delay (s)", "wasted time, mean per search (s)")
	p.Add(grid())
	ch := Chart{
		Name:     h.stem("sawtooth"),
		Title:    "Wasted time against query delay",
		Subtitle: r.subtitle(h.label(), cells, "point"),
		Caption:  "Markers: measured.",
		height:   bodyHeight,
		body:     p.Draw,
	}
	modelled := false
	for _, s := range r.strategies {
		line := r.curve(s, h)
		if len(line) == 0 || len(wasted(cells, s)) == 0 {
			continue
		}
		modelled = true
		if err := addLine(p, line, r.look(s).line(0.9)); err != nil {
			return Chart{}, err
		}
	}
	// Markers come after all lines: no strategy's line may hide another's points.
	for _, s := range r.strategies {
		pts := wasted(cells, s)
		if len(pts) == 0 {
			continue
		}
		l := r.look(s)
		if err := addMarkers(p, pts, l); err != nil {
			return Chart{}, err
		}
		mark := sample{glyph: l.glyph(2.8)}
		if len(r.curve(s, h)) > 0 {
			mark.line = l.line(0.9)
		}
		ch.legend = append(ch.legend, entry{s, mark})
	}
	if modelled {
		ch.Caption = "Markers: measured. Lines: what the model expects without any latency."
		if r.info(h).RTT > 0 {
			ch.Caption = "Markers: measured. Lines: what the model expects without any latency but the network's."
		}
	}
	fit(p)
	return ch, nil
}

// wasted lists a strategy's mean wasted time at each delay.
func wasted(cells []analysis.Cell, strategy string) []point {
	return points(cells, strategy, func(c analysis.Cell) (y float64, lo, hi *float64) { return *c.Wasted.Mean, nil, nil })
}

// curve is the model's line of a strategy on a hop.
func (r result) curve(strategy string, h hop) plotter.XYs {
	i := slices.IndexFunc(r.pictures.Curves, func(c analysis.Curve) bool { return c.Strategy == strategy && h.of(c.Protocol, c.Topology) })
	if i < 0 {
		return nil
	}
	c := r.pictures.Curves[i]
	xy := make(plotter.XYs, min(len(c.Delay), len(c.Wasted)))
	for i := range xy {
		xy[i] = plotter.XY{X: c.Delay[i], Y: c.Wasted[i]}
	}
	return xy
}
