package serverclock

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"pollbench/bench/record"
)

// epoch is a local instant with a monotonic reading, at a whole second of its wall clock.
func epoch() time.Time {
	now := time.Now()
	return now.Add(time.Second - time.Duration(now.Nanosecond()))
}

const (
	µs = time.Microsecond
	ms = time.Millisecond
)

// exchange is one of a server that is so far ahead: sent at an instant after the epoch, on its way for there, running for took, on its way for back.
func exchange(from time.Time, ahead, sent, there, took, back time.Duration) Exchange {
	started := from.Add(sent + there + ahead).UnixMilli()
	return Exchange{
		Sent: from.Add(sent), Received: from.Add(sent + there + took + back),
		Started: started, Completed: started + took.Milliseconds(),
	}
}

// A server 5 s ahead. The first exchange starts there at 1.3 ms: told as 1, so the offset is below 5 s + 1 ms + 1 ms − 1 ms; it is complete at 3.5,
// told as 1 + 2 = 3 and received at 4.0: the offset is at least 5 s − 1 ms. The second, sent at 10.2, starts at 10.9, told as 10: below 5 s + 0.8 ms; complete at 11.1, told as
// 10, received at 11.2: at least 5 s − 1.2 ms.
func TestBound(t *testing.T) {
	from := epoch()
	const ahead = 5 * time.Second
	first := exchange(from, ahead, 1000*µs, 300*µs, 2200*µs, 500*µs)
	second := exchange(from, ahead, 10200*µs, 700*µs, 200*µs, 100*µs)
	for _, c := range []struct {
		name      string
		exchanges []Exchange
		lo, hi    time.Duration // beside ahead
	}{
		{"the first", []Exchange{first}, -1000 * µs, 1000 * µs},
		{"the second", []Exchange{second}, -1200 * µs, 800 * µs},
		{"both", []Exchange{first, second}, -1000 * µs, 800 * µs},
		{"both, turned round", []Exchange{second, first}, -1000 * µs, 800 * µs},
	} {
		o, err := Bound(c.exchanges)
		if err != nil {
			t.Fatal(err)
		}
		if o.Ahead-o.Uncertainty != ahead+c.lo || o.Ahead+o.Uncertainty != ahead+c.hi || o.Contradiction != 0 {
			t.Errorf("%s: %+v, want from %v to %v", c.name, o, ahead+c.lo, ahead+c.hi)
		}
	}
	o, _ := Bound([]Exchange{first, second})
	// Told 1 ms, in the middle 1.5, less the estimate's 5 s − 0.1 ms.
	at := from.Add(ahead).UnixMilli() + 1
	if got := o.Started(at).Sub(from); got != 1600*µs {
		t.Errorf("started at %v, want 1.6ms", got)
	}
	if got := o.Completed(at + 2).Sub(from); got != 4100*µs {
		t.Errorf("completed at %v, want 4.1ms", got)
	}
	if o.Uncertainty != 900*µs || o.Resolution() != 1900*µs {
		t.Errorf("uncertain by %v, resolution %v", o.Uncertainty, o.Resolution())
	}
}

// A server behind is no other matter; nor is one whose day is another.
func TestAnyOffset(t *testing.T) {
	from := epoch()
	for _, ahead := range []time.Duration{0, -3 * time.Hour, 20 * 365 * 24 * time.Hour, -123456789 * µs} {
		o, err := Bound([]Exchange{exchange(from, ahead, 0, 0, 0, 0)})
		if off := o.Ahead - ahead; err != nil || off < -o.Uncertainty || off > o.Uncertainty || o.Uncertainty != 500*µs {
			t.Errorf("%v ahead: %+v, %v", ahead, o, err)
		}
	}
}

// Whatever the ways there and back, the truth lies within the estimate's uncertainty, and so do the instants that are converted.
func TestTruthIsWithin(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	from := epoch()
	for range 200 {
		ahead := upTo(time.Hour) - 30*time.Minute
		var all []Exchange
		for i := range 30 {
			all = append(all, exchange(from, ahead, time.Duration(i)*3700*µs, 100*µs+upTo(900*µs), upTo(3*ms), 100*µs+upTo(2*ms)))
		}
		o, err := Bound(all)
		if off := (o.Ahead - ahead).Abs(); err != nil || off > o.Uncertainty || o.Contradiction != 0 {
			t.Fatalf("%v ahead: %+v, %v", ahead, o, err)
		}
		if o.Uncertainty > ms {
			t.Errorf("30 exchanges leave %v", o.Uncertainty)
		}
		there, took := upTo(ms), upTo(time.Second)
		x := exchange(from, ahead, time.Second, there, took, 0)
		if off := o.Started(x.Started).Sub(from.Add(time.Second + there)).Abs(); off > o.Uncertainty+halfStarted {
			t.Errorf("start off by %v, uncertain by %v", off, o.Uncertainty)
		}
		if off := o.Completed(x.Completed).Sub(from.Add(time.Second + there + took)).Abs(); off > o.Resolution() {
			t.Errorf("completion off by %v, resolution %v", off, o.Resolution())
		}
	}
}

