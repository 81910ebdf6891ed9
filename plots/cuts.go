package plots

import (
	"fmt"
	"math"
	"slices"

	"pollbench/bench/analysis"
)

// broken lists, by protocol, the hops of a picture of what fails, beside those of a perfect network: first where nothing but cut connections can be the
// reason, then where it is another, or both. There is none of a protocol without trouble.
func (r result) broken() []span {
	var all []span
	for _, protocol := range []string{"http1", "h2", "h3"} {
		var hops []hop
		for _, c := range r.Cells {
			if h := (hop{c.Protocol, c.Topology, true}); c.Protocol == protocol && !slices.Contains(hops, h) {
				hops = append(hops, h)
			}
		}
		pick := func(bad, perfect func(hop) bool) {
			if slices.ContainsFunc(hops, bad) {
				without := func(h hop) bool { return !bad(h) && !(r.info(h).Perfect && perfect(h)) }
				all = append(all, span{hop{protocol: protocol, topology: direct}, slices.DeleteFunc(slices.Clone(hops), without)})
			}
		}
		cut := func(h hop) bool { return r.info(h).OnlyCuts }
		pick(cut, func(h hop) bool {
			return slices.ContainsFunc(hops, func(other hop) bool { return cut(other) && r.info(other).Kind == r.info(h).Kind })
		})
		pick(func(h hop) bool { return !cut(h) && (r.info(h).Cuts || r.troubled(h)) }, func(hop) bool { return true })
	}
	return all
}

func (r result) troubled(h hop) bool {
	return slices.ContainsFunc(r.Cells, func(c analysis.Cell) bool {
		return h.of(c.Protocol, c.Topology) && c.Outcomes.Failed+c.Outcomes.TimedOut+c.Outcomes.Retries > 0
	})
}

// failing counts a strategy's searches of a hop, cells without a finished trial included.
func (r result) failing(h hop, strategy string) (searches, failed, retries int) {
	for _, c := range r.Cells {
		if h.of(c.Protocol, c.Topology) && c.Strategy == strategy {
			o := c.Outcomes
			searches += o.OK + o.Failed + o.TimedOut // a hidden one had no chance to fail
			failed += o.Failed + o.TimedOut
			retries += o.Retries
		}
	}
	return searches, failed, retries
}

// cuts shows how many searches fail and how many polls are asked again, by strategy and network.
func cuts(r result, s span) Chart {
	rc := rowChart{strategies: r.all, look: r.look, axis: "per 100 searches", names: rowNames, room: labelRoom}
	failed, asked := facet{title: "searches failed", bars: true}, facet{title: "failed polls asked again", bars: true}
	ended, cutting := 0, false
	for _, h := range s.hops {
		i := r.info(h)
		cutting = cutting || i.OnlyCuts
		name := rowName{name: i.Network, detail: i.Kind}
		if i.Network == "" {
			name = rowName{name: i.Topology}
		}
		rc.rows = append(rc.rows, name)
		for _, st := range rc.strategies {
			searches, bad, retries := r.failing(h, st)
			if searches == 0 {
				continue
			}
			ended += searches
			failed.marks = append(failed.marks, barOf(len(rc.rows)-1, st, bad, searches))
			asked.marks = append(asked.marks, barOf(len(rc.rows)-1, st, retries, searches))
		}
	}
	for _, f := range []facet{failed, asked} {
		// Where nothing was asked again, or nothing failed for good, there is nothing to look at.
		if f.widen(); slices.ContainsFunc(f.marks, func(m mark) bool { return m.strong }) {
			rc.facets = append(rc.facets, f)
		}
	}
	if len(rc.facets) == 0 {
		rc.facets = []facet{failed}
		rc.facets[0].widen()
	}
	ch := Chart{
		Name:     s.first.stem("failures"),
		Title:    "What fails, and what is saved by asking again",
		Subtitle: fmt.Sprintf("%s · %s · %d searches", r.subject(), protocolName(s.first.protocol), ended),
		Caption: "Of all loads, those that failed included. Failed: the search ended without a result, or the browser gave it up. " +
			"Strategies that do not retry fail a search with its first failed poll.",
		legend: rc.legend(),
		height: rc.height(),
		body:   rc.draw,
	}
	if cutting {
		ch.Name, ch.Title = s.first.stem("cuts"), "What cut connections cost"
	}
	return ch
}

func barOf(row int, strategy string, n, of int) mark {
	share := 100 * float64(n) / float64(of)
	digits := 0
	if share > 0 && share < 9.95 {
		digits = 1
	}
	return mark{row: row, strategy: strategy, point: point{y: share}, label: decimal(math.Max(share, 0), digits), strong: n > 0}
}
