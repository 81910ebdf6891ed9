package plots

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// endLabel says at the right of a chart, outside the data, what lies at a level.
type endLabel struct {
	y          float64
	text, name string
	look       look
	across     bool    // the level is drawn as a line
	from       float64 // where the point of the level lies, to which a line leads; 0: none does, but from the edge
}

// endLabels keeps the labels of levels that nearly coincide apart.
type endLabels []endLabel

const (
	labelOff  vg.Length = 8  // from the data's edge
	labelStep vg.Length = 24 // two lines of text
	labelLine vg.Length = 11 // one, where two would leave no room for all labels
	labelMost vg.Length = 100
)

// Plot implements plot.Plotter.
func (e endLabels) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	levels := make([]vg.Length, len(e))
	for i, l := range e {
		levels[i] = y(l.y)
	}
	step := e.step()
	for i, at := range inside(spread(levels, step), step, c.Min.Y, c.Max.Y) {
		line := draw.LineStyle{Color: e[i].look.color, Width: 1}
		if e[i].across {
			// Each line's dashes fall into the gaps of the one before, so that both show where they coincide.
			line.Dashes, line.DashOffs = []vg.Length{5, 5}, vg.Length(i)*5
			c.StrokeLine2(line, c.Min.X, levels[i], c.Max.X, levels[i])
			line.Dashes, line.DashOffs = nil, 0
		}
		if e[i].from > 0 {
			const marker = 4 // hollow: nothing may cross it
			c.StrokeLine2(e[i].look.line(0.6), x(e[i].from)+marker, levels[i], c.Max.X, levels[i])
		}
		c.StrokeLine2(line, c.Max.X, levels[i], c.Max.X+labelOff-2, at)
		from := vg.Point{X: c.Max.X + labelOff, Y: at + 1}
		if step == labelStep {
			c.FillText(bold(8.5), from, e[i].text)
			c.FillText(faint(sans(8)), vg.Point{X: from.X, Y: at - 9}, shorten(sans(8), e[i].name, labelMost))
			continue
		}
		from.Y = at - 3
		c.FillText(bold(8.5), from, e[i].text)
		used := bold(8.5).Width(e[i].text + " ")
		c.FillText(faint(sans(8)), vg.Point{X: from.X + used, Y: from.Y}, shorten(sans(8), e[i].name, labelMost-used))
	}
}

// step is the distance between labels.
func (e endLabels) step() vg.Length {
	const most = 8 // of two lines, on a body's height
	if len(e) > most {
		return labelLine
	}
	return labelStep
}

// GlyphBoxes implements plot.GlyphBoxer: it reserves the room at the right.
func (e endLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var wide vg.Length
	for _, l := range e {
		text, name := bold(8.5).Width(l.text), sans(8).Width(shorten(sans(8), l.name, labelMost))
		if e.step() == labelLine {
			wide = max(wide, min(labelMost, text+bold(8.5).Width(" ")+name))
		}
		wide = max(wide, text, name)
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

// inside pushes levels that are apart into a range, without bringing them closer.
func inside(levels []vg.Length, least, lo, hi vg.Length) []vg.Length {
	order := make([]int, len(levels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(levels[a], levels[b]) })
	out := slices.Clone(levels)
	for i := len(order) - 1; i >= 0; i-- {
		out[order[i]] = min(out[order[i]], hi)
		hi = out[order[i]] - least
	}
	for _, i := range order {
		out[i] = max(out[i], lo)
		lo = out[i] + least
	}
	return out
}
