package browser

import (
	"sync"
	"testing"
	"testing/synctest"
)

// line queues n tickets, which keep their slots, and lists those that have one, in order.
type line struct {
	*slots
	tickets []*ticket

	mu    sync.Mutex
	given []*ticket
}

func (l *line) use(t *ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = append(l.given, t)
}

func (l *line) add(n int) {
	for range n {
		l.tickets = append(l.tickets, l.queue(l.use))
		synctest.Wait()
	}
}

func (l *line) check(t *testing.T, what string, want ...int) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.given) != len(want) {
		t.Fatalf("%s: %d tickets have a slot, want %d", what, len(l.given), len(want))
	}
	for i, n := range want {
		if l.given[i] != l.tickets[n] {
			t.Errorf("%s: slot %d did not go to ticket %d", what, i, n)
		}
	}
}

// slotOf is the slot that ticket n was given.
func slotOf(l *line, n int) int {
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	return l.tickets[n].slot
}

func TestSlotsAreGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{slots: newSlots(2, 2, start)}
		l.add(4)
		l.check(t, "two slots", 0, 1)
		l.release(l.tickets[1])
		l.check(t, "one given back", 0, 1, 2)
		if slotOf(l, 2) != slotOf(l, 1) {
			t.Error("the slot that was given back is not the one that was handed on")
		}
		l.release(l.tickets[0])
		l.release(l.tickets[2])
		l.release(l.tickets[3])
		l.add(1)
		if slotOf(l, 4) != slotOf(l, 3) {
			t.Errorf("slot %d is used before the one used last, %d", slotOf(l, 4), slotOf(l, 3))
		}
	})
}

func TestLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{slots: newSlots(1, 1, start)}
		l.add(3)
		if !l.leave(l.tickets[1]) || l.leave(l.tickets[1]) || l.leave(l.tickets[0]) {
			t.Error("only who queues can leave, and once")
		}
		l.release(l.tickets[0])
		l.check(t, "after one has left", 0, 2)
	})
}

// begun begins with the tickets and checks which of them may.
func (l *line) begun(t *testing.T, what string, want bool, tickets ...int) {
	t.Helper()
	for _, n := range tickets {
		if l.begin(l.tickets[n]) != want {
			t.Errorf("%s: ticket %d may begin: %v, want %v", what, n, !want, want)
		}
	}
}

// A limit that becomes known while slots are held takes them back from the newest that have not begun, who then wait where they were in line.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{slots: newSlots(256, 5, start)}
		l.add(8)
		l.check(t, "at first", 0, 1, 2, 3, 4)
		l.begun(t, "before the limit", true, 1)
		l.limit(3)
		l.begun(t, "beyond the limit", false, 4, 3)
		l.begun(t, "within the limit", true, 2, 0)
		l.check(t, "at the limit", 0, 1, 2, 3, 4)
		l.release(l.tickets[0])
		l.check(t, "who was taken back comes first", 0, 1, 2, 3, 4, 3)
		l.release(l.tickets[1])
		l.check(t, "in the old order", 0, 1, 2, 3, 4, 3, 4)
		l.begun(t, "the second time", true, 3, 4)
		l.limit(1)
		l.release(l.tickets[2])
		l.release(l.tickets[3])
		l.check(t, "a slot in use is not taken", 0, 1, 2, 3, 4, 3, 4)
		l.again(l.tickets[4])
		l.begun(t, "alone on the next connection", true, 4)
		l.limit(2)
		l.check(t, "a limit that is raised", 0, 1, 2, 3, 4, 3, 4, 5)
		l.limit(1000)
		l.add(260)
		if l.held != 256 {
			t.Errorf("%d slots are held beyond the browser's own 256", l.held)
		}
	})
}

// Requests whose connection has broken begin again, and those that come when all streams of the next one are taken wait.
func TestLimitOfTheNextConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{slots: newSlots(256, 100, start)}
		l.add(4)
		l.begun(t, "on the first connection", true, 0, 1, 2, 3)
		for _, n := range []int{3, 0, 1} {
			l.again(l.tickets[n])
		}
		l.limit(2)
		l.begun(t, "what had to begin again", true, 0)
		l.begun(t, "what had to begin again", false, 1, 3)
		l.again(l.tickets[2])
		l.begun(t, "in time for the second stream", true, 2)
		l.check(t, "one stream taken, one to come", 0, 1, 2, 3)
	})
}

// Who has to begin again when more slots are held than the next connection has streams loses its own and waits, so that the other finds one.
func TestBeginAgainBeyondTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{slots: newSlots(256, 100, start)}
		l.add(2)
		l.begun(t, "on the first connection", true, 0, 1)
		l.limit(1)
		l.again(l.tickets[0])
		l.begun(t, "beyond the next connection's limit", false, 0)
		l.again(l.tickets[1])
		l.begun(t, "the only stream", true, 1)
		if l.held != 1 {
			t.Errorf("%d slots are held, 1 may be", l.held)
		}
	})
}

func start(f func()) { go f() }
