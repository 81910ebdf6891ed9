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
	"pollbench/fixtures/documents"
	"pollbench/fixtures/network"
)

// Pages that start within the horizon are opened before the first of them does: thousands of TLS handshakes beside the loads would take
// a core for themselves. The horizon bounds how many stand open and wait. Later pages are opened a lead before their start.
const (
	horizon = 15 * time.Second
	lead    = 500 * time.Millisecond
	// On a slow network opening a page mostly waits: for TCP, TLS and a first request, a round trip each, and a fourth for jitter. More of them are
	// then opened at once, and sooner.
	roundTrips = 4
	turnEach   = 10 * time.Millisecond
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
// context's. Every other error means that the run could not go on: observations could not be kept, the servers are not what they were, or something has
// panicked, on a goroutine of the run or of its browsers.
func Run(ctx context.Context, o Options) error {
	if err := warmUp(ctx, o); err != nil {
		return o.Backend.target.redactError(err)
	}
	r := &runner{Options: o, epoch: o.Clock.Now(), lead: o.lead(), open: map[int]opened{}}
	defer r.closeAll()
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	if !o.Plan.Alone {
		r.openAhead(ctx)
	}
	runtime.GC() // what opening has left behind is cleared away now, not beside the first loads
	r.monitor = NewMonitor(o.Clock, r.stop)
	defer r.monitor.Stop()
	first := o.Clock.Now().Add(2 * r.lead)
	o.Backend.site.Begin(first) // cuts between the servers count from it
	r.progress = Progress{Began: first, Planned: len(o.Plan.Trials)}
	failed := o.Backend.failed(ctx)
	go func() {
		select {
		case err := <-failed: // every load from now on would fail
			r.stop(err)
		case <-ctx.Done():
		}
	}()
	if o.Plan.Alone {
		for _, t := range o.Plan.Trials {
			r.play(ctx, t, o.Clock.Now().Add(r.lead))
		}
	} else {
		var trials sync.WaitGroup
		for _, t := range o.Plan.Trials {
			trials.Go(func() { r.play(ctx, t, first.Add(t.Start.Duration)) })
		}
		trials.Wait()
	}
	if r.progress.Failed > 0 && context.Cause(ctx) == nil {
		return o.Backend.ended(ctx)
	}
	return context.Cause(ctx)
}

type runner struct {
	Options
	epoch   time.Time     // lies before every instant that is recorded
	lead    time.Duration // for opening a page
	monitor *Monitor
	stop    context.CancelCauseFunc

	mu       sync.Mutex
	progress Progress
	open     map[int]opened // by trial, until its load takes it
}

// opened is a browser with its page open, and the network of its last hop.
type opened struct {
	browser *browser.Browser
	network *network.Link
}

func (o opened) close() {
	o.browser.Close()
	o.network.Close()
}

// lead is how long opening a page may take.
func (o Options) lead() time.Duration { return lead + roundTrips*farthest(o.Scenario) }

// farthest is the longest round trip that any path adds.
func farthest(s scenario.Scenario) time.Duration {
	var far time.Duration
	for _, p := range s.Paths() {
		far = max(far, p.RTT())
	}
	return far
}

// openAhead opens the pages within the horizon, a few at a time. One that cannot be opened is tried again when its time has come.
func (r *runner) openAhead(ctx context.Context) {
	var opening sync.WaitGroup
	turns := make(chan struct{}, 2*runtime.NumCPU()*int(1+(r.lead-lead)/turnEach))
	for _, t := range r.Plan.Trials {
		if t.Start.Duration > r.ahead() || ctx.Err() != nil {
			break
		}
		turns <- struct{}{}
		opening.Go(func() {
			defer func() { <-turns }()
			var o opened
			err := browser.Guard(func() (err error) { o, err = r.take(ctx, t); return err })
			if panicked(err) {
				r.stop(err)
			}
			if err == nil {
				r.mu.Lock()
				r.open[t.Trial] = o
				r.mu.Unlock()
			}
		})
	}
	opening.Wait()
}

// ahead is how far: where a server may get only so many requests a second, no farther than has to be.
func (r *runner) ahead() time.Duration {
	if r.Backend.target.Rate > 0 {
		return r.lead
	}
	return horizon
}

// take gives the trial its browser: the one that was opened ahead, or a new one.
func (r *runner) take(ctx context.Context, t plan.Trial) (opened, error) {
	r.mu.Lock()
	ahead, ok := r.open[t.Trial]
	delete(r.open, t.Trial)
	r.mu.Unlock()
	if ok {
		return ahead, nil
	}
	path, _ := r.Scenario.Path(t.Topology) // the plan was made from this scenario
	var o opened
	o.browser, o.network = r.Backend.entrances[path.String()].open(r.Options, t, r.epoch)
	if !r.Scenario.Cold {
		if err := o.browser.Connect(ctx); err != nil {
			o.close()
			return opened{}, err
		}
	}
	return o, nil
}

// closeAll closes what a run that ended early has not used.
func (r *runner) closeAll() {
	for _, o := range r.open {
		o.close()
	}
}

// play plays one load at the intended instant. When the run cannot go on after it, it ends.
func (r *runner) play(ctx context.Context, t plan.Trial, intended time.Time) {
	if clock.SleepUntil(ctx, r.Clock, intended.Add(-r.lead)) != nil {
		return
	}
	err := browser.Guard(func() error { return r.trial(ctx, t, intended) })
	if panicked(err) {
		err = fmt.Errorf("trial %d: %w", t.Trial, err)
	}
	if err != nil {
		r.stop(err)
	}
}

// trial plays the load and records it.
func (r *runner) trial(ctx context.Context, t plan.Trial, intended time.Time) error {
	r.report(func(p *Progress) { p.InFlight++ })
	seen, err := r.load(ctx, t, intended)
	if panicked(err) {
		return err
	}
	if ctx.Err() != nil {
		r.report(func(p *Progress) { p.InFlight-- })
		return nil
	}
	if err != nil {
		r.monitor.Dropped()
		seen = record.Trial{
			Outcome: record.Failed, Error: err.Error(), Intended: r.time(intended), Started: r.time(r.Clock.Now()), Searches: []record.Search{},
		}
	}
	seen.Trial, seen.Swept, seen.Strategy, seen.Protocol, seen.Topology, seen.Repeat = t.Trial, t.Swept, t.Strategy, t.Protocol, t.Topology, t.Repeat
	return r.keep(seen)
}

func (r *runner) load(ctx context.Context, t plan.Trial, intended time.Time) (record.Trial, error) {
	o, err := r.take(ctx, t)
	if err != nil {
		return record.Trial{}, err
	}
	defer o.close()
	o.network.Start(intended)
	seen, err := o.browser.Load(ctx, intended, r.dashboard(t))
	if err == nil {
		r.monitor.Started(time.Duration(seen.Started-seen.Intended) * time.Microsecond)
	}
	return seen, err
}

// keep records one observation. After an error the run cannot go on.
func (r *runner) keep(t record.Trial) error {
	t.Health = r.monitor.Health()
	r.redact(&t)
	err := r.record(t)
	if err == nil {
		err = r.Backend.indexGone(t.FirstError())
	}
	r.report(func(p *Progress) {
		p.InFlight--
		p.Done++
		if t.Outcome != record.OK {
			p.Failed++
		}
	})
	return err
}

// redact takes credentials out of errors, which quote servers. Loads that went well in the end have some too.
func (r *runner) redact(t *record.Trial) {
	clean := r.Backend.target.redact
	t.Error = clean(t.Error)
	for i := range t.Searches {
		s := &t.Searches[i]
		s.Error = clean(s.Error)
		for j := range s.Requests {
			s.Requests[j].Error = clean(s.Requests[j].Error)
		}
		for j := range s.Ending {
			s.Ending[j].Error = clean(s.Ending[j].Error)
		}
	}
	for i := range t.Bystanders {
		b := &t.Bystanders[i]
		b.Error, b.Request.Error = clean(b.Error), clean(b.Request.Error)
	}
}

func (r *runner) record(t record.Trial) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Record(t)
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

// panicked tells an error that ends the run, where others only fail the load.
func panicked(err error) bool {
	var p *browser.Panic
	return errors.As(err, &p)
}

// dashboard is what each tab of a trial's browser loads.
func (r *runner) dashboard(t plan.Trial) browser.Dashboard {
	s := r.Scenario
	st, _ := s.Strategy(t.Strategy) // the plan was made from this scenario
	path, _ := s.Path(t.Topology)
	d := browser.Dashboard{
		Index: r.Backend.target.indexName(), Hits: documents.Hits(s.Payload), Strategy: st, Bystanders: s.Bystanders, Tabs: s.Tabs, SearchTimeout: s.SearchTimeout.Duration,
		ServerMultiplexes: path.ServerProtocol(t.Protocol) == scenario.H2,
	}
	for _, p := range s.Panels(t.Swept, t.Repeat) {
		g := s.Groups[p.Group]
		d.Panels = append(d.Panels, browser.Panel{Group: g.Name, Delay: p.Delay, Fault: g.Fault})
	}
	return d
}
