// Package model plays a dashboard load in virtual time: the same strategies and the same rules for connection slots as the
// virtual browser, no network, no machine. What comes out is the expectation that stands beside each measurement.
//
// The servers of the model are ideal. A search starts when its request arrives and is ready exactly its delay later; a request
// that may be held is answered at that instant or when its wait is over; everything else is answered at once. Every
// request takes the same round trip, half of it each way. The browser is faithful: requests queue first in first out for the slots
// of HTTP/1.1 or the streams of h2, and elapsed time is counted from when the page asked for the search.
//
// Model and run share the strategy, so that their agreement cannot show that a strategy is the right one: its ticks are tested apart.
package model

import (
	"container/heap"
	"slices"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// Load is one dashboard load in virtual time, counted from the instant at which the page asks for its panels.
type Load struct {
	Panels     []Panel
	Bystanders []time.Duration // latency of each, from its intended start
}

// Panel is what became of one panel's search.
type Panel struct {
	Group            int
	Delay            time.Duration
	Start, Delivered time.Duration // of the search on the server; of its result in the browser
	Requests         int
}

// Wasted is all the panel's time but the search's own.
func (p Panel) Wasted() time.Duration { return p.Delivered - p.Delay }

// Time is the load time: the last panel's delivery.
func (l Load) Time() time.Duration {
	var last time.Duration
	for _, p := range l.Panels {
		last = max(last, p.Delivered)
	}
	return last
}

// Wasted lists the panels' wasted times, in the order of the panels.
func (l Load) Wasted() []time.Duration {
	wasted := make([]time.Duration, len(l.Panels))
	for i, p := range l.Panels {
		wasted[i] = p.Wasted()
	}
	return wasted
}

// Simulate plays one load of the scenario's dashboard, with that delay for the swept group.
func Simulate(s scenario.Scenario, swept clock.Seconds, st strategy.Strategy, protocol scenario.Protocol, rtt time.Duration) Load {
	page := &page{strategy: st, rtt: rtt, free: s.Browser.H2Streams}
	if protocol == scenario.HTTP1 {
		page.free = s.Browser.HTTP1Connections
	}
	for _, p := range s.Panels(swept) {
		page.panels = append(page.panels, Panel{Group: p.Group, Delay: p.Delay.Duration})
	}
	page.waiting = len(page.panels)
	for i := range page.panels {
		page.queue(func() { page.submit(i) })
	}
	if s.Bystanders != nil {
		every := s.Bystanders.Every.Duration
		page.at(every, func() { page.bystander(every) })
	}
	page.run()
	return Load{Panels: page.panels, Bystanders: page.bystanders}
}

// page is the browser's side of a load.
type page struct {
	events
	strategy strategy.Strategy
	rtt      time.Duration

	panels     []Panel
	waiting    int // panels not delivered yet
	bystanders []time.Duration

	free   int      // slots that nobody holds
	queued []func() // requests waiting for one, first in first out
}

// queue gives send a slot, now or when its turn comes. Whoever sent gives the slot back.
func (p *page) queue(send func()) {
	if p.free == 0 {
		p.queued = append(p.queued, send)
		return
	}
	p.free--
	send()
}

func (p *page) release() {
	if len(p.queued) == 0 {
		p.free++
		return
	}
	next := p.queued[0]
	p.queued = p.queued[1:]
	next()
}

func (p *page) submit(i int) {
	panel := &p.panels[i]
	panel.Start = p.now + p.rtt/2
	wait := p.strategy.Next(strategy.State{}).Wait
	if p.strategy.Sync {
		wait = panel.Delay
	}
	p.exchange(i, wait)
}

// exchange sends a request that the server may hold for wait, and goes on from its answer.
func (p *page) exchange(i int, wait time.Duration) {
	panel := &p.panels[i]
	panel.Requests++
	arrival, ready := p.now+p.rtt/2, panel.Start+panel.Delay
	answer := min(max(arrival, ready), arrival+wait)
	p.at(answer+p.rtt-p.rtt/2, func() {
		p.release()
		p.answered(i, answer >= ready)
	})
}

func (p *page) answered(i int, done bool) {
	panel := &p.panels[i]
	next := p.strategy.Next(strategy.State{Elapsed: p.now, Attempt: panel.Requests, Done: done})
	if next.Stop {
		panel.Delivered = p.now
		p.waiting--
		return
	}
	wait := next.Wait
	if p.strategy.Poll == strategy.ByStatus {
		wait = 0 // a status is never held, and what follows it asks for a result that is there
	}
	p.at(p.now+next.Sleep, func() {
		p.queue(func() { p.exchange(i, wait) })
	})
}

// bystander sends a small request and plans the next, as long as the page loads.
func (p *page) bystander(every time.Duration) {
	if p.waiting == 0 {
		return
	}
	intended := p.now
	p.queue(func() {
		p.at(p.now+p.rtt, func() {
			p.release()
			p.bystanders = append(p.bystanders, p.now-intended)
		})
	})
	p.at(p.now+every, func() { p.bystander(every) })
}

// events is virtual time: what is planned happens in order of time, and of planning where times are equal.
type events struct {
	now     time.Duration
	planned agenda
	count   int
}

func (e *events) at(t time.Duration, f func()) {
	e.count++
	heap.Push(&e.planned, event{t, e.count, f})
}

func (e *events) run() {
	for len(e.planned) > 0 {
		next := heap.Pop(&e.planned).(event)
		e.now = next.at
		next.f()
	}
}

type event struct {
	at    time.Duration
	order int
	f     func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = slices.Delete(*a, len(*a)-1, len(*a))
	return last
}
