package run

import (
	"errors"
	"fmt"
	"slices"

	"pollbench/bench/plan"
	"pollbench/bench/scenario"
)

// Plays tells why the scenario cannot be played against the target, as far as that can be known without asking it.
func (t Target) Plays(s scenario.Scenario) error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("scenario %s: "+format, append([]any{s.Name}, args...)...))
	}
	switch {
	case !s.Faulty():
	case !t.embedded():
		add("only the embedded Elasticsearch makes faults: leave fault out, or take the embedded backend")
	case t.DelayBy == ByGate:
		add("behind a delay gate faults would come at other requests, for it asks more often than the browser does: leave one of them out")
	}
	if t.DelayBy == ByGate && s.SearchPool > 0 {
		add("behind a delay gate a delayed search holds no thread of the server, so that none queues: leave search_pool or the gate out")
	}
	if n := plan.Load(s); t.Begin != nil && s.SearchPool == 0 && n > maxThreads {
		add("a load of %d searches needs as many search threads, and no machine has more than %d: take fewer panels or tabs", n, maxThreads)
	}
	if n, limit := plan.Load(s), t.limit(); limit > 0 && n > limit {
		add("a load has %d searches, and no more than %d are allowed at once: allow more with --max-searches, or take fewer --panels or tabs", n, limit)
	}
	if !t.Dashboard.Given() {
		return errors.Join(errs...)
	}
	if s.SearchPool > 0 && !t.Elasticsearch.Given() {
		add("search_pool: nobody knows how many search threads there are behind a dashboard server: give its Elasticsearch's address too")
	}
	if t.Dashboard.url().Scheme == "http" && slices.Contains(s.Protocols, scenario.H2) {
		add("without TLS browsers speak HTTP/1.1 only: take --protocols http1, or give the dashboard server's address with https")
	}
	if slices.ContainsFunc(s.Paths(), scenario.Path.HasEdge) {
		add("no edge stands in front of a dashboard server that runs already: give the edge's address as that of the dashboard server, and topology direct")
	}
	for _, n := range s.Networks {
		if !n.BehindEdge.Perfect() || !n.Elasticsearch.Perfect() {
			add("network %s: of a dashboard server that runs already only the last_hop is in our hands", n.Name)
		}
	}
	if s.KeepOnDisconnect {
		add("on_disconnect: keep is a matter of the dashboard server, and this one runs already")
	}
	return errors.Join(errs...)
}

func (t Target) embedded() bool { return t.Begin == nil && t.ours() }
