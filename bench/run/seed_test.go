package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// The seed decides on each hop how late packets are and when connections are cut: with the same one two runs are alike to the microsecond, with another they
// are not. One panel, which polls every 0.3 s over one connection: with more, chance has a say in which of them is the first to connect.
func TestSeedReachesTheNetworks(t *testing.T) {
	trouble := scenario.Conditions{RTT: ms(40), Jitter: ms(30), Cut: 0.3}
	for hop, n := range map[string]scenario.Network{
		"last hop":      {Name: "bad", LastHop: trouble},
		"behind edge":   {Name: "bad", BehindEdge: trouble},
		"elasticsearch": {Name: "bad", Elasticsearch: trouble},
	} {
		s := scenario.Scenario{
			Name: "seeded", Groups: []scenario.Group{{Name: "slow", Panels: 1, Delay: ms(6130)}}, Base: "no-backoff",
			Protocols: []scenario.Protocol{scenario.HTTP1}, Browser: scenario.Browser{HTTP1Connections: 1},
			Repeats: 1, Networks: []scenario.Network{n}, KeepOnDisconnect: true,
		}
		s.Strategies = append(s.Strategies, retrying("no-backoff", 9))
		s.Strategies[0].Name = "no-backoff" // the base
		if hop == "behind edge" {
			s.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(20_000)}}
		}
		var seen [][]string
		for _, seed := range []uint64{8, 8, 7} {
			s.Seed = seed
			seen = append(seen, timesOf(t, s))
		}
		if !slices.Equal(seen[0], seen[1]) {
			t.Errorf("%s: two runs of one seed differ:\n%v\n%v", hop, seen[0], seen[1])
		}
		if slices.Equal(seen[0], seen[2]) {
			t.Errorf("%s: another seed changes nothing: %v", hop, seen[0])
		}
		if last := seen[0][len(seen[0])-1]; hop == "last hop" && !strings.Contains(last, " on 2") {
			t.Errorf("nothing was cut, so that the cuts have not been compared: %s", last)
		}
	}
}

// timesOf plays the scenario and lists the times of its requests, since the load's start.
func timesOf(t *testing.T, s scenario.Scenario) (all []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		trials, err := play(t.Context(), t, s, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range trials {
			at := func(instant record.Time) record.Time { return instant - seen.Intended }
			for _, r := range seen.Searches[0].Requests {
				all = append(all, fmt.Sprintf("%d %d %d %d: %d, sent again %v, on %d", at(r.Queued), at(r.Sent), at(r.FirstByte), at(r.Done), r.Status, r.Resent, r.Connection))
			}
		}
	})
	return all
}
