package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// mixed lists the loads of a hop over drawn dashboards, in the order of the strategies.
func (r result) mixed(h hop) []analysis.Loads {
	var all []analysis.Loads
	for _, s := range r.strategies {
		for _, l := range r.pictures.Loads {
			if l.Strategy == s && h.of(l.Protocol, l.Topology) && len(l.Load) > 0 {
				all = append(all, l)
			}
		}
	}
	return all
}

// mix shows how load times, and the time beyond the ideal, are distributed over drawn dashboards, and what a strategy gains over all of them.
func mix(r result, h hop) (Chart, error) {
	loads := r.mixed(h)
	ch := Chart{
		Name:     h.stem("mix"),
		Title:    "Load times over a mix of dashboards",
		Subtitle: r.subtitle(h.label(), r.of(h), "strategy, each of another dashboard"),
		Caption: "Cumulative distributions, one step a dashboard. Gain: 1 − the sum of load times / the base's, over the dashboards that both have loaded, " +
			"with its 95 % confidence interval where that is known. Beyond the ideal: load time less the dashboard's slowest query",
		height: bodyHeight,
	}
	if r.tabs() > 0 {
		ch.Caption += ", from the start of the last tab"
	}
	ch.Caption += "."
	left, right := newPlot("", "share of dashboards (%)"), newPlot("", "")
	left.X.Scale, left.X.Tick.Marker = plot.LogScale{}, decades{}
	for _, p := range []*plot.Plot{left, right} {
		p.Add(grid())
	}
	least, most := math.Inf(1), 0.0
	for i, l := range loads {
		least, most = min(least, l.Load[0]), max(most, l.Load[len(l.Load)-1])
		line := r.look(l.Strategy).line(0)
		// Each is thinner than the one before, so that both show where they coincide.
		line.Width = max(0.9, 3-0.9*vg.Length(i))
		if err := addLine(left, staircase(l.Load), line); err != nil {
			return Chart{}, err
		}
		if err := addLine(right, staircase(l.Overhead), line); err != nil {
			return Chart{}, err
		}
		ch.legend = append(ch.legend, entry{shorten(sans(9), l.Strategy, mostStrategy) + r.gain(h, l.Strategy), sample{line: line}})
	}
	fit(right)
	left.Y.Min, left.Y.Max, right.Y.Min, right.Y.Max = 0, 100, 0, 100
	left.X.Min, left.X.Max = logLimits(least, most)
	ch.body = func(c draw.Canvas) { besides(c, left, right) }
	return ch, nil
}

// gain is how the legend says it; nothing for the base.
func (r result) gain(h hop, strategy string) string {
	for _, s := range r.Summary {
		if s.Other != strategy || !h.of(s.Protocol, s.Topology) || s.Mix == nil || s.Mix.Gain == nil {
			continue
		}
		gain := fmt.Sprintf(": gain %s %%", tenths(*s.Mix.Gain*100))
		if s.Mix.Lo != nil && s.Mix.Hi != nil {
			gain += fmt.Sprintf(" [%s, %s]", tenths(*s.Mix.Lo*100), tenths(*s.Mix.Hi*100))
		}
		return gain + " over " + shorten(sans(9), s.Base, mostStrategy)
	}
	return ""
}

const mostStrategy vg.Length = 80 // width of a name, beside a gain

// tenths writes a number without a sign if it rounds to nothing.
func tenths(v float64) string {
	if math.Abs(v) < 0.05 {
		v = 0
	}
	return decimal(v, 1)
}

// staircase is the cumulative distribution of ascending values, in %.
func staircase(values []float64) plotter.XYs {
	step := 100 / float64(len(values))
	var xy plotter.XYs
	for i, v := range values {
		xy = append(xy, plotter.XY{X: v, Y: step * float64(i)}, plotter.XY{X: v, Y: step * float64(i+1)})
	}
	return xy
}

// logLimits are the ends of a logarithmic axis: some way beyond the values, and wide enough to hold a labelled tick.
func logLimits(least, most float64) (lo, hi float64) {
	lo, hi = least/1.1, most*1.1
	if math.Ceil(math.Log10(lo)) > math.Floor(math.Log10(hi)) {
		lo, hi = math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi)))
	}
	return lo, hi
}

// besides draws two plots side by side, with labels below their axes: gonum misplaces that of a logarithmic one.
func besides(c draw.Canvas, left, right *plot.Plot) {
	for i, p := range []*plot.Plot{left, right} {
		half := c
		middle := (c.Min.X + c.Max.X) / 2
		if i == 0 {
			half.Max.X = middle - facetApart/2
		} else {
			half.Min.X = middle + facetApart/2
		}
		above := half
		above.Min.Y += axisLabel
		p.Draw(above)
		data := p.DataCanvas(above)
		label := sans(9)
		label.XAlign = text.XCenter
		c.FillText(label, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: c.Min.Y + 2}, []string{"load time (logarithmic)", "beyond the ideal (s)"}[i])
	}
}

// mixedHops lists the hops of which there are drawn dashboards.
func (r result) mixedHops() []hop {
	return slices.DeleteFunc(slices.Clone(r.hops), func(h hop) bool { return len(r.mixed(h)) == 0 })
}
