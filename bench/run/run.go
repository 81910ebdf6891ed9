// Package run plays a plan: it starts the servers, opens a page for each trial at its time, and hands every observation on as soon
// as it is complete. It is the only part of the program that touches the network.
//
// All trials run at once, each a page that mostly waits. What takes the processor is kept away from what is measured: a few loads that nobody
// records warm the program up, and pages are opened ahead, most of them before the first load starts. While it runs it
// watches itself: see [Monitor].
package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// Pages that start within the horizon are opened before the first of them does: thousands of TLS handshakes beside the loads would take
// a core for themselves. The horizon bounds how many stand open and wait. Later pages are opened a lead before their start.
const (
	horizon = 15 * time.Second
	lead    = 500 * time.Millisecond
)

// Options say what to play and where the outcome goes.
type Options struct {
	Scenario scenario.Scenario
	Plan     plan.Plan
	Clock    clock.Clock
	Backend  *Backend
	// Record takes each observation, one at a time, as trials end.
	Record func(record.Trial) error
	// Progress, if set, is told of each change; it must return at once.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Began    time.Time // the first intended start
	Planned  int
	InFlight int
	Done     int // failed ones included
	Failed   int
}

// Run plays the plan to its end or to the context's. Trials that the context cuts off are not recorded; the error is then the
// context's. Every other error means that observations could not be kept.
func Run(ctx context.Context, o Options) error {
	if err := warmUp(ctx, o); err != nil {
		return err
	}
	r := &runner{Options: o, epoch: o.Clock.Now(), open: map[int]*browser.Page{}}
	defer r.closePages()
	if !o.Plan.Alone {
		r.openAhead(ctx)
	}
	runtime.GC() // what opening has left behind is cleared away now, not beside the first loads
	r.monitor = NewMonitor(o.Clock)
	defer r.monitor.Stop()
	first := o.Clock.Now().Add(2 * lead)
	r.progress = Progress{Began: first, Planned: len(o.Plan.Trials)}
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	if o.Plan.Alone {
		for _, t := range o.Plan.Trials {
			r.trial(ctx, t, o.Clock.Now().Add(lead))
		}
	} else {
		var trials sync.WaitGroup
		for _, t := range o.Plan.Trials {
			trials.Go(func() { r.trial(ctx, t, first.Add(t.Start.Duration)) })
		}
		trials.Wait()
	}
	return context.Cause(ctx)
}

type runner struct {
	Options
	epoch   time.Time // lies before every instant that is recorded
	monitor *Monitor
	stop    context.CancelCauseFunc

	mu       sync.Mutex
	progress Progress
	open     map[int]*browser.Page // by trial, until its load takes it
}

// openAhead opens the pages within the horizon, a few at a time. One that cannot be opened is tried again when its time has come.
func (r *runner) openAhead(ctx context.Context) {
	var opening sync.WaitGroup
	turns := make(chan struct{}, 2*runtime.NumCPU())
	for _, t := range r.Plan.Trials {
		if t.Start.Duration > horizon || ctx.Err() != nil {
			break
		}
		turns <- struct{}{}
		opening.Go(func() {
			defer func() { <-turns }()
			if page, err := r.page(ctx, t); err == nil {
				r.mu.Lock()
				r.open[t.Trial] = page
				r.mu.Unlock()
			}
		})
	}
	opening.Wait()
}

// page is the trial's page: the one that was opened ahead, or a new one.
func (r *runner) page(ctx context.Context, t plan.Trial) (*browser.Page, error) {
	r.mu.Lock()
	page := r.open[t.Trial]
	delete(r.open, t.Trial)
	r.mu.Unlock()
	if page != nil {
		return page, nil
	}
	page = browser.New(r.Backend.page(r.Options, t, r.epoch))
	if !r.Scenario.Cold {
		if err := page.Connect(ctx); err != nil {
			page.Close()
			return nil, err
		}
	}
	return page, nil
}

// closePages closes what a run that ended early has not used.
func (r *runner) closePages() {
	for _, page := range r.open {
		page.Close()
	}
}

