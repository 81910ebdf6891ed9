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
		l := &line{slots: newSlots(2, start)}
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
		l := &line{slots: newSlots(1, start)}
		l.add(3)
		if !l.leave(l.tickets[1]) || l.leave(l.tickets[1]) || l.leave(l.tickets[0]) {
			t.Error("only who queues can leave, and once")
		}
		l.release(l.tickets[0])
		l.check(t, "after one has left", 0, 2)
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{slots: newSlots(256, start)}
		l.limit(2)
		l.add(3)
		l.check(t, "a limit of two streams", 0, 1)
		l.limit(1)
		l.release(l.tickets[0])
		l.check(t, "a limit that comes late", 0, 1, 2)
		wide := &line{slots: newSlots(2, start)}
		wide.limit(100)
		wide.add(3)
		wide.check(t, "a limit above the browser's own", 0, 1)
	})
}

func start(f func()) { go f() }
