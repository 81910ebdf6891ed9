package clock

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// clocks are the implementations; both keep the same promises.
func clocks(t *testing.T) map[string]Clock {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return map[string]Clock{"precise": p, "standard": Standard()}
}

func TestCallsComeInOrderAndNotTooEarly(t *testing.T) {
	for name, c := range clocks(t) {
		start := c.Now()
		var mu sync.Mutex
		var early int
		var wait sync.WaitGroup
		for _, in := range []time.Duration{30, 10, 20, 0, -5} {
			wait.Add(1)
			at := start.Add(in * time.Millisecond)
			c.At(at, func() {
				mu.Lock()
				defer mu.Unlock()
				if c.Now().Before(at) {
					early++
				}
				wait.Done()
			})
		}
		wait.Wait()
		if early > 0 {
			t.Errorf("%s: %d calls came early", name, early)
		}
	}
}

func TestStop(t *testing.T) {
	for name, c := range clocks(t) {
		called := make(chan struct{}, 2)
		stop := c.At(c.Now().Add(time.Hour), func() { called <- struct{}{} })
		if !stop() {
			t.Errorf("%s: too late to stop a call an hour away", name)
		}
		if stop() {
			t.Errorf("%s: stopped the same call twice", name)
		}
		now := c.At(c.Now(), func() { called <- struct{}{} })
		<-called
		if now() {
			t.Errorf("%s: stopped a call that had been made", name)
		}
	}
}

// A later call that is planned first must not hold up an earlier one, nor must its stopping.
func TestEarlierCallIsNotHeldUp(t *testing.T) {
	for _, c := range clocks(t) {
		stop := c.At(c.Now().Add(time.Hour), func() {})
		done := make(chan struct{})
		c.At(c.Now().Add(time.Millisecond), func() { close(done) })
		stop()
		<-done
	}
}

func TestSleepUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Standard()
		start := c.Now()
		if err := SleepUntil(t.Context(), c, start.Add(90*time.Second)); err != nil || c.Now().Sub(start) != 90*time.Second {
			t.Errorf("slept %v, %v", c.Now().Sub(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := SleepUntil(ctx, c, c.Now().Add(time.Hour))
		if !errors.Is(err, context.DeadlineExceeded) || c.Now().Sub(start) != 91*time.Second {
			t.Errorf("woke after %v with %v", c.Now().Sub(start), err)
		}
		if err := SleepUntil(ctx, c, c.Now()); err == nil {
			t.Error("a context that is done is not reported")
		}
	})
}

func TestInstants(t *testing.T) {
	now := time.Now()
	if got := InstantOf(now).Time().Sub(now).Abs(); got > time.Microsecond {
		t.Errorf("an instant is %v off the time it was made of", got)
	}
	if got := InstantOf(now.Add(time.Second)) - InstantOf(now); got < 999_999 || got > 1_000_001 {
		t.Errorf("a second is %d µs", got)
	}
	h := http.Header{}
	AddInstant(h, SearchStart, 12)
	AddInstant(h, SearchReady, 34)
	h.Add("Server-Timing", "dashboard-in;dur=56, dashboard-out;dur=78")
	got, err := Instants(h)
	want := map[string]Instant{SearchStart: 12, SearchReady: 34, DashboardIn: 56, DashboardOut: 78}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %v, %v", got, err)
	}
	for name, instant := range want {
		if got[name] != instant {
			t.Errorf("%s is %d, want %d", name, got[name], instant)
		}
	}
	// Proxies have metrics of their own, with a description that may hold anything.
	h.Add("Server-Timing", `miss, db;dur=1.5, cdn-cache;desc="HIT, or not";dur=7, edge;dur=`)
	if got, err := Instants(h); err != nil || len(got) != len(want) {
		t.Errorf("beside others' metrics %v, %v", got, err)
	}
	for _, broken := range []string{"search-ready", "search-ready;dur=1.5", "dashboard-in;dur=", "search-start;desc=x;dur=1"} {
		if _, err := Instants(http.Header{"Server-Timing": {broken}}); err == nil {
			t.Errorf("%q is taken for an instant", broken)
		}
	}
}

func TestSecondsInJSON(t *testing.T) {
	for text, want := range map[string]time.Duration{"1.5": 1500 * time.Millisecond, "0.1": 100 * time.Millisecond, "23": 23 * time.Second, "0": 0} {
		var s Seconds
		if err := json.Unmarshal([]byte(text), &s); err != nil || s.Duration != want {
			t.Errorf("%s is %v, %v; want %v", text, s, err, want)
		}
		if b, err := json.Marshal(s); err != nil || string(b) != text {
			t.Errorf("%v is written %s, %v; want %s", s, b, err, text)
		}
	}
	for _, text := range []string{`"1s"`, "1e30"} {
		if err := json.Unmarshal([]byte(text), &Seconds{}); err == nil {
			t.Errorf("%s is read as seconds", text)
		}
	}
}

// BenchmarkLateness reports how late each clock's calls are on an idle machine: the reason for the precise one.
func BenchmarkLateness(b *testing.B) {
	p, err := New()
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct {
		name  string
		clock Clock
	}{{"precise", p}, {"standard", Standard()}} {
		b.Run(c.name, func(b *testing.B) {
			var late time.Duration
			for b.Loop() {
				at := c.clock.Now().Add(1300 * time.Microsecond)
				_ = SleepUntil(b.Context(), c.clock, at)
				late += c.clock.Now().Sub(at)
			}
			b.ReportMetric(late.Seconds()*1e6/float64(b.N), "µs-late")
		})
	}
}