// trial plays one load at the intended instant and records it.
func (r *runner) trial(ctx context.Context, t plan.Trial, intended time.Time) {
	if clock.SleepUntil(ctx, r.Clock, intended.Add(-lead)) != nil {
		return
	}
	r.report(func(p *Progress) { p.InFlight++ })
	seen, err := r.load(ctx, t, intended)
	if ctx.Err() != nil {
		r.report(func(p *Progress) { p.InFlight-- })
		return
	}
	if err != nil {
		r.monitor.Dropped()
		seen = record.Trial{Outcome: record.Failed, Error: err.Error(), Intended: r.time(intended), Started: r.time(r.Clock.Now())}
	}
	seen.Trial, seen.Swept, seen.Strategy, seen.Protocol, seen.Repeat = t.Trial, t.Swept, t.Strategy, t.Protocol, t.Repeat
	r.keep(seen)
}

func (r *runner) load(ctx context.Context, t plan.Trial, intended time.Time) (record.Trial, error) {
	page, err := r.page(ctx, t)
	if err != nil {
		return record.Trial{}, err
	}
	defer page.Close()
	seen, err := page.Load(ctx, intended, dashboard(r.Scenario, t))
	if err == nil {
		r.monitor.Started(time.Duration(seen.Started-seen.Intended) * time.Microsecond)
	}
	return seen, err
}

// keep records one observation; when that fails, the run cannot go on.
func (r *runner) keep(t record.Trial) {
	t.Health = r.monitor.Health()
	r.mu.Lock()
	err := r.Record(t)
	r.mu.Unlock()
	if err != nil {
		r.stop(err)
	}
	r.report(func(p *Progress) {
		p.InFlight--
		p.Done++
		if t.Outcome != record.OK {
			p.Failed++
		}
	})
}

func (r *runner) report(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
	if r.Progress != nil {
		r.Progress(r.progress)
	}
}

func (r *runner) time(t time.Time) record.Time {
	return record.Time(t.Sub(r.epoch) / time.Microsecond)
}

// dashboard is what the page of a trial loads.
func dashboard(s scenario.Scenario, t plan.Trial) browser.Dashboard {
	st, _ := s.Strategy(t.Strategy) // the plan was made from this scenario
	d := browser.Dashboard{Payload: s.Payload, Strategy: st, Bystanders: s.Bystanders}
	for _, p := range s.Panels(t.Swept) {
		d.Panels = append(d.Panels, browser.Panel{Group: s.Groups[p.Group].Name, Delay: p.Delay})
	}
	return d
}

// warmUpDelay is long enough for each strategy to come to its first poll, and so to use all that a load uses.
const warmUpDelay = 600 * time.Millisecond

// warmUp plays each variant once against each dashboard server, one variant after the other, and keeps nothing.
func warmUp(ctx context.Context, o Options) error {
	s := o.Scenario
	s.Groups = []scenario.Group{{Panels: 4, Delay: clock.Seconds{Duration: warmUpDelay}}}
	var loads sync.WaitGroup
	var mu sync.Mutex
	var failed error
	start := o.Clock.Now().Add(lead)
	for _, st := range s.Strategies {
		for _, protocol := range s.Protocols {
			for server := range o.Backend.Dashboards() {
				each := o.Backend.perRepeat
				t := plan.Trial{Trial: server % each, Strategy: st.Name, Protocol: protocol, Repeat: server/each + 1}
				intended := start
				start = start.Add(plan.MinSpacing)
				loads.Go(func() {
					r := &runner{Options: o, epoch: intended.Add(-lead), monitor: &Monitor{}}
					r.Scenario = s
					seen, err := r.load(ctx, t, intended)
					if err == nil && seen.Outcome != record.OK {
						err = errors.New(seen.FirstError())
					}
					mu.Lock()
					defer mu.Unlock()
					if err != nil && failed == nil {
						failed = fmt.Errorf("warm up with %s over %s: %w", t.Strategy, t.Protocol, err)
					}
				})
			}
		}
	}
	loads.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return failed
}
