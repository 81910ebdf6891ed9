// Package plan turns a scenario into the list of its trials, each with its intended start.
//
// All trials run at once, for they do nothing but wait. Order and distance of the starts matter all the same: started in one
// instant, hundreds of dashboards measure the CPU and not the strategies. So the longest delay starts first, that the run may last
// little longer than its longest load; within one delay, strategies, protocols and repeats are shuffled by the seed, so
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
	Repeat   int               `json:"repeat"` // from 1
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
	delays := slices.Clone(s.Sweep())
	slices.SortStableFunc(delays, func(a, b clock.Seconds) int {
		return cmp.Or(cmp.Compare(s.Ideal(b).Duration, s.Ideal(a).Duration), cmp.Compare(b.Duration, a.Duration))
	})
	for _, swept := range delays {
		var block []Trial
		for _, st := range s.Strategies {
			for _, protocol := range s.Protocols {
				for repeat := 1; repeat <= s.Repeats; repeat++ {
					block = append(block, Trial{
						Swept: swept, Delay: s.Ideal(swept), Strategy: st.Name, Protocol: protocol, Repeat: repeat,
					})
				}
			}
		}
		random.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		p.Trials = append(p.Trials, block...)
	}
	for i := range p.Trials {
		p.Trials[i].Trial = i
		if !o.Alone {
			p.Trials[i].Start.Duration = time.Duration(i) * spacing
		}
	}
	return p
}
