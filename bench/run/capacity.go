package run

import (
	"fmt"
	"strconv"

	"pollbench/bench/plan"
	"pollbench/bench/scenario"
	"pollbench/fixtures/probe"
)

const (
	// mostThreads is how many search threads an Elasticsearch is given that is started for a run: a delayed search holds one, and with a thousand a node takes
	// some 700 MB. What does not fit is played in waves.
	mostThreads = 1000
	// unknown is how many searches a server gets at once of whose search pool nothing is known.
	unknown = 50
	// maxThreads is where a machine gives up.
	maxThreads = 5000
	// leastQueue is Elasticsearch's own.
	leastQueue = 1000
)

// size is what the scenario needs of an Elasticsearch that is started for it.
func size(s scenario.Scenario) Size {
	if s.SearchPool > 0 {
		return Size{SearchThreads: s.SearchPool, QueueSize: max(leastQueue, plan.Load(s))}
	}
	return Size{SearchThreads: max(plan.Load(s), min(plan.All(s), mostThreads)), QueueSize: leastQueue}
}

// room is how many searches, each of that many shards, the pool executes at once; 0: any number.
func room(pool *probe.SearchPool, shards int) int {
	if pool == nil || pool.Size == probe.Unlimited {
		return 0
	}
	return max(1, pool.Size/max(1, shards))
}

// limit is how many searches there may be at once, whatever the server could execute; 0: any number.
func (t Target) limit() int {
	if t.AtOnce == 0 && t.Dashboard.Given() && !t.Elasticsearch.Given() {
		return unknown
	}
	return t.AtOnce
}

// fits refuses a scenario of which a single load has more searches than the server executes at once, unless it is about that. That it has no more than are
// allowed is known before: see [Target.Plays].
func (b *Backend) fits(s scenario.Scenario) error {
	n, room := plan.Load(s), b.atOnce
	if limit := b.target.limit(); limit > 0 && (room == 0 || limit < room) {
		b.atOnce = limit
	}
	if room == 0 || n <= room || s.SearchPool > 0 {
		return nil
	}
	return fmt.Errorf("a load of %s has %d searches, and the server executes %d at once: the others would queue there, and the queue would be measured. "+
		"Give it more search threads (thread_pool.search.size), take fewer --panels, or say search_pool: %d in the scenario to measure just that",
		s.Name, n, room, room)
}

// queues refuses a scenario about a search pool of another size than the server has.
func (b *Backend) queues(s scenario.Scenario) error {
	if s.SearchPool == 0 || b.atOnce == s.SearchPool {
		return nil
	}
	has := "any number"
	if b.atOnce > 0 {
		has = strconv.Itoa(b.atOnce)
	}
	return fmt.Errorf("%s is about a server that executes %d searches at once, and this one executes %s: give it so many search threads (thread_pool.search.size), or change search_pool in the scenario",
		s.Name, s.SearchPool, has)
}