// A clock that is set by 40 ms between two exchanges: the first allows [−1, 1] beside the offset, the second [39, 41].
func TestContradiction(t *testing.T) {
	from := epoch()
	o, err := Bound([]Exchange{
		exchange(from, 0, 1000*µs, 0, 0, 1000*µs),
		exchange(from, 40*ms, 10000*µs, 0, 0, 1000*µs),
	})
	if err != nil || o.Contradiction != 38*ms || o.Ahead != 20*ms || o.Uncertainty != 21*ms {
		t.Errorf("%+v, %v; want 20ms ± 21ms, contradicted by 38ms", o, err)
	}
}

func TestRefused(t *testing.T) {
	from := epoch()
	for name, bad := range map[string][]Exchange{
		"none":            nil,
		"received before": {{Sent: from, Received: from.Add(-1), Started: 1, Completed: 1}},
		"done before":     {{Sent: from, Received: from, Started: 2, Completed: 1}},
	} {
		if o, err := Bound(bad); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// Ten different fractions of a millisecond, 0.1 ms each way. A start at .9 is told 0.9 early: the offset is below 0.1 + 0.1 more than it is. Of 0.3 ms nothing is told:
// even after a start at .0 it is above 0.3 + 0.1 less. That is from −0.4 to 0.2 ms.
func TestEstimate(t *testing.T) {
	from := epoch()
	asked := 0
	o, err := Estimate(t.Context(), func(context.Context) (Exchange, error) {
		asked++
		return exchange(from, time.Minute, time.Duration(asked)*1100*µs, 100*µs, 300*µs, 100*µs), nil
	})
	if err != nil || asked != 30 || o.Ahead != time.Minute-100*µs || o.Uncertainty != 300*µs {
		t.Errorf("%d exchanges: %+v, %v", asked, o, err)
	}
	if _, err := Estimate(t.Context(), func(context.Context) (Exchange, error) { return Exchange{}, ErrUntold }); !errors.Is(err, ErrUntold) {
		t.Error(err)
	}
}

// Slot at 1000 µs, first byte at 9000. Told to have started within [Accepted − 500, Accepted + 500] and to be ready within [Ready − 1000, Ready + 1000]; 200 are
// the offset's own.
func TestContradicted(t *testing.T) {
	good := record.Search{Outcome: record.OK, Accepted: 1200, Ready: 8900, Requests: []record.Request{{Slot: 1000}, {Slot: 5000, FirstByte: 9000}}}
	o := Offset{Uncertainty: 200 * µs}
	for name, c := range map[string]struct {
		change   func(*record.Search)
		by       time.Duration
		searches int
	}{
		"agrees":           {func(*record.Search) {}, 0, 1},
		"just early":       {func(s *record.Search) { s.Accepted = 300 }, 0, 1},
		"too early":        {func(s *record.Search) { s.Accepted = 200 }, 100 * µs, 1},
		"just late":        {func(s *record.Search) { s.Ready = 10200 }, 0, 1},
		"too late":         {func(s *record.Search) { s.Ready = 12000 }, 1800 * µs, 1},
		"failed":           {func(s *record.Search) { s.Outcome, s.Ready = record.Failed, 20000 }, 0, 0},
		"exact instants":   {func(s *record.Search) { s.Accepted, s.Ready = 0, 20000 }, 0, 0},
		"sent a 2nd time":  {func(s *record.Search) { s.Requests = []record.Request{{Slot: 9000, FirstByte: 9100, Resent: true}} }, 0, 0},
		"before the epoch": {func(s *record.Search) { s.Accepted = -5000 }, 5300 * µs, 1},
	} {
		s := good
		c.change(&s)
		if by, n := o.Contradicted([]record.Trial{{Searches: []record.Search{good}}, {Searches: []record.Search{s}}}); by != c.by || n != c.searches+1 {
			t.Errorf("%s: by %v in %d searches; want %v in %d", name, by, n, c.by, c.searches+1)
		}
	}
}
