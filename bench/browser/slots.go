package browser

import (
	"cmp"
	"slices"
	"sync"
)

// slots hands out the right to send a request, first in first out. A free slot that was given back last is handed out first,
// as browsers prefer the connection that was used last.
type slots struct {
	mu     sync.Mutex
	free   []int
	queued []*ticket    // oldest first
	given  []*ticket    // those with a slot that have not begun to send, oldest first
	held   int          // slots that are not free
	most   int          // that may be held
	last   int          // number of the newest ticket
	start  func(func()) // a goroutine
}

// ticket is a place in the queue. Once it has its slot, use is called on a goroutine of its own. Nobody waits meanwhile: a run has thousands of
// requests queued.
type ticket struct {
	use    func(*ticket)
	slot   int
	number int // in order of arrival
}

func byArrival(a, b *ticket) int { return cmp.Compare(a.number, b.number) }

// newSlots makes n slots, of which no more than most may be held for now.
func newSlots(n, most int, start func(func())) *slots {
	s := &slots{most: min(n, most), start: start}
	for i := n - 1; i >= 0; i-- {
		s.free = append(s.free, i)
	}
	return s
}

// limit changes how many slots may be held. If fewer, then the newest of those that have not begun to send lose theirs, and learn it from begin. Who has
// begun keeps the slot until its release.
func (s *slots) limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = min(n, s.held+len(s.free))
	for len(s.given) > 0 && s.held > s.most {
		s.giveBack(s.given[len(s.given)-1])
		s.given = s.given[:len(s.given)-1]
	}
	s.proceed()
}

// begin asks whether the ticket may begin to send. If not, then it has lost its slot and is in line again, where it was before, to be used anew.
func (s *slots) begin(t *ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.given, t)
	if i >= 0 {
		s.given = slices.Delete(s.given, i, i+1)
		if s.held <= s.most {
			return true
		}
		s.giveBack(t)
	}
	s.queued = insert(s.queued, t)
	s.proceed()
	return false
}

// again says that the ticket has to begin once more, as its connection has broken: the next one may take fewer requests.
func (s *slots) again(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = insert(s.given, t)
}

func insert(sorted []*ticket, t *ticket) []*ticket {
	i, _ := slices.BinarySearchFunc(sorted, t, byArrival)
	return slices.Insert(sorted, i, t)
}

// giveBack frees the ticket's slot. The lock is held.
func (s *slots) giveBack(t *ticket) {
	s.held--
	s.free = append(s.free, t.slot)
}

// proceed gives slots to the first in line, as many as may be held. The lock is held.
func (s *slots) proceed() {
	for len(s.queued) > 0 && s.held < s.most {
		t := s.queued[0]
		t.slot = s.free[len(s.free)-1]
		s.queued, s.free = slices.Delete(s.queued, 0, 1), s.free[:len(s.free)-1]
		s.held++
		s.given = insert(s.given, t)
		s.start(func() { t.use(t) })
	}
}

// queue takes the next place in line for use, which has to release the ticket.
func (s *slots) queue(use func(*ticket)) *ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	t := &ticket{use: use, number: s.last}
	s.queued = append(s.queued, t)
	s.proceed()
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

// release gives the slot of a ticket that has begun to the first in line.
func (s *slots) release(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack(t)
	s.proceed()
}
