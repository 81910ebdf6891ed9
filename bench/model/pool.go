package model

import "time"

// pool is the server's search threads, where the scenario limits them. A search queues for one, first in first out, holds it for its delay and then
// queues again, behind all who have come meanwhile, to have its result put together, which takes no time: so does Elasticsearch.
type pool struct {
	free   int
	queued []turn
}

// turn is what a search queues for.
type turn struct {
	search   *search
	executed bool // and its result is to be put together
}

// enter is the arrival of a search.
func (b *browser) enter(s *search) {
	b.pool.queued = append(b.pool.queued, turn{search: s})
	b.proceed()
}

// proceed gives free threads to those whose turn it is.
func (b *browser) proceed() {
	p := b.pool
	for p.free > 0 && len(p.queued) > 0 {
		t := p.queued[0]
		p.queued = p.queued[1:]
		if t.executed {
			t.search.ready()
			continue
		}
		p.free--
		b.at(b.now+t.search.panel.Delay, func() {
			p.free++
			p.queued = append(p.queued, turn{t.search, true})
			b.proceed()
		})
	}
}

// ready releases who waits. Execution is taken to have begun the search's delay before: nobody who measures knows of the second wait.
func (s *search) ready() {
	s.done = true
	s.panel.Start = s.now - s.panel.Delay
	if s.held != nil {
		s.held()
	}
}

// hold is an exchange with a server whose searches queue: the answer is there when the search is ready, or the wait is over.
func (s *search) hold(wait time.Duration) {
	submit := len(s.panel.Sent) == 1
	s.at(s.now+s.rtt/2, func() {
		answered := false
		answer := func() {
			if answered {
				return
			}
			answered, s.held = true, nil
			s.reply(s.now+s.rtt-s.rtt/2, s.done)
		}
		s.held = answer
		if submit {
			s.enter(s)
		}
		switch {
		case answered:
		case s.done || wait == 0:
			answer()
		default:
			s.at(s.now+wait, answer)
		}
	})
}
