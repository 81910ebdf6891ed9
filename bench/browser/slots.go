package browser

import (
	"context"
	"sync"
)

// slots hands out the right to send a request, first in first out. A free slot that was given back last is handed out first,
// as browsers prefer the connection that was used last.
type slots struct {
	mu     sync.Mutex
	free   []int
	queued []*ticket
	size   int
}

// ticket is a place in the queue. Either somebody waits for its slot, or use is called with it, on a goroutine of its own: a page may have
// dozens of requests queued that nobody needs to wait for one by one.
type ticket struct {
	given chan struct{} // closed when slot is set
	use   func()
	slot  int
}

// give hands the ticket its slot.
func (t *ticket) give(slot int) {
	t.slot = slot
	if t.use != nil {
		go t.use()
		return
	}
	close(t.given)
}

func newSlots(n int) *slots {
	s := &slots{size: n}
	for i := n - 1; i >= 0; i-- {
		s.free = append(s.free, i)
	}
	return s
}

// limit lowers the number of slots to n, before any has been taken: the server allows no more.
func (s *slots) limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < s.size && len(s.free) == s.size {
		s.size, s.free = n, s.free[s.size-n:]
	}
}

// queue takes the next place in line. Who has one either waits for it or gives it up.
func (s *slots) queue() *ticket {
	return s.enqueue(&ticket{given: make(chan struct{})})
}

// queueFor takes the next place in line for use, which is called once the slot is there and has to release the ticket.
func (s *slots) queueFor(use func(*ticket)) *ticket {
	t := &ticket{}
	t.use = func() { use(t) }
	return s.enqueue(t)
}

func (s *slots) enqueue(t *ticket) *ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		t.give(slot)
		return t
	}
	s.queued = append(s.queued, t)
	return t
}

// wait returns when the ticket has its slot, or gives its place up when the context ends first.
func (s *slots) wait(ctx context.Context, t *ticket) error {
	select {
	case <-t.given:
		return nil
	case <-ctx.Done():
		s.giveUp(t)
		return ctx.Err()
	}
}

func (s *slots) giveUp(t *ticket) {
	if !s.leave(t) {
		s.release(t) // it was given a slot at the last moment
	}
}

// leave takes the ticket out of the line; false if it is no longer there.
func (s *slots) leave(t *ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, queued := range s.queued {
		if queued == t {
			s.queued = append(s.queued[:i], s.queued[i+1:]...)
			return true
		}
	}
	return false
}

// release gives the ticket's slot to the first in line.
func (s *slots) release(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queued) == 0 {
		s.free = append(s.free, t.slot)
		return
	}
	next := s.queued[0]
	s.queued[0] = nil
	s.queued = s.queued[1:]
	next.give(t.slot)
}
