package browser

import (
	"context"
	"errors"
	"testing"
)

func held(t *ticket) bool {
	select {
	case <-t.given:
		return true
	default:
		return false
	}
}

func TestSlotsAreGivenInOrder(t *testing.T) {
	s := newSlots(2)
	a, b, c, d := s.queue(), s.queue(), s.queue(), s.queue()
	if !held(a) || !held(b) || held(c) || held(d) {
		t.Fatal("two slots are not given to the first two")
	}
	s.release(b)
	if !held(c) || held(d) || c.slot != b.slot {
		t.Errorf("the third in line has %v, the fourth %v, slot %d instead of %d", held(c), held(d), c.slot, b.slot)
	}
	s.release(a)
	s.release(c)
	s.release(d)
	// The slot given back last is used first.
	if e := s.queue(); e.slot != d.slot {
		t.Errorf("slot %d is used before the last one, %d", e.slot, d.slot)
	}
}

func TestGivingUp(t *testing.T) {
	s := newSlots(1)
	a, b, c := s.queue(), s.queue(), s.queue()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.wait(ctx, b); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	s.release(a)
	if held(b) || !held(c) {
		t.Error("who gave up still has a place in line")
	}
	// One that was given its slot before it could give up passes it on.
	d := s.queue()
	s.giveUp(c)
	if !held(d) {
		t.Error("the slot of one who gave up is lost")
	}
}

func TestLimit(t *testing.T) {
	s := newSlots(256)
	s.limit(2)
	a, b, c := s.queue(), s.queue(), s.queue()
	if !held(a) || !held(b) || held(c) {
		t.Error("a limit of two streams does not hold")
	}
	s.limit(1)
	s.release(a)
	if !held(c) {
		t.Error("a limit that comes late has cost a slot")
	}
	wide := newSlots(2)
	wide.limit(100)
	if wide.queue(); held(func() *ticket { wide.queue(); return wide.queue() }()) {
		t.Error("the server's higher limit raised the browser's own")
	}
}
