package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rowChart sets strategies side by side: a row for each thing that is looked at, a facet for each way to look, and in both a mark for each strategy.
type rowChart struct {
	strategies []string
	look       func(strategy string) look
	rows       []rowName
	facets     []facet
	axis       string    // what all facets measure
	names      vg.Length // room for the rows' names, at the left
	room       vg.Length // for a value's label, at the right of a facet
}

type rowName struct{ name, detail string }

// facet is one view of all rows, on an axis of its own.
type facet struct {
	title  string
	lo, hi float64
	log    bool
	bars   bool      // values are amounts, and no points
	own    []float64 // by row: what cannot be beaten, drawn as a tick; 0 where there is nothing of the kind
	marks  []mark
}

// mark is a strategy's value in a row.
type mark struct {
	row      int
	strategy string
	point    // x is unused: the value is y, as everywhere
	label    string
	strong   bool    // drawn so, from the value that it falls short of
	from     float64 // that value; 0: the axis
	note     string  // behind the label
}

const (
	markHeight vg.Length = 15 // of a strategy's line within a row
	rowPad     vg.Length = 12
	facetTitle vg.Length = 18
	facetAxis  vg.Length = 18
	axisLabel  vg.Length = 16
	rowNames   vg.Length = 96
	facetApart vg.Length = 16
	labelRoom  vg.Length = 40
)

// height of the body.
func (rc rowChart) height() vg.Length {
	one := facetTitle + facetAxis + vg.Length(len(rc.rows))*(vg.Length(len(rc.strategies))*markHeight+rowPad)
	tiles := vg.Length(rc.tiles().Rows)
	return tiles*one + (tiles-1)*facetApart + axisLabel
}

// tiles puts the facets side by side, two in a row.
func (rc rowChart) tiles() draw.Tiles {
	cols := min(2, len(rc.facets))
	return draw.Tiles{Cols: cols, Rows: (len(rc.facets) + cols - 1) / cols, PadX: facetApart, PadY: facetApart}
}

// draw draws the facets, with the rows' names before each first one.
func (rc rowChart) draw(c draw.Canvas) {
	// gonum misplaces the label of a logarithmic axis, and one for all facets is enough.
	label := sans(9)
	label.XAlign = draw.XCenter
	c.FillText(label, vg.Point{X: (c.Min.X + rc.names + c.Max.X) / 2, Y: c.Min.Y + 2}, rc.axis)
	right := draw.Crop(c, rc.names, 0, axisLabel, 0)
	tiles := rc.tiles()
	for i, f := range rc.facets {
		p := rc.plot(f)
		at := tiles.At(right, i%tiles.Cols, i/tiles.Cols)
		p.Draw(at)
		if i%tiles.Cols > 0 {
			continue
		}
		data := p.DataCanvas(at)
		for j, row := range rc.rows {
			name, detail := bold(9.5), faint(sans(8.5))
			most := rc.names - 6
			y := data.Y(p.Y.Norm(rc.middle(j)))
			c.FillText(name, vg.Point{X: c.Min.X, Y: y + 2}, shorten(name, row.name, most))
			c.FillText(detail, vg.Point{X: c.Min.X, Y: y - 10}, shorten(detail, row.detail, most))
		}
	}
}

// middle is where a row lies on the vertical axis: the first is on top.
func (rc rowChart) middle(row int) float64 { return float64(len(rc.rows)-row) - 0.5 }

func (rc rowChart) plot(f facet) *plot.Plot {
	p := newPlot("", "")
	p.Title.Text = f.title
	p.Title.Padding = 5
	restyle(&p.Title.TextStyle, bold(9.5))
	p.X.Min, p.X.Max = f.lo, f.hi
	if f.log {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	}
	p.X.Padding = 0
	p.HideY()
	p.Y.Padding = 0
	p.Y.Min, p.Y.Max = 0, float64(len(rc.rows))
	p.Add(facetPlot{rc, f})
	return p
}

// facetPlot draws the marks of one facet.
type facetPlot struct {
	rowChart
	facet
}

// GlyphBoxes implements plot.GlyphBoxer: every facet keeps the same room for labels, so that their axes agree.
func (f facetPlot) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: f.room, Y: 1}}}}
}

