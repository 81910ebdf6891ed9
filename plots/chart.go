// Package plots draws the result of a run: an [analysis.Analysis], the model's lines and single loads go in, charts come out.
//
// [Charts] picks the charts that make sense for a result; a [Chart] is a value that [Write] puts out as SVG or PNG. Nothing
// here measures or computes statistics: what the analysis could not give is left out of a chart, never guessed. The same data
// gives the same bytes.
//
//	sawtooth-<protocol>              wasted time against query delay, measured over the model's line
//	load-<protocol>                  load time against query delay
//	speedup                          what continuous polling saves, per query delay; speedup-<strategy> for any other
//	vice                             groups of panels and bystanders, where one strategy hurts and where it does not
//	last-hop                         loads behind proxies that speak another protocol to the server than to the browser
//	tabs-<protocol>                  each tab's load time, in the order of opening
//	network-<protocol>               wasted time against the network's round trip
//	cuts-<protocol>                  searches that fail where connections are cut; failures-<protocol> where they fail for another reason
//	mix-<protocol>                   load times over drawn dashboards, and the gain over all of them
//	waterfall-<strategy>-<protocol>  one dashboard load, panel by panel
//
// The names of charts that are not of the direct topology end in the topology's. Where a perfect network is among several, only network and cuts are of the
// others: each would else have a copy of every chart.
package plots

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pollbench/bench/analysis"
)

// Chart is one picture. Its texts are exported so that a page that shows it can describe it.
type Chart struct {
	Name     string // stem of the file that it belongs in
	Title    string // what is shown
	Subtitle string // of what: scenario, protocol, panels, loads
	Caption  string // how to read the marks
	Warning  string // why the figures are doubtful; empty when they are not

	legend []entry
	height vg.Length // of the body
	body   func(draw.Canvas)
}

// Charts draws what the result holds: sawtooth, load and speed-up charts of a sweep of delays, the vice chart when there are
// groups of panels or bystanders to tell apart, those of proxies, tabs, networks, failures and drawn dashboards where it has such, and a waterfall for
// each load given. Cells without a finished trial are left out, but where failures are counted. A result from which nothing can be drawn is an error.
func Charts(a analysis.Analysis, pictures analysis.Pictures) ([]Chart, error) {
	r := read(a, pictures)
	var charts []Chart
	var failed error
	add := func(c Chart, err error) {
		if err != nil && failed == nil {
			failed = err
		}
		charts = append(charts, c)
	}
	for _, h := range r.shown() {
		if r.sweeps(h) {
			add(sawtooth(r, h))
		}
	}
	for _, h := range r.shown() {
		if r.sweeps(h) {
			add(load(r, h))
		}
	}
	for _, of := range r.compared() {
		add(speedup(r, of))
	}
	if rc, cells := viceOf(r); len(rc.rows) > 0 {
		add(vice(r, rc, cells), nil)
	}
	if rc, cells := lastHopOf(r); len(rc.rows) > 0 {
		add(lastHop(r, rc, cells), nil)
	}
	for _, h := range r.shown() {
		if len(r.tabbed(h)) > 0 {
			add(tabs(r, h))
		}
	}
	for _, s := range r.byRTT() {
		add(network(r, s))
	}
	for _, s := range r.broken() {
		add(cuts(r, s), nil)
	}
	for _, h := range r.mixedHops() {
		add(mix(r, h))
	}
	for _, f := range pictures.Waterfalls {
		if len(f.Lanes) > 0 {
			add(waterfall(r, f), nil)
		}
	}
	if failed != nil {
		return nil, failed
	}
	if len(charts) == 0 {
		return nil, nothing(r)
	}
	name(charts)
	if !a.Health.Healthy {
		for i := range charts {
			charts[i].Warning = "The machine did not keep up during this run: the figures are doubtful."
		}
	}
	return charts, nil
}

// nothing says why no chart could be drawn.
func nothing(r result) error {
	if len(r.cells) == 0 {
		return fmt.Errorf("draw charts of %q: no cell has a finished trial", r.Scenario)
	}
	return fmt.Errorf("draw charts of %q: one delay, one group of panels and no bystanders leave nothing to compare", r.Scenario)
}

// name makes every chart's name fit for a file and unlike the others': strategies are named freely, and two loads of one
// strategy and protocol may be drawn.
func name(charts []Chart) {
	taken := map[string]int{}
	for i := range charts {
		stem := strings.Map(fileRune, charts[i].Name)
		taken[stem]++
		if n := taken[stem]; n > 1 {
			stem = fmt.Sprintf("%s-%d", stem, n)
		}
		charts[i].Name = stem
	}
}

func fileRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '.', r == '_':
		return r
	}
	return '-'
}
