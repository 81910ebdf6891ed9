package model

import (
	"slices"
	"time"

	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// browser is the browser's side of a load: the slots, and what is common to its tabs.
type browser struct {
	events
	scenario scenario.Scenario
	variant  scenario.Variant
	strategy strategy.Strategy
	rtt      time.Duration
	fetch    time.Duration // what the dashboard server's second exchange with Elasticsearch adds to a request
	load     Load
	pool     *pool // nil: the server executes every search at once

	free   int       // slots that nobody holds
	queued []*ticket // requests waiting for one, first in first out
}

// ticket is a request's place in the queue, and then its slot.
type ticket struct {
	send func()
	held bool
}

// queue gives send a slot, now or when its turn comes. Whoever sent gives the slot back.
func (b *browser) queue(send func()) *ticket {
	t := &ticket{send: send}
	if b.free == 0 {
		b.queued = append(b.queued, t)
		return t
	}
	b.free--
	t.held = true
	send()
	return t
}

func (b *browser) release(t *ticket) {
	if !t.held {
		b.queued = slices.DeleteFunc(b.queued, func(q *ticket) bool { return q == t })
		return
	}
	t.held = false
	if len(b.queued) == 0 {
		b.free++
		return
	}
	next := b.queued[0]
	b.queued = b.queued[1:]
	next.held = true
	next.send()
}

// page is one tab.
type page struct {
	*browser
	begin       time.Duration
	searches    []*search
	waiting     int  // panels that may still be delivered
	multiplexed bool // as far as the page knows
}

// load asks for the panels, in their order, and begins with the bystanders.
func (p *page) load() {
	for _, s := range p.searches {
		s.begin()
	}
	if b := p.scenario.Bystanders; b != nil {
		p.at(p.now+b.Every.Duration, func() { p.bystander(b.Every.Duration) })
	}
}

// hide cancels what the tab still waits for.
func (p *page) hide() {
	for _, s := range p.searches {
		if s.giveUp() {
			s.panel.Hidden = true
			s.remove()
		}
	}
}

// bystander sends a small request and plans the next, as long as the page loads.
func (p *page) bystander(every time.Duration) {
	if p.waiting == 0 {
		return
	}
	p.small(func(took time.Duration) { p.browser.load.Bystanders = append(p.browser.load.Bystanders, took) })
	p.at(p.now+every, func() { p.bystander(every) })
}

// small sends a request that is answered at once, and tells how long it took from now.
func (p *page) small(answered func(took time.Duration)) {
	intended := p.now
	var t *ticket
	send := func() {
		p.at(p.now+p.rtt, func() {
			p.release(t)
			answered(p.now - intended)
		})
	}
	t = p.queue(send)
}
