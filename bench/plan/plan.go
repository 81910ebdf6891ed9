// Package plan turns a scenario into the list of its trials, each with its intended start.
//
// All trials run at once, for they do nothing but wait. Order and distance of the starts matter all the same: started in one
// instant, hundreds of dashboards measure the CPU and not the strategies. So the longest delay starts first, that the run may last
// little longer than its longest load; within one delay, strategies, protocols, paths and repeats are shuffled by the seed, so
// that nothing that drifts on the machine favours one of them; and starts keep a distance.
//
// A server that executes only so many searches at once would have the others queue, and the queue would be measured. For it the trials come in
// waves: see [Options].
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
	// RealSpacing is the distance on a real Elasticsearch, which takes a millisecond or two of a processor for what the embedded one does in a twentieth of that: ten
	// panels that are asked for at once keep two cores busy for about 15 ms, and so does their end.
	RealSpacing = 100 * time.Millisecond
)

// Plan is every trial of a run, in the order in which they start.
type Plan struct {
	Seed    uint64        `json:"seed"`
	Spacing clock.Seconds `json:"spacing_s"`
	// Alone runs one load at a time: a trial starts when the one before has ended, and intended starts do not count. So it is where searches are to queue on
	// the server: there every load needs a pool for itself.
	Alone bool `json:"alone"`
	// AtOnce is how many searches the server executes at once, as far as this plan goes; zero: as many as it is asked for. No wave has more.
	AtOnce int     `json:"at_once,omitempty"`
	Trials []Trial `json:"trials"`
}

// Trial is one dashboard load to come.
type Trial struct {
	Trial    int               `json:"trial"`          // its number, from 0
	Wave     int               `json:"wave,omitempty"` // from 1, where there are several
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
	// AtOnce is how many searches the server executes at once; zero: as many as it is asked for. Where the plan has more, it has them in waves: a wave
	// starts when the searches of the one before are done. It takes in whole repeats as far as it can, then whole dashboards, so that what is compared
	// stands side by side. A single load that has more than that queues on the server all the same: see [Load].
	AtOnce int
	// Busy is for how long after its start a load has searches at work on the server. nil: its longest delay, from the start of its last tab.
	Busy func(Trial) time.Duration
}

// Load is how many searches the largest single load of the scenario has, in all its tabs.
func Load(s scenario.Scenario) int {
	var panels int
	for _, g := range s.Groups {
		panels += g.Panels
	}
	return panels * s.Tabs.Number()
}

// Repeat is how many searches one repeat of the whole scenario has.
func Repeat(s scenario.Scenario) int { return Load(s) * len(s.Sweep()) * len(s.Variants()) }

// All is how many searches the whole scenario has.
func All(s scenario.Scenario) int { return Repeat(s) * s.Repeats }

// pause is kept between the last search of a wave and the first of the next: what a server needs for a search beyond its delay.
const pause = time.Second

// New arranges the scenario's trials.
func New(s scenario.Scenario, o Options) Plan {
	spacing := max(cmp.Or(o.Spacing, DefaultSpacing), MinSpacing)
	o.Alone = o.Alone || s.SearchPool > 0
	p := Plan{Seed: s.Seed, Spacing: clock.Seconds{Duration: spacing}, Alone: o.Alone, AtOnce: o.AtOnce}
	atOnce := o.AtOnce
	if atOnce == 0 || o.Alone || All(s) <= atOnce {
		atOnce = 0 // they all go at once, or one by one
	}
	random := rand.New(rand.NewPCG(s.Seed, s.Seed))
	w := waves{most: atOnce, load: Load(s), spacing: spacing, busy: o.Busy}
	if w.busy == nil {
		w.busy = func(t Trial) time.Duration { return s.Tabs.Start(s.Tabs.Number()-1) + t.Delay.Duration }
	}
	repeat := 0
	for _, b := range blocks(s, atOnce > 0) {
		if b.repeat != repeat {
			repeat = b.repeat
			w.open(Repeat(s) / w.load)
		}
		random.Shuffle(len(b.trials), func(i, j int) { b.trials[i], b.trials[j] = b.trials[j], b.trials[i] })
		w.open(len(b.trials))
		for _, t := range b.trials {
			t.Trial = len(p.Trials)
			if !o.Alone {
				t.Start.Duration, t.Wave = w.start(t)
			}
			p.Trials = append(p.Trials, t)
		}
	}
	return p
}

// block is the trials of one dashboard: one value of the sweep and, where delays are drawn or loads come in waves, one repeat.
type block struct {
	swept, ideal clock.Seconds
	repeat       int // 0: all of them
	trials       []Trial
}

// blocks are ordered by how long their loads take, the longest first; if they come in waves, by repeats before that.
func blocks(s scenario.Scenario, inWaves bool) []*block {
	var all []*block
	for _, swept := range s.Sweep() {
		var b *block
		for repeat := 1; repeat <= s.Repeats; repeat++ {
			if b == nil || inWaves || s.Drawn() {
				b = &block{swept: swept, ideal: s.Longest(swept, repeat)}
				if inWaves {
					b.repeat = repeat
				}
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
		return cmp.Or(cmp.Compare(a.repeat, b.repeat), cmp.Compare(b.ideal.Duration, a.ideal.Duration), cmp.Compare(b.swept.Duration, a.swept.Duration))
	})
	return all
}
