package analysis

import (
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
)

func sleepOf(µs int64) clock.Seconds {
	return clock.Seconds{Duration: time.Duration(µs) * time.Microsecond}
}

// polled is a search under traditional polling, in µs from the intended start: asked 3 late, slot at 5, on the server from 10 to 1000, ready
// while the browser sleeps, the next poll queued at 1300 and given a slot at 1340, answered at 1400.
func polled() record.Search {
	return record.Search{
		Start: 10, Ready: 1000, Delivered: 1405,
		Requests: []record.Request{
			{Queued: 3, Slot: 5, DashboardIn: 8, DashboardOut: 210, Done: 215, Running: true},
			{Queued: 515, Slot: 515, DashboardIn: 520, DashboardOut: 530, Done: 535, Running: true, Sleep: sleepOf(300)},
			{Queued: 1300, Slot: 1340, DashboardIn: 1350, DashboardOut: 1390, Done: 1400, Sleep: sleepOf(765)},
		},
	}
}

// Wasted: [0, 10] and [1000, 1405]. Before the start: 3 late and 3 on the wire, 2 for the slot, 2 on the server before the search began.
// After ready: 300 asleep, 40 for the slot, 10 and 10 on the wire and 5 to read, 40 on the server.
func TestSplit(t *testing.T) {
	got := split(0, polled())
	want := parts{Sleep: 300, Slot: 42, Network: 31, Server: 42}
	for _, a := range wastes() {
		if got[a] != want[a] {
			t.Errorf("%s is %d, want %d", a, got[a], want[a])
		}
	}
	if got.sum() != 415 {
		t.Errorf("sum %d, want 415", got.sum())
	}
}

// A long poll that is there when the search is ready: what is wasted after that is the server's way out, and the wire's.
func TestSplitOfLongPoll(t *testing.T) {
	s := record.Search{
		Start: 10, Ready: 1000, Delivered: 1012,
		Requests: []record.Request{
			{Queued: 0, Slot: 0, DashboardIn: 6, DashboardOut: 200, Done: 205, Running: true},
			// Read and asked again without a sleep: no part of the waiting was the browser's choice.
			{Queued: 206, Slot: 206, DashboardIn: 210, DashboardOut: 1007, Done: 1011},
		},
	}
	got := split(0, s)
	want := parts{Network: 6 + 4 + 1, Server: 4 + 7}
	for _, a := range wastes() {
		if got[a] != want[a] {
			t.Errorf("%s is %d, want %d", a, got[a], want[a])
		}
	}
}

// A poll that is refused and one that breaks off, each asked again: refused at 230, asked again after 300; broken off at 600, which only the sleep
// before the next tells, and asked again after 300.
func TestSplitWithRetries(t *testing.T) {
	s := record.Search{
		Start: 10, Ready: 500, Delivered: 1000, Retries: 2,
		Requests: []record.Request{
			{Queued: 0, Slot: 0, DashboardIn: 8, DashboardOut: 210, Done: 215, Running: true},
			{Queued: 216, Slot: 216, DashboardIn: 220, DashboardOut: 225, Done: 230, Status: 503, Error: "status 503"},
			{Queued: 530, Slot: 532, Sleep: sleepOf(300), Error: "connection cut"},
			{Queued: 900, Slot: 905, DashboardIn: 915, DashboardOut: 990, Done: 1000, Sleep: sleepOf(300)},
		},
	}
	got := split(0, s)
	// Before the start: 8 on the wire, 2 on the server. After ready: asleep from 500 to 530, for a slot until 532, on the wire until 600, asleep until 900,
	// for a slot until 905, 10 and 10 on the wire, 75 on the server.
	want := parts{Network: 8 + 68 + 20, Server: 2 + 75, Sleep: 30 + 300, Slot: 2 + 5}
	for _, a := range wastes() {
		if got[a] != want[a] {
			t.Errorf("%s is %d, want %d", a, got[a], want[a])
		}
	}
	if got.sum() != 510 {
		t.Errorf("sum %d, want 510", got.sum())
	}
}

// A search that queues on the server: accepted at 212, when the browser is on the wire with the first answer, and executed from 600 on. Its wait of 388 is the
// server's, though the browser sleeps for 300 of it and asks once more. Before: 3 late, 3 and 2 on the wire, 2 for the slot, 202 on the server. After it is
// ready all is as in [TestSplit].
func TestSplitOfQueuedSearch(t *testing.T) {
	s := polled()
	s.Accepted, s.Start = 212, 600
	got := split(0, s)
	want := parts{Sleep: 300, Slot: 2 + 40, Network: 8 + 25, Server: 202 + 388 + 40}
	for _, a := range wastes() {
		if got[a] != want[a] {
			t.Errorf("%s is %d, want %d", a, got[a], want[a])
		}
	}
	if got.sum() != 600+405 {
		t.Errorf("sum %d, want 1005", got.sum())
	}
	whole := spans(0, s)
	for i, want := range []stretch{{8, 210, Server}, {210, 212, Network}, {212, 600, Server}, {600, 1000, Useful}, {1000, 1300, Sleep}} {
		if i+3 >= len(whole) || whole[i+3] != want {
			t.Fatalf("spans %+v, want %+v in place %d", whole, want, i+3)
		}
	}
	// One that was executed at once is split as if nothing were known of its acceptance.
	s.Accepted, s.Start = 10, 10
	if got := split(0, s); got.sum() != 415 || got[Server] != 42 {
		t.Errorf("not queued: %v", got)
	}
}

