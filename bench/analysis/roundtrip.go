package analysis

import (
	"cmp"
	"time"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// hop is what a browser has in front of it: a protocol, over the path of that name.
type hop struct {
	protocol scenario.Protocol
	topology string
}

// topologyOf is the name of the path that a trial went over; trials leave it out if it is direct.
func topologyOf(name string) string {
	if name == "" {
		return string(scenario.Direct)
	}
	return name
}

// roundTrips is, by hop, the median time of a request less the time for which the server was free to hold it: what a poll costs
// when nothing is waited for. The model is given it.
func roundTrips(trials []record.Trial) map[hop]time.Duration {
	seen := map[hop][]float64{}
	for _, t := range trials {
		at := hop{t.Protocol, topologyOf(t.Topology)}
		for _, s := range t.Searches {
			for _, r := range s.Requests {
				if rtt, ok := roundTrip(s, r); ok {
					seen[at] = append(seen[at], float64(rtt))
				}
			}
		}
	}
	medians := map[hop]time.Duration{}
	for at, values := range seen {
		medians[at] = time.Duration(*median(values)) * time.Microsecond
	}
	return medians
}

// roundTrip of one request. An answer that the search still runs was held for the whole wait, and one that carries the result of a search
// started by the same request for as long as the server had the search, from accepting it on if that is told apart from its start. Of a long poll that was released nobody knows how long it was held, and an answer
// that failed need not have come the whole way.
func roundTrip(s record.Search, r record.Request) (record.Time, bool) {
	began := cmp.Or(s.Accepted, s.Start)
	switch took := r.Done - r.Slot; {
	case r.Done == 0 || r.Status != 200 || r.Error != "" || r.Resent:
		return 0, false
	case r.Running:
		return took - record.Time(r.Wait.Duration/time.Microsecond), true
	case began >= r.Slot:
		return took - (s.Ready - began), true
	default:
		return 0, false
	}
}

// tripNames are the round trips under the names that the document has for them: the protocol where every load is direct, else protocol and topology.
func tripNames(s scenario.Scenario, trips map[hop]time.Duration) map[string]float64 {
	paths := s.Paths()
	direct := len(paths) == 1 && paths[0].String() == string(scenario.Direct)
	named := map[string]float64{}
	for at, rtt := range trips {
		name := string(at.protocol)
		if !direct {
			name += " " + at.topology
		}
		named[name] = rtt.Seconds()
	}
	return named
}
