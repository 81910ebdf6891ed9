package plots

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// activities lists what a waterfall shows, in the order of its legend. The search's own time is calm, waste is loud, and the
// slivers of network and server are dark enough to be seen at a hairline's width.
var activities = []struct {
	activity analysis.Activity
	color    color.RGBA
	name     string
}{
	{analysis.Slot, vermillion, "slot wait"},
	{analysis.Network, black, "network"},
	{analysis.Useful, sky, "useful"},
	{analysis.Sleep, orange, "sleep"},
	{analysis.Server, purple, "server"},
}

func colorOf(a analysis.Activity) color.RGBA {
	for _, x := range activities {
		if x.activity == a {
			return x.color
		}
	}
	return grey
}

// hairline is the least width of a span: a millisecond is a 50th of it on an axis of ten seconds.
const hairline vg.Length = 1.1

const (
	mostNames           = 40 // rows that can be named before the names touch
	mostName  vg.Length = 90 // width of a group's name
)

// waterfall shows one load, a row per panel.
func waterfall(r result, w analysis.Waterfall) Chart {
	f := fall{Waterfall: w, names: laneNames(w.Lanes)}
	for _, l := range w.Lanes {
		if n := len(l.Spans); n > 0 {
			f.end = max(f.end, l.Spans[n-1].To)
			f.ideal = max(f.ideal, l.Spans[0].From+length(l, useful))
		}
	}
	rows := vg.Length(len(w.Lanes))
	of := "query delay " + plain(w.Delay) + " s"
	if r.drawn() {
		of = "longest query " + seconds(w.Delay)
	}
	ch := Chart{
		Name:  "waterfall-" + w.Strategy + "-" + w.Protocol + behind(w.Topology),
		Title: fmt.Sprintf("One dashboard load, panel by panel: %s on %s", w.Strategy, hop{w.Protocol, w.Topology, w.Topology != direct}.label()),
		Subtitle: strings.Join([]string{r.subject(), count(len(w.Lanes), "panel"), of,
			"loaded in " + fine(f.end)}, " · "),
		Caption: "Spans too short to see, such as those of network and server, are drawn a hairline wide.",
		height:  min(max(rows*17, 60), 620) + 50,
		body:    f.plot().Draw,
	}
	for _, a := range activities {
		ch.legend = append(ch.legend, entry{a.name, sample{fill: a.color}})
	}
	ideal := "ideal: longest search, "
	if w.Lanes[0].Tab > 0 {
		ideal = "ideal: longest search of the last tab, "
	}
	ch.legend = append(ch.legend, entry{ideal + fine(f.ideal), sample{line: idealLine}})
	return ch
}

var idealLine = draw.LineStyle{Color: ink, Width: 0.9, Dashes: []vg.Length{4, 2.5}}

// fine writes seconds to the hundredth: a waterfall is about tenths.
func fine(v float64) string { return fmt.Sprintf("%.2f s", v) }

func useful(a analysis.Activity) bool { return a == analysis.Useful }
func waste(a analysis.Activity) bool  { return a != analysis.Useful }

// length sums a lane's spans of some activities.
func length(l analysis.Lane, of func(analysis.Activity) bool) float64 {
	sum := 0.0
	for _, s := range l.Spans {
		if of(s.Activity) {
			sum += s.To - s.From
		}
	}
	return sum
}

// laneNames numbers the panels within their tabs and groups.
func laneNames(lanes []analysis.Lane) []string {
	type of struct {
		tab   int
		group string
	}
	n := map[of]int{}
	names := make([]string, len(lanes))
	for i, l := range lanes {
		group := l.Group
		if group == "" || group == "panels" {
			group = "panel"
		}
		n[of{l.Tab, group}]++
		names[i] = fmt.Sprintf("%s %d", shorten(sans(8.5), group, mostName), n[of{l.Tab, group}])
		if l.Tab > 0 {
			names[i] = fmt.Sprintf("tab %d · %s", l.Tab, names[i])
		}
	}
	return names
}

// fall is the plotter of a waterfall.
type fall struct {
	analysis.Waterfall
	names      []string
	end, ideal float64
}

func (f fall) plot() *plot.Plot {
	p := newPlot("time since the load's intended start (s)", "")
	g := grid()
	g.Horizontal.Width = 0 // rows guide the eye themselves
	p.Add(g)
	p.X.Min, p.X.Max = 0, f.end
	p.Y.Min, p.Y.Max = -0.5, float64(len(f.Lanes))-0.5
	p.Y.LineStyle.Width, p.Y.Tick.Length, p.Y.Padding = 0, 0, 2
	var ticks plot.ConstantTicks
	every := int(math.Ceil(float64(len(f.names)) / mostNames))
	for i := 0; i < len(f.names); i += every {
		ticks = append(ticks, plot.Tick{Value: f.row(i), Label: f.names[i]})
	}
	p.Y.Tick.Marker = ticks
	p.Add(f)
	return p
}

// row is where a lane lies on the vertical axis: the first is on top.
func (f fall) row(lane int) float64 { return float64(len(f.Lanes) - 1 - lane) }

// Plot implements plot.Plotter.
func (f fall) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, lane := range f.Lanes {
		lo, hi := y(f.row(i)-0.36), y(f.row(i)+0.36)
		for _, b := range boxes(lane, x) {
			c.SetColor(colorOf(b.activity))
			c.Fill(vg.Rectangle{Min: vg.Point{X: b.from, Y: lo}, Max: vg.Point{X: b.to, Y: hi}}.Path())
		}
	}
	if len(f.Lanes) <= mostNames {
		f.wasted(c, y)
	}
	c.StrokeLine2(idealLine, x(f.ideal), c.Min.Y, x(f.ideal), c.Max.Y)
}

const (
	wasteLabel vg.Length = 46 // width of the column of wasted times
	wasteHead  vg.Length = 12 // height of its head
)

// wasted writes each panel's wasted time at the right of its row.
func (f fall) wasted(c draw.Canvas, y func(float64) vg.Length) {
	style := faint(sans(8.5))
	style.YAlign, style.XAlign = capCenter, draw.XRight
	right := c.Max.X + wasteLabel
	for i, lane := range f.Lanes {
		text := "hidden"
		if len(lane.Spans) > 0 {
			text = seconds(length(lane, waste))
		}
		c.FillText(style, vg.Point{X: right, Y: y(f.row(i))}, text)
	}
	c.FillText(style, vg.Point{X: right, Y: c.Max.Y + wasteHead/2}, "wasted")
}

// GlyphBoxes implements plot.GlyphBoxer: it reserves the room for the wasted times.
func (f fall) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	if len(f.Lanes) > mostNames {
		return nil
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: wasteLabel, Y: 1}}}, {X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: 1, Y: wasteHead}}}}
}

// box is a span as it is drawn.
type box struct {
	from, to vg.Length
	activity analysis.Activity
}

// boxes gives each span at least a hairline. A span that is widened pushes the start of the next, whose end stays where it
// is, so that the error never grows beyond a run of slivers.
func boxes(l analysis.Lane, x func(float64) vg.Length) []box {
	var out []box
	var at vg.Length
	for _, s := range l.Spans {
		if s.To <= s.From {
			continue
		}
		from := max(at, x(s.From))
		at = max(x(s.To), from+hairline)
		out = append(out, box{from, at, s.Activity})
	}
	return out
}
