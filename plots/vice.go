package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// viceView compares groups: a row for each group of panels and for the bystanders, a facet for each hop, a mark for each strategy.
type viceView struct {
	delay      float64
	cells      []analysis.Cell
	hops       []hop
	strategies []string
	rows       []viceRow
}

type viceRow struct {
	name, detail string
	own          float64 // what the search itself takes; 0 for bystanders
	values       []viceValue
}

type viceValue struct {
	hop      hop
	strategy string
	point    // x is unused: the value is y, as everywhere
}

// heldUp is when a delay counts as being held up: people notice a second.
const heldUp = 1.0

func (r viceRow) held(v viceValue) bool { return v.y-r.own >= heldUp }

// viceOf reads the groups and bystanders of the longest delay, where a swept scenario shows most. It has no rows when there
// are not at least two to compare.
func viceOf(r result) viceView {
	v := viceView{strategies: r.strategies}
	for _, c := range r.cells {
		v.delay = max(v.delay, c.Delay)
	}
	for _, c := range r.cells {
		if c.Delay == v.delay {
			v.cells = append(v.cells, c)
		}
	}
	v.hops = slices.DeleteFunc(slices.Clone(r.hops), func(h hop) bool {
		return !slices.ContainsFunc(v.cells, func(c analysis.Cell) bool { return h.of(c.Protocol, c.Topology) })
	})
	for _, h := range v.hops {
		for _, c := range v.cells {
			if !h.of(c.Protocol, c.Topology) {
				continue
			}
			for _, g := range c.Groups {
				row := viceRow{name: g.Name, detail: count(g.Panels, "panel") + " of " + plain(g.Delay) + " s", own: g.Delay}
				v.add(row, h, c.Strategy, g.Delivered)
			}
			if c.Bystanders != nil {
				v.add(viceRow{name: bystanders, detail: "small requests"}, h, c.Strategy, c.Bystanders.Latency.Interval)
			}
		}
	}
	if len(v.rows) < 2 {
		v.rows = nil
	}
	// Every cell lists its bystanders after its groups, yet a cell that lacks a group may come first.
	slices.SortStableFunc(v.rows, func(a, b viceRow) int { return order(a) - order(b) })
	return v
}

const bystanders = "bystanders"

func order(r viceRow) int {
	if r.own == 0 {
		return 1
	}
	return 0
}

// add puts a value into its row. What is missing or zero has no place on a logarithmic axis.
func (v *viceView) add(row viceRow, h hop, strategy string, of analysis.Interval) {
	if of.Median == nil || *of.Median <= 0 {
		return
	}
	val := viceValue{h, strategy, point{y: *of.Median}}
	if of.Lo != nil && of.Hi != nil && *of.Lo > 0 {
		val.lo, val.hi = of.Lo, of.Hi
	}
	i := slices.IndexFunc(v.rows, func(r viceRow) bool { return r.name == row.name && r.own == row.own })
	if i < 0 {
		i = len(v.rows)
		v.rows = append(v.rows, row)
	}
	v.rows[i].values = append(v.rows[i].values, val)
}

// limits is the span of all values in whole decades below and as far as needed above.
func (v viceView) limits() (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, r := range v.rows {
		for _, x := range r.values {
			lo, hi = min(lo, x.y), max(hi, x.y, r.own)
			if x.lo != nil {
				lo, hi = min(lo, *x.lo), max(hi, *x.hi)
			}
		}
	}
	lo = math.Pow(10, math.Floor(math.Log10(lo)))
	return lo, max(hi, lo*10)
}

const (
	viceMark  vg.Length = 15 // height of a strategy's line within a row
	vicePad   vg.Length = 12 // of a row
	viceTitle vg.Length = 18 // of a facet
	viceAxis  vg.Length = 18
	viceLabel vg.Length = 16 // of the axis
	viceNames vg.Length = 96 // the rows' names, at the left
	viceApart vg.Length = 16 // between facets
	viceRoom  vg.Length = 40 // a value's label, at the right
)

// vice shows who waits for whom: fast panels and bystanders behind slow panels, under each strategy and protocol.
func vice(r result, v viceView) Chart {
	ch := Chart{
		Name:     "vice",
		Title:    "The vice and the virtue: who waits behind slow panels",
		Subtitle: r.subtitle(hop{}, v.cells, "strategy and protocol"),
		Caption: "Markers: median; bars: its 95 % confidence interval, where it is wider than the marker. Grey tick: what the search itself takes. " +
			"Strong line, bold figure: held up for a second or more.",
	}
	for _, s := range v.strategies {
		l := lookOf(s, v.strategies)
		ch.legend = append(ch.legend, entry{s, sample{glyph: l.glyph(3), line: draw.LineStyle{Color: pale(l.color, 0.5), Width: 2}}})
	}
	facet := viceTitle + viceAxis + vg.Length(len(v.rows))*(vg.Length(len(v.strategies))*viceMark+vicePad)
	tiles := vg.Length(v.tiles().Rows)
	ch.height = tiles*facet + (tiles-1)*viceApart + viceLabel
	ch.body = v.draw
	return ch
}