// Plot implements plot.Plotter.
func (f facetPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	edge := c.Max.X + f.room
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
	for i := range f.rows {
		if i < len(f.own) && f.own[i] > 0 {
			c.StrokeLine2(draw.LineStyle{Color: rule, Width: 1.5}, x(f.own[i]), y(f.middle(i)-0.42), x(f.own[i]), y(f.middle(i)+0.42))
		}
		for _, m := range f.marks {
			if m.row == i {
				f.mark(c, m, x, y(f.middle(i)))
			}
		}
	}
}

// mark draws one value: a bar, or a stem from the axis for the eye, interval and marker; and its label.
func (f facetPlot) mark(c draw.Canvas, m mark, x func(float64) vg.Length, middle vg.Length) {
	l := f.look(m.strategy)
	place := float64(slices.Index(f.strategies, m.strategy)) - float64(len(f.strategies)-1)/2
	at := vg.Point{X: x(m.y), Y: middle - vg.Length(place)*markHeight}
	style := sans(8.5)
	style.YAlign = capCenter
	if m.strong {
		style.Font = bold(8.5).Font
	}
	end := at.X
	if f.bars {
		const half = markHeight/2 - 2
		c.SetColor(l.fill())
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: at.Y - half}, Max: vg.Point{X: at.X, Y: at.Y + half}}.Path())
	} else {
		end = f.dot(c, m, l, at, x)
	}
	from := vg.Point{X: max(end, at.X+3) + 4, Y: at.Y}
	c.FillText(style, from, m.label)
	if m.note != "" {
		from.X += style.Width(m.label + " ")
		note := bold(8.5)
		note.YAlign, note.Color = capCenter, vermillion
		c.FillText(note, from, m.note)
	}
}

// dot draws stem, interval and marker, and returns where the interval ends.
func (f facetPlot) dot(c draw.Canvas, m mark, l look, at vg.Point, x func(float64) vg.Length) vg.Length {
	c.StrokeLine2(draw.LineStyle{Color: pale(l.color, 0.5), Width: 2}, c.Min.X, at.Y, at.X, at.Y)
	if m.strong {
		from := c.Min.X
		if m.from > 0 {
			from = x(m.from)
		}
		c.StrokeLine2(draw.LineStyle{Color: l.color, Width: 3.5}, from, at.Y, at.X, at.Y)
	}
	end := at.X
	if m.lo != nil {
		bar := draw.LineStyle{Color: l.color, Width: 1}
		lo, hi := x(*m.lo), x(*m.hi)
		c.StrokeLine2(bar, lo, at.Y, hi, at.Y)
		for _, cap := range []vg.Length{lo, hi} {
			c.StrokeLine2(bar, cap, at.Y-2.5, cap, at.Y+2.5)
		}
		end = hi
	}
	c.DrawGlyph(l.glyph(3), at)
	return end
}

// legend names the strategies, as the chart marks them.
func (rc rowChart) legend() []entry {
	var entries []entry
	for _, s := range rc.strategies {
		l := rc.look(s)
		m := sample{glyph: l.glyph(3), line: draw.LineStyle{Color: pale(l.color, 0.5), Width: 2}}
		if rc.facets[0].bars {
			m = sample{fill: l.fill()}
		}
		entries = append(entries, entry{s, m})
	}
	return entries
}

// widen makes a linear facet begin at zero, and hold all its marks.
func (f *facet) widen() {
	f.lo, f.hi = 0, 0
	for _, own := range f.own {
		f.hi = max(f.hi, own)
	}
	for _, m := range f.marks {
		f.hi = max(f.hi, m.y)
		if m.hi != nil {
			f.hi = max(f.hi, *m.hi)
		}
	}
	if f.hi == 0 {
		f.hi = 1
	}
}

// decade widens a logarithmic facet to whole decades below its marks and as far as needed above.
func (f *facet) decade() {
	f.lo, f.hi, f.log = math.Inf(1), 0, true
	for _, m := range f.marks {
		f.lo, f.hi = min(f.lo, m.y), max(f.hi, m.y, f.own[m.row])
		if m.lo != nil {
			f.lo, f.hi = min(f.lo, *m.lo), max(f.hi, *m.hi)
		}
	}
	f.lo = math.Pow(10, math.Floor(math.Log10(f.lo)))
	f.hi = max(f.hi, f.lo*10)
}
