package plots

import (
	"cmp"
	"slices"

	"pollbench/bench/analysis"
)

// fallsShort is by how much a time must exceed the best of its row to be marked: less is hardly noticed.
const (
	fallsShort    = 0.2 // seconds
	fallsShortBy  = 0.1 // of the best
	wrongHopLabel = "wrong hop"
)

// lastHopOf compares what is right for the browser's protocol with what is right for the server's: a row for each pair of them, and facets for the load
// and for the panels that wait longest beyond their own time. It has no rows unless the two differ somewhere.
func lastHopOf(r result) (rowChart, []analysis.Cell) {
	rc := rowChart{strategies: r.strategies, look: r.look, axis: "seconds from intended start, median", names: rowNames + 18, room: labelRoom}
	hops := slices.Clone(r.shown())
	if !slices.ContainsFunc(hops, func(h hop) bool { return r.info(h).Protocol != r.info(h).ServerProtocol }) {
		return rowChart{}, nil
	}
	cells := r.tellingCells(hops)
	slices.SortStableFunc(hops, func(a, b hop) int {
		return cmp.Or(cmp.Compare(rank(r.info(a).Protocol), rank(r.info(b).Protocol)), cmp.Compare(rank(r.info(a).ServerProtocol), rank(r.info(b).ServerProtocol)))
	})
	loads := facet{title: "dashboard loaded"}
	if r.tabs() > 0 {
		loads.title = "all tabs loaded"
	}
	row := func(c analysis.Cell) int {
		return slices.IndexFunc(hops, func(h hop) bool { return h.of(c.Protocol, c.Topology) })
	}
	for _, h := range hops {
		i := r.info(h)
		rc.rows = append(rc.rows, rowName{shortName(i.Protocol) + " → " + shortName(i.ServerProtocol), i.Topology})
	}
	loads.own = make([]float64, len(hops))
	for _, c := range cells {
		loads.marks = append(loads.marks, markOf(row(c), c.Strategy, c.Load.Interval))
		loads.own[row(c)] = r.ideal(c)
	}
	others := r.othersOf(cells, row, len(hops))
	r.judge(&loads, hops)
	r.judge(&others, hops)
	rc.facets = []facet{loads}
	if slices.ContainsFunc(others.marks, func(m mark) bool { return m.strong }) { // else nobody waits for another
		rc.facets = append(rc.facets, others)
	}
	for i := range rc.facets {
		rc.facets[i].widen()
	}
	if rc.noted() {
		rc.room += bold(8.5).Width(" " + wrongHopLabel)
	}
	return rc, cells
}

// shortName is a protocol's name where there is little room.
func shortName(protocol string) string {
	if protocol == "http1" {
		return "HTTP/1.1"
	}
	return protocol
}

// tellingCells are those of one delay, at which the strategies' loads lie furthest apart on any of the hops.
func (r result) tellingCells(hops []hop) []analysis.Cell {
	type place struct {
		hop   hop
		delay float64
	}
	least, most := map[place]float64{}, map[place]float64{}
	var cells []analysis.Cell
	best, apart := 0.0, -1.0
	for _, h := range hops {
		for _, c := range r.of(h) {
			cells = append(cells, c)
			at, load := place{h, c.Delay}, *c.Load.Median
			if _, ok := least[at]; !ok {
				least[at] = load
			}
			least[at], most[at] = min(least[at], load), max(most[at], load)
			if d := most[at] - least[at]; d > apart {
				best, apart = c.Delay, d
			}
		}
	}
	return slices.DeleteFunc(cells, func(c analysis.Cell) bool { return c.Delay != best })
}

// othersOf is the facet of the group of panels that waits longest beyond its own time anywhere; of bystanders if there is a single group.
func (r result) othersOf(cells []analysis.Cell, row func(analysis.Cell) int, rows int) facet {
	var worst analysis.Group
	over := 0.0
	for _, c := range cells {
		for _, g := range c.Groups {
			if g.Delivered.Median != nil && len(c.Groups) > 1 && *g.Delivered.Median-g.Delay > over {
				worst, over = g, *g.Delivered.Median-g.Delay
			}
		}
	}
	f := facet{title: "panels “" + worst.Name + "” delivered", own: make([]float64, rows)}
	if over == 0 {
		f.title = "bystanders answered"
	}
	for _, c := range cells {
		if over == 0 {
			if c.Bystanders != nil && c.Bystanders.Latency.Median != nil {
				f.marks = append(f.marks, markOf(row(c), c.Strategy, c.Bystanders.Latency.Interval))
			}
			continue
		}
		for _, g := range c.Groups {
			if g.Name == worst.Name && g.Delivered.Median != nil {
				f.marks = append(f.marks, markOf(row(c), c.Strategy, g.Delivered))
				f.own[row(c)] = g.Delay
			}
		}
	}
	return f
}

func markOf(row int, strategy string, i analysis.Interval) mark {
	m := mark{row: row, strategy: strategy, point: point{y: *i.Median}, label: seconds(*i.Median)}
	if i.Lo != nil && i.Hi != nil {
		m.lo, m.hi = i.Lo, i.Hi
	}
	return m
}

// judge marks what falls short of the best of its row, and says where that comes from going by a hop that speaks another protocol.
func (r result) judge(f *facet, hops []hop) {
	for i := range f.marks {
		m := &f.marks[i]
		best := m.y
		for _, other := range f.marks {
			if other.row == m.row {
				best = min(best, other.y)
			}
		}
		m.strong, m.from = m.y > best+fallsShort && m.y > best*(1+fallsShortBy), best
		if at := r.info(hops[m.row]); m.strong && at.Protocol != at.ServerProtocol && slices.Contains(r.pictures.ByServer, m.strategy) {
			m.note = wrongHopLabel
		}
	}
}

// noted tells whether any mark has a note.
func (rc rowChart) noted() bool {
	return slices.ContainsFunc(rc.facets, func(f facet) bool {
		return slices.ContainsFunc(f.marks, func(m mark) bool { return m.note != "" })
	})
}

// lastHop shows which hop's protocol should decide: the browser's. Where no strategy goes by the server's, it only shows what proxies change.
func lastHop(r result, rc rowChart, cells []analysis.Cell) Chart {
	ch := Chart{
		Name:     "last-hop",
		Title:    "Load times behind proxies that change the protocol",
		Subtitle: r.subtitle(queryDelay(cells[0]), cells, "strategy and path"),
		Caption: "Rows: what the browser speaks → what the dashboard server speaks. Markers: median; bars: its 95 % confidence interval, where it is wider " +
			"than the marker. Grey tick: what the search itself takes",
		legend: rc.legend(),
		height: rc.height(),
		body:   rc.draw,
	}
	if slices.ContainsFunc(r.strategies, func(s string) bool { return slices.Contains(r.pictures.ByServer, s) }) {
		ch.Title = "Which hop decides: the browser's protocol against the server's"
	}
	if r.tabs() > 0 {
		ch.Caption += ", for loads from the last tab's start; loads count from the first tab's, all else from its own tab's"
	}
	ch.Caption += ". Strong line, bold figure: a tenth, and 0.2 s, or more beyond the best of the row"
	if rc.noted() {
		ch.Caption += "; “" + wrongHopLabel + "”: by a strategy that goes by the server's protocol"
	}
	ch.Caption += "."
	return ch
}
