package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/bench/model"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// warmUpDelay is long enough for each strategy to come to its first poll, and so to use all that a load uses.
const warmUpDelay = 600 * time.Millisecond

// fewPanels is how many panels are enough where nothing has only just started.
func fewPanels(atOnce int) int {
	const enough = 4
	if atOnce > 0 {
		return min(enough, atOnce)
	}
	return enough
}

// warmUpPayload is small enough for the slowest network.
const warmUpPayload = 2 << 10

// A Java server that has only just started is slow for its first hundreds of searches, until what they use is compiled.
const (
	javaSearches = 800
	javaPanels   = 50
	javaRounds   = 4
)

// effort is how many rounds of how many panels each variant is warmed up with: no more than the server executes or may get.
func (b *Backend) effort(variants int) (rounds, panels int) {
	few := fewPanels(b.atOnce)
	if b.started == nil {
		return 1, few
	}
	panels = javaPanels
	if b.atOnce > 0 {
		panels = min(panels, b.atOnce/variants)
	}
	panels = max(few, panels)
	return max(1, min(javaRounds, javaSearches/(panels*variants))), panels
}

// warmUp plays each variant once, or against a server just started some times, at each dashboard server, a little apart, and keeps nothing. A failure ends the run, which would
// only fail more often; but not where the scenario asks for failures. Servers that are far from each other are connected before.
func warmUp(ctx context.Context, o Options) error {
	asked := o.Scenario
	if n := o.Backend.distant(asked); n > 0 {
		if err := o.Backend.site.Connect(ctx, n); err != nil && ctx.Err() == nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	rounds, panels := o.Backend.effort(len(asked.Variants()))
	s := warming(asked, panels)
	var all []warmUpLoad
	for _, v := range s.Variants() {
		for server := range o.Backend.entrances[v.Path.String()].dashboards {
			all = append(all, warmUpLoad{v, server})
		}
	}
	for range rounds {
		for some := range slices.Chunk(all, together(len(all), panels, o.Backend.atOnce)) {
			if err := warmUpWith(ctx, o, s, some); err != nil {
				return errors.Join(o.Backend.ended(ctx), err)
			}
		}
	}
	return nil
}

// warming is the scenario that is played to warm up for another.
func warming(asked scenario.Scenario, panels int) scenario.Scenario {
	s := asked
	s.Groups = []scenario.Group{{Panels: panels, Delay: clock.Seconds{Duration: warmUpDelay}}}
	s.Tabs, s.Bystanders, s.Payload = scenario.Tabs{}, nil, min(asked.Payload, warmUpPayload)
	s.SearchTimeout.Duration = warmUpDelay + 10*Options{Scenario: asked}.lead()
	return s
}

// together is how many loads are played at a time, so that no more searches run at once than may. 0 is no limit.
func together(loads, panels, atOnce int) int {
	if atOnce > 0 {
		return min(loads, atOnce/panels)
	}
	return loads
}

// warmUpLoad is one variant at one of its path's dashboard servers.
type warmUpLoad struct {
	scenario.Variant
	server int
}

// warmUpWith plays some loads of a scenario once, side by side. Trouble is expected where it was asked for.
func warmUpWith(ctx context.Context, o Options, s scenario.Scenario, some []warmUpLoad) error {
	asked := o.Scenario
	var loads sync.WaitGroup
	var mu sync.Mutex
	var failed error
	start := o.Clock.Now().Add(lead)
	for _, one := range some {
		v := one.Variant
		calm, _ := model.Expects(asked, v)
		troubled := !calm || v.Path.IdleTimeout.Duration > 0
		t := plan.Trial{Trial: one.server, Strategy: v.Strategy, Protocol: v.Protocol, Topology: v.Path.String(), Repeat: 1}
		intended := start
		start = start.Add(plan.MinSpacing)
		loads.Go(func() {
			r := &runner{Options: o, epoch: intended.Add(-lead), monitor: &Monitor{}}
			r.Scenario = s
			err := browser.Guard(func() error {
				seen, err := r.load(ctx, t, intended)
				if err == nil && seen.Outcome != record.OK {
					err = cmp.Or(o.Backend.indexGone(seen.FirstError()), errors.New(seen.FirstError()))
				}
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil && failed == nil && (!troubled || panicked(err)) {
				failed = fmt.Errorf("warm up with %s over %s, %s: %w", t.Strategy, t.Protocol, t.Topology, err)
			}
		})
	}
	loads.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return failed
}
