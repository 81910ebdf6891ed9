package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// gains are the speed-ups of one strategy on one hop, in %.
type gains struct {
	hop  hop
	base string
	pts  []point
	mean *float64
}

// gainsOf reads the comparisons of whole loads; those without a figure are left out.
func gainsOf(r result, other string) []gains {
	var all []gains
	for _, h := range r.hops {
		g := gains{hop: h}
		for _, c := range r.Comparisons {
			if c.Group != nil || c.Other != other || !h.of(c.Protocol, c.Topology) || c.Speedup == nil {
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
			if s.Other == other && h.of(s.Protocol, s.Topology) {
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

// compared lists the strategies whose loads were compared at more than one delay.
func (r result) compared() []string {
	var names []string
	for _, c := range r.Comparisons {
		if slices.Contains(names, c.Other) {
			continue
		}
		if slices.ContainsFunc(gainsOf(r, c.Other), func(g gains) bool { return len(g.pts) > 1 }) {
			names = append(names, c.Other)
		}
	}
	return names
}

// speedup shows how much of the base's load time a strategy saves at each delay, one series a protocol.
func speedup(r result, other string) (Chart, error) {
	all := gainsOf(r, other)
	base := all[0].base
	p := newPlot("query delay (s)", "speed-up: load time saved (%)")
	p.Add(grid())
	ch := Chart{
		Name:     "speedup",
		Title:    fmt.Sprintf("Speed-up of %s over %s polling", other, base),
		Subtitle: r.subtitle(hop{}, r.cells, "point"),
		Caption:  "Speed-up: 1 − ratio of median load times; protocols side by side. Dashed: mean over the delays.",
		height:   bodyHeight,
		body:     p.Draw,
	}
	if other != "continuous" {
		ch.Name += "-" + other
	}
	p.Add(zero{}, meansOf(all))
	apart := dodge(all)
	barred := false
	for i, g := range all {
		l := hopLook(g.hop, i)
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
		ch.legend = append(ch.legend, entry{g.hop.label(), sample{glyph: l.glyph(2.8)}})
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

// meanLine is a level with its label at the right, outside the data.
type meanLine struct {
	y          float64
	text, name string
	look       look
}

// meanLines keeps the labels of levels that nearly coincide apart.
type meanLines []meanLine

func meansOf(all []gains) meanLines {
	var m meanLines
	for i, g := range all {
		if g.mean != nil {
			m = append(m, meanLine{*g.mean, "mean " + decimal(*g.mean, 1) + " %", g.hop.label(), hopLook(g.hop, i)})
		}
	}
	return m
}

const (
	labelOff  vg.Length = 8  // from the data's edge
	labelStep vg.Length = 24 // two lines of text
)

// Plot implements plot.Plotter.
func (m meanLines) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	levels := make([]vg.Length, len(m))
	for i, l := range m {
		levels[i] = y(l.y)
	}
	for i, at := range spread(levels, labelStep) {
		// Each line's dashes fall into the gaps of the one before, so that both show where they coincide.
		line := draw.LineStyle{Color: m[i].look.color, Width: 1, Dashes: []vg.Length{5, 5}, DashOffs: vg.Length(i) * 5}
		c.StrokeLine2(line, c.Min.X, levels[i], c.Max.X, levels[i])
		line.Dashes, line.DashOffs = nil, 0
		c.StrokeLine2(line, c.Max.X, levels[i], c.Max.X+labelOff-2, at)
		c.FillText(bold(8.5), vg.Point{X: c.Max.X + labelOff, Y: at + 1}, m[i].text)
		c.FillText(faint(sans(8)), vg.Point{X: c.Max.X + labelOff, Y: at - 9}, m[i].name)
	}
}

// GlyphBoxes implements plot.GlyphBoxer: it reserves the room at the right.
func (m meanLines) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var wide vg.Length
	for _, l := range m {
		wide = max(wide, bold(8.5).Width(l.text), sans(8).Width(l.name))
	}
	if wide == 0 {
		return nil
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: wide + labelOff + 2, Y: 1}}}}
}

// spread moves levels apart until no two are closer than a distance, each group about its own middle, keeping their order.
func spread(levels []vg.Length, least vg.Length) []vg.Length {
	order := make([]int, len(levels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(levels[a], levels[b]) })
	// A block is a run of labels that touch; it is centred on the mean of their levels.
	type block struct {
		first, n int
		sum      vg.Length
	}
	low := func(b block) vg.Length { return b.sum/vg.Length(b.n) - least*vg.Length(b.n-1)/2 }
	var blocks []block
	for i, o := range order {
		b := block{i, 1, levels[o]}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if low(last)+least*vg.Length(last.n) <= low(b) {
				break
			}
			b = block{last.first, last.n + b.n, last.sum + b.sum}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	out := make([]vg.Length, len(levels))
	for _, b := range blocks {
		for i := range b.n {
			out[order[b.first+i]] = low(b) + least*vg.Length(i)
		}
	}
	return out
}
