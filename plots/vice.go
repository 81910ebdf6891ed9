package plots

import (
	"slices"
	"strconv"

	"pollbench/bench/analysis"
)

// viceRow is one group of panels, the last tab of several or the bystanders.
type viceRow struct {
	rowName
	own float64 // what the search itself takes; 0 for bystanders
}

// lastTab is the load of the tab that was opened last: the medians of groups are those of all tabs, most of which came before the connections were taken.
const lastTab = "last tab"

// heldUp is when a delay counts as being held up: people notice a second.
const heldUp = 1.0

// viceOf compares groups: a row for each group of panels and for the bystanders, a facet for each hop. It reads the longest delay, where a swept scenario shows
// most, and leaves slow networks to charts of their own. It has no rows when there are not at least two to compare.
func viceOf(r result) (rowChart, []analysis.Cell) {
	rc := rowChart{strategies: r.strategies, look: r.look, axis: "time from intended start to delivery (logarithmic)", names: rowNames, room: labelRoom}
	var longest float64
	for _, c := range r.cells {
		longest = max(longest, c.Delay)
	}
	var cells []analysis.Cell
	var hops []hop
	for _, h := range r.shown() {
		for _, c := range r.of(h) {
			if c.Delay == longest {
				cells = append(cells, c)
				if !slices.Contains(hops, h) {
					hops = append(hops, h)
				}
			}
		}
	}
	rows := r.viceRows(cells)
	if len(rows) < 2 {
		return rowChart{}, nil
	}
	if r.tabs() > 0 {
		rc.axis = "time from the tab's intended start to delivery (logarithmic)"
	}
	var all facet // of all hops, for they share an axis
	for _, row := range rows {
		rc.rows = append(rc.rows, row.rowName)
		all.own = append(all.own, row.own)
	}
	for _, h := range hops {
		f := facet{title: h.label(), own: all.own}
		for _, c := range cells {
			if h.of(c.Protocol, c.Topology) {
				f.marks = append(f.marks, viceMarks(rows, c)...)
			}
		}
		all.marks = append(all.marks, f.marks...)
		rc.facets = append(rc.facets, f)
	}
	if len(all.marks) == 0 {
		return rowChart{}, nil
	}
	all.decade()
	for i := range rc.facets {
		rc.facets[i].lo, rc.facets[i].hi, rc.facets[i].log = all.lo, all.hi, true
	}
	return rc, cells
}

const bystanders = "bystanders"

// viceRows lists what any of the cells has a value of: the groups, the last tab, the bystanders.
func (r result) viceRows(cells []analysis.Cell) []viceRow {
	var rows, tab, last []viceRow
	for _, c := range cells {
		for _, g := range c.Groups {
			row := viceRow{rowName{g.Name, count(g.Panels, "panel") + " of " + plain(g.Delay) + " s"}, g.Delay}
			if g.Drawn {
				row.detail = count(g.Panels, "panel") + ", p50 " + seconds(g.Delay)
			}
			if shows(g.Delivered) && !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
		if n := len(c.Tabs); n > 1 && shows(c.Tabs[n-1].Load) {
			tab = []viceRow{{rowName{lastTab, "of " + strconv.Itoa(n) + ", all its panels"}, c.Delay}}
		}
		if c.Bystanders != nil && shows(c.Bystanders.Latency.Interval) {
			last = []viceRow{{rowName{bystanders, "small requests"}, 0}}
		}
	}
	return slices.Concat(rows, tab, last)
}

// shows tells whether a value has a place on a logarithmic axis.
func shows(i analysis.Interval) bool { return i.Median != nil && *i.Median > 0 }

// viceMarks are the values of one cell.
func viceMarks(rows []viceRow, c analysis.Cell) []mark {
	var marks []mark
	add := func(row int, of analysis.Interval) {
		if row < 0 || !shows(of) {
			return
		}
		m := mark{row: row, strategy: c.Strategy, point: point{y: *of.Median}, label: seconds(*of.Median), from: rows[row].own}
		m.strong = m.y-rows[row].own >= heldUp
		if of.Lo != nil && of.Hi != nil && *of.Lo > 0 {
			m.lo, m.hi = of.Lo, of.Hi
		}
		marks = append(marks, m)
	}
	for _, g := range c.Groups {
		add(slices.IndexFunc(rows, func(r viceRow) bool { return r.name == g.Name && r.own == g.Delay }), g.Delivered)
	}
	if n := len(c.Tabs); n > 1 {
		add(slices.IndexFunc(rows, func(r viceRow) bool { return r.name == lastTab }), c.Tabs[n-1].Load)
	}
	if c.Bystanders != nil {
		add(slices.IndexFunc(rows, func(r viceRow) bool { return r.own == 0 }), c.Bystanders.Latency.Interval)
	}
	return marks
}

// vice shows who waits for whom: fast panels and bystanders behind slow panels, under each strategy and protocol.
func vice(r result, rc rowChart, cells []analysis.Cell) Chart {
	return Chart{
		Name:     "vice",
		Title:    "The vice and the virtue: who waits behind slow panels",
		Subtitle: r.subtitle("", cells, "strategy and protocol"),
		Caption: "Markers: median; bars: its 95 % confidence interval, where it is wider than the marker. Grey tick: what the search itself takes. " +
			"Strong line, bold figure: held up for a second or more.",
		legend: rc.legend(),
		height: rc.height(),
		body:   rc.draw,
	}
}
