package analysis

import (
	"fmt"
	"slices"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// unstruck tells of searches that were to go wrong and ended before the request at which they would have: a plain search has none but its first, and who is
// held for long has few. Beside searches that were struck they look like the work of a better strategy.
func unstruck(r record.Result) (w []string) {
	for _, g := range r.Manifest.Scenario.Groups {
		if g.Fault == nil || g.Fault.Kind == scenario.SearchFails {
			continue
		}
		first := 1
		if len(g.Fault.On) > 0 {
			first = slices.Min(g.Fault.On)
		}
		for _, st := range r.Manifest.Scenario.Strategies {
			var all, sound int
			for _, t := range r.Trials {
				for _, x := range t.Searches {
					if t.Strategy != st.Name || x.Group != g.Name {
						continue
					}
					all++
					if x.Outcome == record.OK && asked(x, st) <= first {
						sound++
					}
				}
			}
			if sound > 0 {
				w = append(w, fmt.Sprintf("group %s: with %s, %d of %d %s ended before request %d, where the fault %s would have struck, and count as sound",
					g.Name, st.Name, sound, all, plural(all, "search"), first, g.Fault.Kind))
			}
		}
	}
	return w
}

// asked is how many requests about a finished search Elasticsearch got, the submit included. By status the last poll is two of them.
func asked(x record.Search, st strategy.Strategy) int {
	n := len(x.Requests)
	if n > 1 && st.Poll == strategy.ByStatus {
		n++
	}
	return n
}
