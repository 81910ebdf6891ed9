package analysis

import (
	"time"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// roundTrips is, by protocol, the median time of a request less the time for which the server was free to hold it: what a poll costs
// when nothing is waited for. The model is given it.
func roundTrips(trials []record.Trial) map[scenario.Protocol]time.Duration {
	seen := map[scenario.Protocol][]float64{}
	for _, t := range trials {
		for _, s := range t.Searches {
			for _, r := range s.Requests {
				if rtt, ok := roundTrip(s, r); ok {
					seen[t.Protocol] = append(seen[t.Protocol], float64(rtt))
				}
			}
		}
	}
	medians := map[scenario.Protocol]time.Duration{}
	for protocol, values := range seen {
		medians[protocol] = time.Duration(*median(values)) * time.Microsecond
	}
	return medians
}

// roundTrip of one request. An answer that the search still runs was held for the whole wait, and one that carries the result of a search
// started by the same request for as long as the search took. Of a long poll that was released nobody knows how long it was held.
func roundTrip(s record.Search, r record.Request) (record.Time, bool) {
	switch took := r.Done - r.Slot; {
	case r.Done == 0 || r.Status != 200:
		return 0, false
	case r.Running:
		return took - record.Time(r.Wait.Duration/time.Microsecond), true
	case s.Start >= r.Slot:
		return took - (s.Ready - s.Start), true
	default:
		return 0, false
	}
}
