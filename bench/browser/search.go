package browser

import (
	"context"
	"sync"
	"time"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// search is one panel's search on its way. It has no goroutine while it waits: what comes next is called by the clock, by the queue of slots or
// with the answer, one at a time; [search.abort] and [search.giveUp] may cut in between.
type search struct {
	page  *page
	fault *scenario.Fault
	asked time.Time // by the page
	then  bool      // whether the page knew, when the search began, that its connection multiplexes
	seen  *record.Search

	id       string
	polling  call // the last poll: it is mostly the same
	polled   poll // what it asks
	failures int  // of polls
	result   head // of the answer that brought it

	mu      sync.Mutex
	aborted error
	given   string      // up, with this outcome
	over    bool        // its page has been told that it has ended
	cancel  func() bool // keeps what comes next from being called; nil once it has been
	request *sending    // the last
	timeout func() bool // takes the search's time-out back
}

// begin asks for the search.
func (s *search) begin(ctx context.Context) {
	s.seen.Outcome = record.OK
	s.asked = s.page.options.Clock.Now()
	s.then = s.page.multiplexed.Load()
	if after := s.page.dashboard.SearchTimeout; after > 0 {
		s.timeout = s.page.options.Clock.At(s.asked.Add(after), func() { s.page.start(func() { s.giveUp(ctx, record.TimedOut) }) })
	}
	c, err := s.submit(s.page.plain(s.then))
	if err != nil {
		s.end(err)
		return
	}
	s.send(ctx, c)
}

// send queues a request.
func (s *search) send(ctx context.Context, c call) {
	s.next(ctx, func() func() bool {
		s.request = s.page.send(ctx, c, func(a answer, seen record.Request, err error) { s.answered(ctx, a, seen, err) })
		return s.request.leave
	})
}

// answered goes on from an answer: to the end, or to the next poll after the strategy's sleep.
func (s *search) answered(ctx context.Context, a answer, seen record.Request, err error) {
	var done bool
	if err == nil {
		s.page.answeredOver(a.protocol)
		done, err = s.read(a, &seen)
	}
	if err != nil {
		seen.Error = err.Error()
	}
	s.seen.Requests = append(s.seen.Requests, seen)
	if err != nil && s.givenUp() {
		s.part(ctx)
		return
	}
	arrived := s.page.options.Clock.Now()
	state := strategy.State{Elapsed: arrived.Sub(s.asked), Attempt: len(s.seen.Requests), Done: done}
	if err != nil {
		if state.Failed, state.RetryAfter = mayPass(err); !state.Failed || s.id == "" || ctx.Err() != nil {
			s.fail(ctx, err)
			return
		}
		s.failures++
		state.Failures = s.failures
	}
	plain := s.page.plain(s.then)
	decision := plain.Next(state)
	switch {
	case decision.Stop && err != nil:
		s.fail(ctx, err)
		return
	case decision.Stop:
		s.seen.Delivered = s.page.since(arrived)
		s.end(s.complete())
		return
	case err != nil:
		s.seen.Retries++
	}
	if next := (poll{s.id, plain.Poll, decision.Wait}); s.polled != next {
		if s.polling, err = s.pollCall(next); err != nil {
			s.end(err)
			return
		}
		s.polled = next
	}
	c := s.polling
	c.sleep = decision.Sleep
	if c.sleep == 0 {
		s.send(ctx, c)
		return
	}
	s.next(ctx, func() func() bool {
		return s.page.options.Clock.At(arrived.Add(c.sleep), func() { s.page.start(func() { s.send(ctx, c) }) })
	})
}

// next sets off what comes next, unless the search has been aborted or given up.
func (s *search) next(ctx context.Context, begin func() (cancel func() bool)) {
	switch given, aborted := s.unlessOver(begin); {
	case aborted != nil:
		s.end(aborted)
	case given != "":
		s.part(ctx)
	}
}

// unlessOver holds the lock while what comes next is set off: who aborts the search then finds how to keep it from being called. A panic leaves the lock
// open, for the search will be aborted.
func (s *search) unlessOver(begin func() (cancel func() bool)) (given string, aborted error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aborted == nil && s.given == "" {
		s.cancel = begin()
	}
	return s.given, s.aborted
}

// abort ends the search early. A request that is under way has to be ended by closing its connection.
func (s *search) abort(why error) {
	s.mu.Lock()
	s.aborted = why
	idle := s.cancel != nil && s.cancel()
	s.mu.Unlock()
	if idle {
		s.end(why)
	}
}

// end completes the record.
func (s *search) end(err error) {
	if s.timeout != nil {
		s.timeout()
	}
	if err != nil {
		s.seen.Outcome, s.seen.Error, s.seen.Delivered = record.Failed, err.Error(), 0
	}
	s.mu.Lock()
	twice := s.over
	s.over = true
	s.given = ended // whoever still wants to give it up comes too late
	s.mu.Unlock()
	if twice { // the page would take it for another search, which still goes on
		panic("a search has ended twice")
	}
	s.page.ended <- struct{}{}
}
