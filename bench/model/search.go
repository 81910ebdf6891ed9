package model

import (
	"time"

	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// search is one panel's search on its way.
type search struct {
	*page
	panel    *Panel
	asked    time.Duration
	then     bool // whether the page knew, when the search began, that the connection multiplexes
	failures int
	known    bool // by an id: its submit has been answered
	gone     bool // the server has cancelled it
	over     bool // delivered, failed or given up: what is still on its way counts no more
	request  *ticket
	done     bool   // ready, on a server whose searches queue
	held     func() // answers the request that waits there
}

// unlimited is longer than any search takes.
const unlimited = 24 * time.Hour

// plain is the strategy that holds now.
func (s *search) plain() strategy.Strategy {
	return s.strategy.On(s.then, s.multiplexed)
}

func (s *search) begin() {
	s.asked, s.then = s.now, s.multiplexed
	if timeout := s.scenario.SearchTimeout.Duration; timeout > 0 {
		s.at(s.asked+timeout, s.timeOut)
	}
	wait := s.plain().Next(strategy.State{}).Wait
	if s.plain().Sync {
		wait = unlimited
	}
	s.queue(func() {
		s.panel.Start = s.now + s.rtt/2
		s.exchange(wait)
	})
}

func (s *search) queue(send func()) {
	// A free slot is given while the ticket is being made, and what is sent needs it only once the answer comes.
	s.request = s.page.queue(send)
}

// exchange sends a request that the server may hold for wait, and goes on from its answer.
func (s *search) exchange(wait time.Duration) {
	s.panel.Sent = append(s.panel.Sent, s.now)
	if s.pool != nil {
		s.hold(wait)
		return
	}
	arrival, ready := s.now+s.rtt/2, s.panel.Start+s.panel.Delay
	answer := min(max(arrival, ready), arrival+wait)
	done, missing, dropped := answer >= ready, s.gone, false
	if missing {
		answer = arrival
	} else if idle := s.variant.Path.IdleTimeout.Duration; idle > 0 && answer-arrival > idle {
		// The proxy drops its own request, and with it the dashboard server the search. A submit that is dropped takes its search along anyway.
		answer, dropped = arrival+idle, true
		s.gone = !s.scenario.KeepOnDisconnect || !s.known
	}
	back := answer + s.rtt - s.rtt/2
	if missing || dropped {
		s.at(back, func() { s.broken(missing) })
		return
	}
	s.reply(back, done)
}

// reply is an answer of the server's, which reaches the page at that instant.
func (s *search) reply(back time.Duration, done bool) {
	if done && s.known && s.plain().Poll == strategy.ByStatus {
		back += s.fetch
	}
	s.at(back, func() {
		if s.over {
			return
		}
		s.release(s.request)
		s.known = true
		s.page.seen()
		s.answered(strategy.State{Done: done})
	})
}

// broken is the end of a request without an answer of use. A search that the server does not know, or that has no id, is lost.
func (s *search) broken(missing bool) {
	if s.over {
		return
	}
	s.release(s.request)
	if missing || !s.known {
		s.fail()
		return
	}
	s.failures++
	s.answered(strategy.State{Failed: true})
}

// seen is an answer to a search: now the page knows the protocol of its connection.
func (p *page) seen() {
	p.multiplexed = p.strategy.Learnt(p.multiplexed, p.variant.Protocol == scenario.H2)
}

func (s *search) answered(state strategy.State) {
	state.Elapsed, state.Attempt, state.Failures = s.now-s.asked, len(s.panel.Sent), s.failures
	plain := s.plain()
	next := plain.Next(state)
	switch {
	case state.Done:
		s.over = true
		s.panel.Delivered = s.now
		s.waiting--
		return
	case next.Stop:
		s.fail()
		return
	}
	wait := next.Wait
	if plain.Poll == strategy.ByStatus {
		wait = 0 // a status is never held, and what follows it asks for a result that is there
	}
	s.at(s.now+next.Sleep, func() {
		if !s.over {
			s.queue(func() { s.exchange(wait) })
		}
	})
}

func (s *search) fail() {
	s.over, s.panel.Failed = true, true
	s.waiting--
	s.remove()
}

// giveUp ends the search on the browser's side; false if it has ended before. A request that is under way is dropped.
func (s *search) giveUp() bool {
	if s.over {
		return false
	}
	s.over = true
	s.waiting--
	if s.request != nil {
		s.release(s.request)
	}
	return true
}

// timeOut asks once more, for whatever there is, and deletes the search.
func (s *search) timeOut() {
	if s.giveUp() {
		s.panel.Failed = true
		if s.known {
			s.small(func(time.Duration) { s.remove() })
		}
	}
}

// remove sends the DELETE, if the search has an id: it has one once its submit has been answered.
func (s *search) remove() {
	if s.known {
		s.small(func(time.Duration) {})
	}
}
