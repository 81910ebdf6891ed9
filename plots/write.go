package plots

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The formats that [Write] knows.
const (
	SVG = "svg"
	PNG = "png"
)

// Formats lists them.
func Formats() []string { return []string{SVG, PNG} }

// dpi makes a PNG of an 8 inch chart 1,600 pixels wide: sharp on a dense screen and in print.
const dpi = 200

// An SVG names its font and does not carry it, which keeps it small. Liberation Sans, with which texts were measured, is rare
// outside Linux; the others have the same widths, so that nothing moves where it is missing.
const (
	svgFont  = "font-family:Liberation Sans;"
	svgFonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;"
)

// Write draws the chart in a format of [Formats]. Nothing is written when drawing fails.
func Write(w io.Writer, chart Chart, format string) error {
	var buf bytes.Buffer
	switch format {
	case SVG:
		c := vgsvg.New(chart.Size())
		chart.Draw(draw.New(c))
		if err := render(&buf, c); err != nil {
			return fmt.Errorf("draw chart %s: %w", chart.Name, err)
		}
		buf = *bytes.NewBuffer(bytes.ReplaceAll(buf.Bytes(), []byte(svgFont), []byte(svgFonts)))
	case PNG:
		if err := encode(&buf, chart, dpi); err != nil {
			return fmt.Errorf("draw chart %s: %w", chart.Name, err)
		}
	default:
		return fmt.Errorf("draw chart %s: unknown format %q: use %s or %s", chart.Name, format, SVG, PNG)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write chart %s: %w", chart.Name, err)
	}
	return nil
}

// raster draws the chart in pixels.
func raster(chart Chart, dpi int) *vgimg.Canvas {
	c := vgimg.NewWith(vgimg.UseWH(chart.Size()), vgimg.UseDPI(dpi))
	chart.Draw(draw.New(c))
	return c
}

func encode(buf *bytes.Buffer, chart Chart, dpi int) error {
	return render(buf, vgimg.PngCanvas{Canvas: raster(chart, dpi)})
}

func render(buf *bytes.Buffer, c vg.CanvasWriterTo) error {
	_, err := c.WriteTo(buf)
	return err
}
