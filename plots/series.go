package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// result is an analysis as the charts read it: only cells with a finished trial, which have the statistics that all charts
// need, and the names in the order in which they are shown.
type result struct {
	analysis.Analysis
	pictures   analysis.Pictures
	cells      []analysis.Cell
	hops       []hop
	strategies []string
	all        []string // strategies, those without a finished trial too: their looks go by this order
}

func (r result) look(strategy string) look { return lookOf(strategy, r.all) }

// hop is what a browser had in front of it: a protocol, through a topology.
type hop struct {
	protocol, topology string
	apart              bool // the result has other topologies than the direct one, so that the protocol alone does not tell
}

// direct is the topology of nothing between browser and server. Charts of it do not name it.
const direct = "direct"

func read(a analysis.Analysis, pictures analysis.Pictures) result {
	r := result{Analysis: a, pictures: pictures}
	apart := slices.ContainsFunc(a.Cells, func(c analysis.Cell) bool { return c.Topology != direct })
	for _, c := range a.Cells {
		if !slices.Contains(r.all, c.Strategy) {
			r.all = append(r.all, c.Strategy)
		}
		if c.Load.Median == nil || c.Wasted.Mean == nil {
			continue
		}
		r.cells = append(r.cells, c)
		if !slices.Contains(r.strategies, c.Strategy) {
			r.strategies = append(r.strategies, c.Strategy)
		}
	}
	for _, c := range r.cells {
		h := hop{c.Protocol, c.Topology, apart}
		if !slices.Contains(r.hops, h) {
			r.hops = append(r.hops, h)
		}
	}
	slices.SortStableFunc(r.hops, func(a, b hop) int { return cmp.Compare(rank(a.protocol), rank(b.protocol)) })
	return r
}

// rank puts the older protocol first.
func rank(protocol string) int {
	if i := slices.Index([]string{"http1", "h2", "h3"}, protocol); i >= 0 {
		return i
	}
	return 3
}

// protocolName is a protocol's name for people.
func protocolName(protocol string) string {
	switch protocol {
	case "http1":
		return "HTTP/1.1"
	case "h2":
		return "HTTP/2 (h2)"
	case "h3":
		return "HTTP/3 (h3)"
	}
	return protocol
}

func (h hop) label() string {
	if h.apart {
		return protocolName(h.protocol) + " · " + h.topology
	}
	return protocolName(h.protocol)
}

// stem names a file of this hop.
func (h hop) stem(kind string) string { return kind + "-" + h.protocol + behind(h.topology) }

// behind is the end of a file's name.
func behind(topology string) string {
	if topology == direct {
		return ""
	}
	return "-" + topology
}

func (h hop) of(protocol, topology string) bool {
	return h.protocol == protocol && h.topology == topology
}

// of lists the cells of a hop.
func (r result) of(h hop) []analysis.Cell {
	var cells []analysis.Cell
	for _, c := range r.cells {
		if h.of(c.Protocol, c.Topology) {
			cells = append(cells, c)
		}
	}
	return cells
}

// info is what the scenario says of a hop; without, it is taken for a perfect one.
func (r result) info(h hop) analysis.Hop {
	for _, i := range r.pictures.Hops {
		if h.of(i.Protocol, i.Topology) {
			return i
		}
	}
	return analysis.Hop{Protocol: h.protocol, Topology: h.topology, Kind: h.topology, ServerProtocol: h.protocol, Perfect: true, OnlyRTT: true}
}

// shown lists the hops of charts that are not about networks: the perfect ones, or all if there is none.
func (r result) shown() []hop {
	perfect := slices.DeleteFunc(slices.Clone(r.hops), func(h hop) bool { return !r.info(h).Perfect })
	if len(perfect) == 0 {
		return r.hops
	}
	return perfect
}

// drawn tells whether delays come from a distribution.
func (r result) drawn() bool {
	return slices.ContainsFunc(r.cells, analysis.Cell.Drawn)
}

// tabs is how many the browser has, 0 of a single one.
func (r result) tabs() int { return len(r.cells[0].Tabs) }

// ideal is the load time that no way of waiting can beat: of several tabs, the last one's, which starts latest.
func (r result) ideal(c analysis.Cell) float64 { return c.Delay + r.pictures.LastTab }

// queryDelay says of which delay a chart is.
func queryDelay(c analysis.Cell) string {
	if c.Drawn() {
		return "longest query " + seconds(c.Delay) + " at the median"
	}
	return "query delay " + plain(c.Delay) + " s"
}

// sweeps says whether a hop was measured at more than one delay.
func (r result) sweeps(h hop) bool {
	cells := r.of(h)
	return slices.ContainsFunc(cells, func(c analysis.Cell) bool { return c.Delay != cells[0].Delay })
}