// Whatever instants a server gives, each instant of the wasted time is booked once.
func TestSplitSumsUp(t *testing.T) {
	for name, change := range map[string]func(*record.Search){
		"as it was":               func(*record.Search) {},
		"ready after delivered":   func(s *record.Search) { s.Ready = 9999 },
		"start before intended":   func(s *record.Search) { s.Start = -50 },
		"ready before start":      func(s *record.Search) { s.Ready = 4 },
		"dashboard's clock early": func(s *record.Search) { s.Requests[2].DashboardIn = 700 },
		"dashboard's clock late":  func(s *record.Search) { s.Requests[2].DashboardOut = 5000 },
		"no dashboard instants":   func(s *record.Search) { s.Requests[1].DashboardIn, s.Requests[1].DashboardOut = 0, 0 },
		"no answer to a poll":     func(s *record.Search) { s.Requests[1] = record.Request{Queued: 515, Slot: 516, Sleep: sleepOf(300)} },
		"queued":                  func(s *record.Search) { s.Accepted, s.Start = 10, 600 },
		"queued to the end":       func(s *record.Search) { s.Accepted, s.Start, s.Ready = 10, 1000, 1000 },
		"accepted too early":      func(s *record.Search) { s.Accepted = -50 },
		"accepted after start":    func(s *record.Search) { s.Accepted = 700 },
		"accepted too late":       func(s *record.Search) { s.Accepted, s.Start, s.Ready = 9000, 9500, 9999 },
		"no connection":           func(s *record.Search) { s.Requests[1] = record.Request{Queued: 515} },
	} {
		s := polled()
		change(&s)
		start, ready := execution(0, s)
		want := start + s.Delivered - ready
		if got := split(0, s).sum(); got != want {
			t.Errorf("%s: parts sum to %d, wasted time is %d", name, got, want)
		}
		var at record.Time
		for _, x := range spans(0, s) {
			if x.from != at || x.to <= x.from {
				t.Errorf("%s: span %+v after %d", name, x, at)
			}
			at = x.to
		}
		if at != s.Delivered {
			t.Errorf("%s: spans end at %d, delivered at %d", name, at, s.Delivered)
		}
	}
}

// Of a search that queued the server had all of the time from accepting it on. A poll that was sent while it queued does not carry a search that the
// poll has started.
func TestRoundTripOfQueuedSearch(t *testing.T) {
	s := record.Search{Accepted: 110, Start: 510, Ready: 550}
	if got, ok := roundTrip(s, record.Request{Slot: 100, Done: 555, Status: 200}); got != 15 || !ok {
		t.Errorf("submit that brings the result: %d, %v; want 15", got, ok)
	}
	if got, ok := roundTrip(s, record.Request{Slot: 300, Done: 560, Status: 200}); ok {
		t.Errorf("released long poll: %d", got)
	}
}

// The round trip is what remains of a request when the server's leave to hold it is taken off.
func TestRoundTrip(t *testing.T) {
	s := record.Search{Start: 110, Ready: 150}
	for name, c := range map[string]struct {
		r    record.Request
		want record.Time
		ok   bool
	}{
		"status, still running":         {record.Request{Slot: 500, Done: 508, Status: 200, Running: true}, 8, true},
		"submit held to its wait":       {record.Request{Slot: 100, Done: 312, Status: 200, Running: true, Wait: sleepOf(200)}, 12, true},
		"submit that brings the result": {record.Request{Slot: 100, Done: 155, Status: 200}, 15, true}, // 55 less the search's 40
		"released long poll":            {record.Request{Slot: 120, Done: 160, Status: 200}, 0, false},
		"failed":                        {record.Request{Slot: 100, Status: 0}, 0, false},
		"cut short":                     {record.Request{Slot: 100, Done: 155, Status: 200, Error: "unexpected EOF"}, 0, false},
		"refused":                       {record.Request{Slot: 500, Done: 508, Status: 503}, 0, false},
	} {
		if got, ok := roundTrip(s, c.r); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", name, got, ok, c.want, c.ok)
		}
	}
}
