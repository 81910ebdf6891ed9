package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shape is an open marker: filled with paper, so that it hides the line below it and shows where markers lie on each other.
type shape int

const (
	circle shape = iota
	square
	triangle
	diamond
	wedge // a triangle on its point
)

// DrawGlyph implements draw.GlyphDrawer.
func (s shape) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	path := s.path(pt, sty.Radius)
	c.SetColor(paper)
	c.Fill(path)
	// A small marker with a thick outline would be a blot.
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: min(1, sty.Radius/2.5)})
	c.Stroke(path)
}

// path is the outline. Corners lie further out than the radius by as much as makes all shapes look equally large.
func (s shape) path(pt vg.Point, r vg.Length) vg.Path {
	switch s {
	case square:
		return polygon(pt, r*1.25, 4, math.Pi/4)
	case triangle:
		return polygon(pt, r*1.35, 3, math.Pi/2)
	case diamond:
		return polygon(pt, r*1.3, 4, 0)
	case wedge:
		return polygon(pt, r*1.35, 3, -math.Pi/2)
	}
	var p vg.Path
	p.Move(vg.Point{X: pt.X + r, Y: pt.Y})
	p.Arc(pt, r, 0, 2*math.Pi)
	p.Close()
	return p
}

func polygon(pt vg.Point, r vg.Length, corners int, start float64) vg.Path {
	var p vg.Path
	for i := range corners {
		sin, cos := math.Sincos(start + 2*math.Pi*float64(i)/float64(corners))
		corner := vg.Point{X: pt.X + r*vg.Length(cos), Y: pt.Y + r*vg.Length(sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}
