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

// ticket is a place in the queue.
type ticket struct {
	given chan struct{} // closed when slot is set
	slot  int
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
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &ticket{given: make(chan struct{})}
	if n := len(s.free); n > 0 {
		t.slot = s.free[n-1]
		s.free = s.free[:n-1]
		close(t.given)
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
	s.mu.Lock()
	for i, queued := range s.queued {
		if queued == t {
			s.queued = append(s.queued[:i], s.queued[i+1:]...)
			s.mu.Unlock()
			return
		}
	}
	s.mu.Unlock()
	s.release(t) // it was given a slot at the last moment
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
	next.slot = t.slot
	close(next.given)
}
