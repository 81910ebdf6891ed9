// Package plan turns a scenario into the list of its trials, each with its intended start.
//
// All trials run at once, for they do nothing but wait. Order and distance of the starts matter all the same: started in one
// instant, hundreds of dashboards measure the CPU and not the strategies. So the longest delay starts first, that the run may last
// little longer than its longest load; within one delay, strategies, protocols, paths and repeats are shuffled by the seed, so
// that nothing that drifts on the machine favours one of them; and starts keep a distance.
//
// A plan is data: the same scenario and seed give the same plan, and it is kept in the result.
package plan

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
)

const (
	// MinSpacing is the least distance between two starts.
	MinSpacing = 10 * time.Millisecond
	// DefaultSpacing is the distance if nobody asks for another. Wider is calmer; but the full matrix has 84 loads that take nearly as
	// long as its longest, and all of them should start within a few percent of that.
	DefaultSpacing = 22 * time.Millisecond
)

// Plan is every trial of a run, in the order in which they start.
type Plan struct {
	Seed    uint64        `json:"seed"`
	Spacing clock.Seconds `json:"spacing_s"`
	// Alone runs one load at a time: a trial starts when the one before has ended, and intended starts do not count.
	Alone  bool    `json:"alone"`
	Trials []Trial `json:"trials"`
}

// Trial is one dashboard load to come.
type Trial struct {
	Trial    int               `json:"trial"` // its number, from 0
	Start    clock.Seconds     `json:"start_s"`
	Swept    clock.Seconds     `json:"swept_s,omitzero"` // delay of the swept group's panels
	Delay    clock.Seconds     `json:"delay_s"`          // the longest of the dashboard
	Strategy string            `json:"strategy"`
	Protocol scenario.Protocol `json:"protocol"`
	Topology string            `json:"topology,omitempty"` // the path's name; none: direct
	Repeat   int               `json:"repeat"`             // from 1
}

// Options are the ways to arrange the same trials.
type Options struct {
	Spacing time.Duration // between starts; [DefaultSpacing] if zero, [MinSpacing] if less
	Alone   bool
}

// New arranges the scenario's trials.
func New(s scenario.Scenario, o Options) Plan {
	spacing := max(cmp.Or(o.Spacing, DefaultSpacing), MinSpacing)
	p := Plan{Seed: s.Seed, Spacing: clock.Seconds{Duration: spacing}, Alone: o.Alone}
	random := rand.New(rand.NewPCG(s.Seed, s.Seed))
	for _, b := range blocks(s) {
		random.Shuffle(len(b.trials), func(i, j int) { b.trials[i], b.trials[j] = b.trials[j], b.trials[i] })
		p.Trials = append(p.Trials, b.trials...)
	}
	for i := range p.Trials {
		p.Trials[i].Trial = i
		if !o.Alone {
			p.Trials[i].Start.Duration = time.Duration(i) * spacing
		}
	}
	return p
}

// block is the trials of one dashboard: one value of the sweep and, where delays are drawn, one repeat.
type block struct {
	swept, ideal clock.Seconds
	trials       []Trial
}

// blocks are ordered by how long their loads take, the longest first.
func blocks(s scenario.Scenario) []*block {
	var all []*block
	for _, swept := range s.Sweep() {
		var b *block
		for repeat := 1; repeat <= s.Repeats; repeat++ {
			if b == nil || s.Drawn() {
				b = &block{swept: swept, ideal: s.Longest(swept, repeat)}
				all = append(all, b)
			}
			for _, v := range s.Variants() {
				t := Trial{Swept: swept, Delay: b.ideal, Strategy: v.Strategy, Protocol: v.Protocol, Repeat: repeat}
				if name := v.Path.String(); name != string(scenario.Direct) {
					t.Topology = name
				}
				b.trials = append(b.trials, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *block) int {
		return cmp.Or(cmp.Compare(b.ideal.Duration, a.ideal.Duration), cmp.Compare(b.swept.Duration, a.swept.Duration))
	})
	return all
}
