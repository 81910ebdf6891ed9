package browser

import "sync"

// slots hands out the right to send a request, first in first out. A free slot that was given back last is handed out first,
// as browsers prefer the connection that was used last.
type slots struct {
	mu     sync.Mutex
	free   []int
	queued []*ticket
	size   int
	start  func(func()) // a goroutine
}

// ticket is a place in the queue. Once it has its slot, use is called on a goroutine of its own. Nobody waits meanwhile: a run has thousands of
// requests queued.
type ticket struct {
	use  func(*ticket)
	slot int
}

func newSlots(n int, start func(func())) *slots {
	s := &slots{size: n, start: start}
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

// queue takes the next place in line for use, which has to release the ticket.
func (s *slots) queue(use func(*ticket)) *ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &ticket{use: use}
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		s.give(t, slot)
		return t
	}
	s.queued = append(s.queued, t)
	return t
}

// leave takes the ticket out of the line; false if it is no longer there, because it has its slot.
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
	s.give(next, t.slot)
}

func (s *slots) give(t *ticket, slot int) {
	t.slot = slot
	s.start(func() { t.use(t) })
}
