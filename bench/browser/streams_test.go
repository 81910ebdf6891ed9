package browser

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// crowd answers each request after a second and keeps count of those that are there at once.
type crowd struct {
	mu        sync.Mutex
	now, most int
	leaves    bool // the next request but a search makes its connection one that takes no more
}

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == statusPath {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.leaves {
			c.leaves = false
			w.Header().Set("Connection", "close") // to net/http's h2 server that means GOAWAY
		}
		return
	}
	c.add(1)
	select {
	case <-time.After(time.Second):
		c.add(-1)
		answered(w, false)
	case <-r.Context().Done(): // its connection has broken
		c.add(-1)
	}
}

func (c *crowd) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += n
	c.most = max(c.most, c.now)
}

// relay is a browser whose connections lead to one server after the other, each with its own limit of streams.
type relay struct {
	*Browser
	crowd
	dialled net.Conn // the connection in use
}

func newRelay(t *testing.T, limits ...int) *relay {
	t.Helper()
	certificate, roots, err := kibana.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{}
	var memory network.Memory
	var addresses []string
	for _, limit := range limits {
		addresses = append(addresses, served(t, &memory, &http.Server{Handler: r, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: limit}}, certificate))
	}
	r.Browser = New(Options{
		Clock: clock.Standard(), Epoch: time.Now().Add(-time.Second), Protocol: scenario.H2, Address: addresses[0],
		Limits: scenario.Browser{H2Streams: 256}, TLS: &tls.Config{RootCAs: roots},
		Dial: func(ctx context.Context, _, _ string) (c net.Conn, err error) {
			c, err = memory.Dial(ctx, "tcp", addresses[0])
			addresses, r.dialled = addresses[1:], c
			return c, err
		},
	})
	t.Cleanup(r.Close)
	return r
}

// check loads so many panels and looks at when each had its slot, in seconds after the load's start, in the order in which they were asked for.
func (r *relay) check(t *testing.T, what string, most int, slots ...int) {
	t.Helper()
	r.most = 0
	seen := load(t, r.Browser, len(slots))
	if seen.Outcome != record.OK || r.most != most {
		t.Errorf("%s: %s, %d requests at once, want %d: %s", what, seen.Outcome, r.most, most, seen.FirstError())
	}
	for i, s := range seen.Searches {
		if slot := s.Requests[0].Slot - seen.Intended; slot != record.Time(slots[i])*1_000_000 {
			t.Errorf("%s: panel %d had its slot at %d µs, want %d s", what, i, slot, slots[i])
		}
	}
}

// The server's limit of streams holds from the moment at which a connection opens, whether it is the first of a page in use, of a cold page, or one that
// replaces another; what is beyond it queues, first in first out.
func TestServersStreamLimit(t *testing.T) {
	threes := []int{0, 0, 0, 1, 1, 1, 2, 2, 2}
	synctest.Test(t, func(t *testing.T) {
		warm := newRelay(t, 3)
		if err := warm.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		warm.check(t, "a page in use", 3, threes...)
	})
	synctest.Test(t, func(t *testing.T) {
		newRelay(t, 3).check(t, "a cold page", 3, threes...)
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t, 5, 3, 6)
		r.check(t, "the first connection", 5, 0, 0, 0, 0, 0, 1, 1, 1, 1)
		_ = r.dialled.Close()
		synctest.Wait()
		r.check(t, "a lower limit", 3, threes...)
		_ = r.dialled.Close()
		synctest.Wait()
		r.check(t, "a higher limit", 6, 0, 0, 0, 0, 0, 0, 1, 1, 1)
	})
}

// What was under way on a connection that broke is sent again over the next one, as far as its limit allows; the rest waits.
func TestStreamLimitAfterABreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t, 5, 2)
		if err := r.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(500*time.Millisecond, func() { _ = r.dialled.Close() })
		start := time.Now()
		seen := load(t, r.Browser, 5)
		if took := time.Since(start); seen.Outcome != record.OK || took != 3500*time.Millisecond {
			t.Errorf("%s after %v, want it after 3.5 s: half a second, then three rounds of two, two and one: %s", seen.Outcome, took, seen.FirstError())
		}
		for i, s := range seen.Searches {
			if !s.Requests[0].Resent || s.Requests[0].Connection != 2 {
				t.Errorf("panel %d: %+v", i, s.Requests[0])
			}
		}
	})
}

// Chromium takes it that a server allows 100 requests until it has said how many, and never sends more than 256 at once.
func TestStreamsBeforeTheServersLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for own, want := range map[int]int{256: 100, 50: 50} {
			l := &line{slots: New(Options{Protocol: scenario.H2, Limits: scenario.Browser{H2Streams: own}}).slots}
			l.add(101)
			if len(l.given) != want {
				t.Errorf("a browser's own limit of %d: %d requests are meant for an unknown server, want %d", own, len(l.given), want)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		slots := make([]int, 260)
		for i := range slots {
			slots[i] = i / 256
		}
		newRelay(t, 1000).check(t, "a server that allows more", 256, slots...)
	})
}

// A server that wants another connection, as many do after some hundreds of requests, answers what it has. What comes later goes over the new one.
func TestServerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t, 250, 250)
		if err := r.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.leaves = true
		numbers := make(chan int, 2)
		for _, at := range []time.Duration{300 * time.Millisecond, 600 * time.Millisecond} {
			time.AfterFunc(at, func() {
				r.send(t.Context(), call{method: http.MethodGet, path: statusPath}, func(_ answer, seen record.Request, err error) {
					if err != nil {
						t.Error(err)
					}
					numbers <- seen.Connection
				})
			})
		}
		seen := load(t, r.Browser, 5)
		if seen.Outcome != record.OK {
			t.Error(seen.FirstError())
		}
		for i, s := range seen.Searches {
			if q := s.Requests[0]; q.Resent || q.Connection != 1 || len(s.Requests) != 1 {
				t.Errorf("panel %d: %+v", i, s.Requests)
			}
		}
		if first, second := <-numbers, <-numbers; first != 1 || second != 2 {
			t.Errorf("over connections %d and %d, want 1 and 2", first, second)
		}
	})
}