// subject is the scenario, and what it was played against if that is not the embedded server.
func (r result) subject() string {
	b := r.Environment.Backend
	if on := b.On(); on != "" {
		return strings.TrimSpace(r.Scenario+" · "+b.Product+" "+b.Version) + " (" + on + ")"
	}
	return r.Scenario
}

// subtitle is the chart's second line: where and of what the cells are. What differs between cells is given as a range or not at all.
func (r result) subtitle(where string, cells []analysis.Cell, per string) string {
	parts := []string{r.subject()}
	if where != "" {
		parts = append(parts, where)
	}
	if n := panels(cells); n > 0 {
		of := count(n, "panel")
		if tabs := len(cells[0].Tabs); tabs > 0 {
			of = count(tabs, "tab") + " of " + of
		}
		parts = append(parts, of)
	}
	least, most := cells[0].Finished, cells[0].Finished
	for _, c := range cells {
		least, most = min(least, c.Finished), max(most, c.Finished)
	}
	if least == most {
		parts = append(parts, count(most, "load")+" per "+per)
	} else {
		parts = append(parts, fmt.Sprintf("%d to %d loads per %s", least, most, per))
	}
	return strings.Join(parts, " · ")
}

// panels is the number of panels that all the cells have, or 0.
func panels(cells []analysis.Cell) int {
	all := 0
	for i, c := range cells {
		n := 0
		for _, g := range c.Groups {
			n += g.Panels
		}
		if i > 0 && n != all {
			return 0
		}
		all = n
	}
	return all
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// point is a value at a delay; lo and hi are nil when its interval is not known.
type point struct {
	x, y   float64
	lo, hi *float64
}

// points reads one value of each cell of a strategy, in the order of delay.
func points(cells []analysis.Cell, strategy string, value func(analysis.Cell) (y float64, lo, hi *float64)) []point {
	var pts []point
	for _, c := range cells {
		if c.Strategy == strategy {
			y, lo, hi := value(c)
			pts = append(pts, point{c.Delay, y, lo, hi})
		}
	}
	slices.SortStableFunc(pts, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return pts
}

func xys(pts []point) plotter.XYs {
	out := make(plotter.XYs, len(pts))
	for i, p := range pts {
		out[i] = plotter.XY{X: p.x, Y: p.y}
	}
	return out
}

// radius is a marker's: smaller where there are many along the axis.
func radius(pts []point) vg.Length {
	if len(pts) > 60 {
		return 1.6
	}
	return 2.8
}

// addMarkers draws the points.
func addMarkers(p *plot.Plot, pts []point, l look) error {
	s, err := plotter.NewScatter(xys(pts))
	if err != nil {
		return fmt.Errorf("markers: %w", err)
	}
	s.GlyphStyle = l.glyph(radius(pts))
	p.Add(s)
	return nil
}

// addLine draws a line through the points.
func addLine(p *plot.Plot, pts plotter.XYs, style draw.LineStyle) error {
	l, err := plotter.NewLine(pts)
	if err != nil {
		return fmt.Errorf("line: %w", err)
	}
	l.LineStyle = style
	p.Add(l)
	return nil
}

// intervals are error bars as the plotter reads them.
type intervals struct {
	plotter.XYs
	plotter.YErrors
}

// addIntervals draws an error bar for each point that has one and reports whether any does.
func addIntervals(p *plot.Plot, pts []point, l look) (bool, error) {
	var bars intervals
	for _, pt := range pts {
		if pt.lo == nil || pt.hi == nil {
			continue
		}
		bars.XYs = append(bars.XYs, plotter.XY{X: pt.x, Y: pt.y})
		bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{pt.y - *pt.lo, *pt.hi - pt.y})
	}
	if len(bars.XYs) == 0 {
		return false, nil
	}
	e, err := plotter.NewYErrorBars(bars)
	if err != nil {
		return false, fmt.Errorf("intervals: %w", err)
	}
	e.LineStyle = draw.LineStyle{Color: l.color, Width: 0.8}
	e.CapWidth = 4
	p.Add(e)
	return true, nil
}

// fit lets both axes of a chart over delay begin at zero, and the vertical one end at a tick.
func fit(p *plot.Plot) {
	p.X.Min, p.Y.Min = 0, min(0, p.Y.Min)
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
	_, tick := stepOf(p.Y.Min, p.Y.Max)
	// A value that is off a tick by an error of floating point is on it.
	const slack = 1e-9
	p.Y.Min, p.Y.Max = math.Floor(p.Y.Min/tick+slack)*tick, math.Ceil(p.Y.Max/tick-slack)*tick
}
