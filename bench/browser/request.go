package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/wire"
)

// call is one request that a page makes.
type call struct {
	method, path string
	body         []byte
	wait         time.Duration // for which the server may hold it
	sleep        time.Duration // that the strategy wanted before it
}

// answer is what came back.
type answer struct {
	status   int
	protocol string // that it came over, in the names of nextHopProtocol
	header   http.Header
	body     []byte
	instants map[string]clock.Instant // of the servers, from the header
}

// sending is a request on its way, from the queue for a slot to its answer.
type sending struct {
	mu      sync.Mutex
	leave   func() bool // takes it out of the queue; false if it is no longer there
	end     func()      // ends the exchange; nil until it is under way
	dropped bool
}

// under tells how to end the exchange that is under way. Ending must not call back.
func (s *sending) under(end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = end
	if s.dropped {
		end()
	}
}

// over tells that the exchange has ended: its connection may by now carry another.
func (s *sending) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = nil
}

func (s *sending) wasDropped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// drop gives up a request that has left the queue, as a page does that has lost interest. Its done is called, with an error unless the answer was
// faster.
func (s *sending) drop() {
	s.mu.Lock() // held while the exchange ends: once it is over its connection carries another
	defer s.mu.Unlock()
	s.dropped = true
	if s.end != nil {
		s.end()
	}
}

// send queues the request for a slot, sends it when its turn comes, and tells done what came of it; the record is as complete as
// the exchange was, also after an error.
func (b *Browser) send(ctx context.Context, c call, done func(answer, record.Request, error)) *sending {
	seen := record.Request{
		Queued: b.since(b.options.Clock.Now()),
		Sleep:  clock.Seconds{Duration: c.sleep},
		Wait:   clock.Seconds{Duration: c.wait},
	}
	s := &sending{}
	t := b.slots.queue(func(t *ticket) {
		seen.Slot = b.since(b.options.Clock.Now())
		b.try(ctx, c, s, t, &seen.Resent, func(a answer, at stamps, number int, err error) {
			b.slots.release(t)
			seen.Connection = number
			seen.Sent, seen.FirstByte, seen.Done = b.since(at.sent), b.since(at.firstByte), b.since(at.done)
			if err == nil {
				err = b.note(&seen, c, &a)
			}
			done(a, seen, err)
		})
	})
	s.leave = func() bool { return b.slots.leave(t) }
	return s
}

// try makes the exchange, and makes it again on a new connection if one that had been used before broke off with nothing of the answer there: then
// browsers take it that the server had closed it at that moment, and do so whatever the method. Chromium 156 does, over HTTP/1.1 and h2, once. If the
// connection turns out to take fewer requests, this one is in line again, and nothing is done.
func (b *Browser) try(ctx context.Context, c call, s *sending, t *ticket, resent *bool, done func(a answer, at stamps, number int, err error)) {
	var attempt func()
	attempt = func() {
		p, err := b.connection(ctx, t.slot)
		if !b.slots.begin(t) {
			return
		}
		if err != nil {
			done(answer{}, stamps{}, 0, passing{err})
			return
		}
		p.conn.exchange(c, s, func(a answer, at stamps, err error) {
			s.over()
			if err == nil {
				p.used.Store(true)
			}
			if err != nil && !*resent && at.firstByte.IsZero() && p.used.Load() && brokeOff(p.conn, err) && !s.wasDropped() && ctx.Err() == nil {
				*resent = true
				b.slots.again(t)
				attempt()
				return
			}
			if err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				err = passing{fmt.Errorf("%s %s: %w", c.method, c.path, err)}
			}
			done(a, at, p.number, err)
		})
	}
	attempt()
}

// brokeOff tells whether a request has failed with its connection, or was left over by a server that goes away, and not by itself.
func brokeOff(c connection, err error) bool {
	return !c.usable() && (!c.leaving() || errors.Is(err, wire.ErrUnprocessed))
}

// note takes over what the answer says, and makes an error of one that is none.
func (b *Browser) note(seen *record.Request, c call, a *answer) error {
	seen.Status, seen.Protocol = a.status, a.protocol
	instants, err := clock.Instants(a.header)
	if err != nil {
		return err
	}
	for _, name := range b.options.PassOver {
		delete(instants, name)
	}
	a.instants = instants
	if in, ok := instants[clock.DashboardIn]; ok {
		seen.DashboardIn = b.since(in.Time())
	}
	if out, ok := instants[clock.DashboardOut]; ok {
		seen.DashboardOut = b.since(out.Time())
	}
	seen.SocketWait.Duration = time.Duration(instants[clock.SocketWait]) * time.Microsecond
	if a.status != http.StatusOK {
		return refusal(c, a)
	}
	return nil
}

// beginning is enough of a body to know it by. That it goes on is marked, so that what was cut off there can be told from what is whole.
func beginning(body []byte) string {
	const enough = 300
	if len(body) > enough {
		return string(body[:enough]) + "…"
	}
	return string(body)
}
