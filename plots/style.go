package plots

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe and Ito, which people with any colour vision can tell apart. Its yellow is too faint for lines on white.
var (
	orange     = color.RGBA{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}
	sky        = color.RGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}
	green      = color.RGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}
	blue       = color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}
	vermillion = color.RGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}
	purple     = color.RGBA{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}
	black      = color.RGBA{A: 0xFF}
)

// Paper, text and lines that are not data.
var (
	paper = color.RGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xFF}
	ink   = color.RGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xFF}
	grey  = color.RGBA{R: 0x59, G: 0x59, B: 0x59, A: 0xFF} // 7:1 against white, readable when small
	rule  = color.RGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xFF}
	light = color.RGBA{R: 0xE4, G: 0xE4, B: 0xE4, A: 0xFF}
	shade = color.RGBA{R: 0xF5, G: 0xF5, B: 0xF5, A: 0xFF}
)

// look is how one series is told from the others: by colour, and by shape for those who do not see it.
type look struct {
	color color.RGBA
	shape shape
	dash  []vg.Length
}

// lookOf gives traditional and continuous the same look in every chart of every result; the others take theirs in the order
// in which the result has them. Five colours and three shapes make fifteen pairs.
func lookOf(strategy string, strategies []string) look {
	switch strategy {
	case "traditional":
		return look{color: vermillion, shape: square}
	case "continuous":
		return look{color: blue, shape: circle}
	}
	n := 0
	for _, s := range strategies {
		if s == strategy {
			break
		}
		if s != "traditional" && s != "continuous" {
			n++
		}
	}
	colors := []color.RGBA{green, orange, purple, sky, black}
	shapes := []shape{triangle, diamond, wedge}
	l := look{color: colors[n%len(colors)], shape: shapes[n%len(shapes)]}
	if n >= len(colors) {
		l.dash = []vg.Length{4, 2}
	}
	return l
}

// hopLook is the look of a series that stands for a protocol, the same in every result; its colours are none of the two main
// strategies'.
func hopLook(h hop) look {
	looks := []look{
		{color: orange, shape: triangle}, {color: green, shape: diamond}, {color: purple, shape: circle}, {color: black, shape: square},
	}
	return looks[rank(h.protocol)]
}

// line is the look's thin line, paler than its markers so that these stay the subject.
func (l look) line(w vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: pale(l.color, 0.25), Width: w, Dashes: l.dash}
}

// fill is the look's area. Colours that are used a second time are paler, for areas have no dashes.
func (l look) fill() color.RGBA {
	if l.dash != nil {
		return pale(l.color, 0.65)
	}
	return pale(l.color, 0.25)
}

func (l look) glyph(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: radius, Shape: l.shape}
}

// pale mixes a colour with white: by 0 it stays, by 1 it is white.
func pale(c color.RGBA, by float64) color.RGBA {
	mix := func(v uint8) uint8 { return uint8(float64(v)*(1-by) + 255*by) }
	return color.RGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: 0xFF}
}

func sans(size vg.Length) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

func bold(size vg.Length) text.Style {
	s := sans(size)
	s.Font.Weight = xfont.WeightBold
	return s
}

func faint(s text.Style) text.Style {
	s.Color = grey
	return s
}

// newPlot is an empty plot in the style of all.
func newPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the frame has painted it
	p.Y.Tick.Label.YAlign = tickCenter
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: rule, Width: 0.5}
		a.Tick.LineStyle = draw.LineStyle{Color: rule, Width: 0.5}
		a.Tick.Length = 4
		a.Tick.Marker = steps{}
		a.Label.Padding = 4
		restyle(&a.Tick.Label, sans(8.5))
		restyle(&a.Label.TextStyle, sans(9))
	}
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	return p
}

// Alignments that put the middle of the capitals, 0.72 of the font's size high, at a text's position: gonum centres the line, descenders
// and all, and lifts an axis' labels by a descender.
const (
	capCenter  text.YAlignment = -0.405
	tickCenter text.YAlignment = -0.595
)

// restyle changes font and colour and leaves the alignment that an axis needs.
func restyle(old *text.Style, s text.Style) {
	old.Font, old.Color = s.Font, s.Color
}

// grid is drawn first, below the data.
func grid() *plotter.Grid {
	line := draw.LineStyle{Color: light, Width: 0.5}
	return &plotter.Grid{Vertical: line, Horizontal: line}
}

// sample draws a legend's mark: any of a line, a marker and a filled box.
type sample struct {
	line  draw.LineStyle
	glyph draw.GlyphStyle
	fill  color.Color
}

// width is that of the mark: a line needs room to be seen as one.
func (s sample) width() vg.Length {
	if s.line.Width > 0 {
		return 22
	}
	return 10
}

// Thumbnail implements plot.Thumbnailer.
func (s sample) Thumbnail(c *draw.Canvas) {
	mid := c.Center()
	mid.Y += 1.2 // the middle of the text beside it
	if s.fill != nil {
		const half = 4
		r := vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: mid.Y - half}, Max: vg.Point{X: c.Max.X, Y: mid.Y + half}}
		c.SetColor(s.fill)
		c.Fill(r.Path())
	}
	if s.line.Width > 0 {
		c.StrokeLine2(s.line, c.Min.X, mid.Y, c.Max.X, mid.Y)
	}
	c.DrawGlyph(s.glyph, mid)
}
