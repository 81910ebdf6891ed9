package plots

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Every chart is one frame: title, subtitle, legend, body, caption, from top to bottom, in strips of their own, so that
// no text ever lies on data.
const (
	width  vg.Length = 576 // points: 8 inches, a page's width
	margin vg.Length = 14
	gap    vg.Length = 8 // between strips
	inner            = width - 2*margin
	// lines is how wide text may run: an SVG may be shown in a font a sixth wider than the one it was measured in.
	lines = inner * 6 / 7

	bodyHeight vg.Length = 250 // of a chart with a delay axis
)

// entry is a line of the legend.
type entry struct {
	name string
	mark sample
}

// strip is a block of text that runs over as many lines as it needs.
type strip struct {
	style text.Style
	lines []string
}

func newStrip(style text.Style, txt string) strip {
	if txt == "" {
		return strip{style: style}
	}
	return strip{style: style, lines: wrap(style, txt, lines)}
}

// leading is the distance between lines, as a multiple of the font's size.
const leading = 1.3

func (s strip) height() vg.Length {
	return vg.Length(len(s.lines)) * s.style.Font.Size * leading
}

// draw draws downwards from the top of the canvas and returns what is left of it below.
func (s strip) draw(c draw.Canvas) draw.Canvas {
	y := c.Max.Y
	for _, line := range s.lines {
		y -= s.style.Font.Size * leading
		c.FillText(s.style, vg.Point{X: c.Min.X, Y: y + s.style.Font.Size*(leading-1)}, line)
	}
	c.Max.Y = y
	return c
}

func (ch Chart) head() []strip {
	return []strip{newStrip(bold(13), ch.Title), newStrip(faint(sans(9.5)), ch.Subtitle)}
}

func (ch Chart) foot() []strip {
	alarm := bold(8)
	alarm.Color = vermillion
	return []strip{newStrip(faint(sans(8)), ch.Caption), newStrip(alarm, ch.Warning)}
}

// Size is the chart's width and height.
func (ch Chart) Size() (vg.Length, vg.Length) {
	h := 2*margin + ch.height + 2*gap
	for _, s := range append(ch.head(), ch.foot()...) {
		h += s.height()
	}
	if rows := len(legendRows(ch.legend)); rows > 0 {
		h += vg.Length(rows)*legendRow + gap
	}
	return width, h
}

// Draw draws the chart to a canvas of its [Chart.Size].
func (ch Chart) Draw(c draw.Canvas) {
	c.SetColor(paper)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	for _, s := range ch.head() {
		c = s.draw(c)
	}
	c.Max.Y -= gap
	for _, row := range legendRows(ch.legend) {
		drawLegendRow(c, row)
		c.Max.Y -= legendRow
	}
	if len(ch.legend) > 0 {
		c.Max.Y -= gap
	}
	body := c
	body.Min.Y = c.Max.Y - ch.height
	ch.body(body)
	c.Max.Y = body.Min.Y - gap
	for _, s := range ch.foot() {
		c = s.draw(c)
	}
}

const (
	legendRow   vg.Length = 13
	legendApart vg.Length = 18 // between entries of a row
)

// one is the legend of a single entry: plot.Legend puts entries below each other, here they follow each other in a row.
func one(e entry) plot.Legend {
	l := plot.NewLegend()
	l.TextStyle = sans(9)
	l.Top, l.Left = true, true
	l.YPosition = draw.PosCenter
	l.ThumbnailWidth = e.mark.width()
	l.Add(e.text(), e.mark)
	return l
}

// text keeps one name from taking a whole row.
func (e entry) text() string { return shorten(sans(9), e.name, lines/2) }

func (e entry) width() vg.Length {
	style := sans(9)
	return e.mark.width() + style.Width(" ") + style.Width(e.text()) + legendApart
}

// legendRows breaks the legend into rows that fit.
func legendRows(entries []entry) [][]entry {
	var rows [][]entry
	var used vg.Length
	for _, e := range entries {
		if len(rows) == 0 || used+e.width() > lines+legendApart {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += e.width()
	}
	return rows
}

func drawLegendRow(c draw.Canvas, row []entry) {
	for _, e := range row {
		l := one(e)
		l.Draw(c)
		c.Min.X += e.width()
	}
}

// wrap breaks a text into lines no wider than a length, between words; a word wider than that is broken itself.
func wrap(style text.Style, txt string, most vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(txt) {
		if line != "" && style.Width(line+" "+word) <= most {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = ""
		for _, r := range word {
			if line != "" && style.Width(line+string(r)) > most {
				lines = append(lines, line)
				line = ""
			}
			line += string(r)
		}
	}
	return append(lines, line)
}

// shorten cuts a text that is wider than a length and marks the cut.
func shorten(style text.Style, txt string, most vg.Length) string {
	if style.Width(txt) <= most {
		return txt
	}
	rs := []rune(txt)
	for len(rs) > 0 && style.Width(string(rs)+"…") > most {
		rs = rs[:len(rs)-1]
	}
	return string(rs) + "…"
}