// tiles puts the facets side by side, two in a row.
func (v viceView) tiles() draw.Tiles {
	cols := min(2, len(v.hops))
	return draw.Tiles{Cols: cols, Rows: (len(v.hops) + cols - 1) / cols, PadX: viceApart, PadY: viceApart}
}

// draw draws the facets, all on the same axes, with the rows' names before each first one.
func (v viceView) draw(c draw.Canvas) {
	// gonum misplaces the label of a logarithmic axis, and one for all facets is enough.
	label := sans(9)
	label.XAlign = draw.XCenter
	c.FillText(label, vg.Point{X: (c.Min.X + viceNames + c.Max.X) / 2, Y: c.Min.Y + 2}, "time from intended start to delivery (logarithmic)")
	right := draw.Crop(c, viceNames, 0, viceLabel, 0)
	tiles := v.tiles()
	for i, h := range v.hops {
		p := v.facet(h)
		at := tiles.At(right, i%tiles.Cols, i/tiles.Cols)
		p.Draw(at)
		if i%tiles.Cols > 0 {
			continue
		}
		data := p.DataCanvas(at)
		for j, row := range v.rows {
			name, detail := bold(9.5), faint(sans(8.5))
			most := viceNames - 6
			y := data.Y(p.Y.Norm(v.middle(j)))
			c.FillText(name, vg.Point{X: c.Min.X, Y: y + 2}, shorten(name, row.name, most))
			c.FillText(detail, vg.Point{X: c.Min.X, Y: y - 10}, shorten(detail, row.detail, most))
		}
	}
}

// middle is where a row lies on the vertical axis: the first is on top.
func (v viceView) middle(row int) float64 { return float64(len(v.rows)-row) - 0.5 }

func (v viceView) facet(h hop) *plot.Plot {
	p := newPlot("", "")
	p.Title.Text = h.label()
	p.Title.Padding = 5
	restyle(&p.Title.TextStyle, bold(9.5))
	p.X.Min, p.X.Max = v.limits()
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	p.X.Padding = 0
	p.HideY()
	p.Y.Padding = 0
	p.Y.Min, p.Y.Max = 0, float64(len(v.rows))
	p.Add(viceFacet{v, h})
	return p
}

// viceFacet draws the values of one hop.
type viceFacet struct {
	viceView
	hop hop
}

// GlyphBoxes implements plot.GlyphBoxer: every facet keeps the same room for labels, so that their axes agree.
func (f viceFacet) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: viceRoom, Y: 1}}}}
}

// Plot implements plot.Plotter.
func (f viceFacet) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	edge := c.Max.X + viceRoom
	for i := range f.rows {
		if i%2 == 0 {
			band := vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: y(f.middle(i) - 0.5)}, Max: vg.Point{X: edge, Y: y(f.middle(i) + 0.5)}}
			c.SetColor(shade)
			c.Fill(band.Path())
		}
	}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if !t.IsMinor() {
			c.StrokeLine2(draw.LineStyle{Color: light, Width: 0.5}, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
	for i, r := range f.rows {
		if r.own > 0 {
			c.StrokeLine2(draw.LineStyle{Color: rule, Width: 1.5}, x(r.own), y(f.middle(i)-0.42), x(r.own), y(f.middle(i)+0.42))
		}
		for _, v := range r.values {
			if v.hop == f.hop {
				f.mark(c, r, v, x, y(f.middle(i)))
			}
		}
	}
}

// mark draws one value: a stem from the axis for the eye, interval, marker and label.
func (f viceFacet) mark(c draw.Canvas, r viceRow, v viceValue, x func(float64) vg.Length, middle vg.Length) {
	l := lookOf(v.strategy, f.strategies)
	place := float64(slices.Index(f.strategies, v.strategy)) - float64(len(f.strategies)-1)/2
	at := vg.Point{X: x(v.y), Y: middle - vg.Length(place)*viceMark}
	stem := draw.LineStyle{Color: pale(l.color, 0.5), Width: 2}
	c.StrokeLine2(stem, c.Min.X, at.Y, at.X, at.Y)
	style := sans(8.5)
	style.YAlign = capCenter
	if r.held(v) {
		style.Font = bold(8.5).Font
		from := c.Min.X
		if r.own > 0 {
			from = x(r.own)
		}
		c.StrokeLine2(draw.LineStyle{Color: l.color, Width: 3.5}, from, at.Y, at.X, at.Y)
	}
	end := at.X
	if v.lo != nil {
		bar := draw.LineStyle{Color: l.color, Width: 1}
		lo, hi := x(*v.lo), x(*v.hi)
		c.StrokeLine2(bar, lo, at.Y, hi, at.Y)
		for _, cap := range []vg.Length{lo, hi} {
			c.StrokeLine2(bar, cap, at.Y-2.5, cap, at.Y+2.5)
		}
		end = hi
	}
	c.DrawGlyph(l.glyph(3), at)
	c.FillText(style, vg.Point{X: max(end, at.X+3) + 4, Y: at.Y}, seconds(v.y))
}
