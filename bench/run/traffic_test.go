package run

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// calls are the instants at which a server was asked for something.
type calls struct {
	mu  sync.Mutex
	all []time.Time
	of  map[string][]time.Time // by method
}

func (c *calls) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		if c.of == nil {
			c.of = map[string][]time.Time{}
		}
		now := time.Now()
		c.all, c.of[r.Method] = append(c.all, now), append(c.of[r.Method], now)
		c.mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

// peak is the most within any second.
func (c *calls) peak() int {
	var most int
	for i, from := range c.all {
		n := 0
		for _, at := range c.all[i:] {
			if at.Sub(from) < time.Second {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// serve serves a handler on the network.
func serve(t *testing.T, n *network.Memory, h http.Handler) (url string) {
	t.Helper()
	l, err := n.Listen()
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + l.Addr().String()
}

// Where a server may get only so many requests a second, pages are opened when their time has come, and elsewhere long before.
func TestPagesAhead(t *testing.T) {
	s := shipped(t, "smoke")
	for rate, want := range map[float64]int{0: 8, 100: 1} {
		synctest.Test(t, func(t *testing.T) {
			backend, err := Start(t.Context(), clock.Standard(), &network.Memory{}, s, Target{Rate: rate})
			if err != nil {
				t.Fatal(err)
			}
			defer backend.Close()
			o := Options{Scenario: s, Plan: plan.New(s, plan.Options{Spacing: time.Second}), Clock: clock.Standard(), Backend: backend}
			r := &runner{Options: o, epoch: time.Now(), lead: o.lead(), open: map[int]opened{}}
			defer r.closeAll()
			r.openAhead(t.Context())
			if len(r.open) != want {
				t.Errorf("at %v requests a second %d pages stand open, want %d", rate, len(r.open), want)
			}
		})
	}
}

// Loads that are played alone take as long as all of them together, others as long as the last one to end.
func TestLasts(t *testing.T) {
	s := shipped(t, "smoke") // two strategies over two protocols at 1.03 and 2.03 s; a poll finds out within half a second, and bystanders within another
	for _, c := range []struct {
		alone       bool
		least, most time.Duration
	}{{false, 2030 * time.Millisecond, 3030 * time.Millisecond}, {true, 12240 * time.Millisecond, 20240 * time.Millisecond}} {
		p := plan.New(s, plan.Options{Alone: c.alone})
		if got := Lasts(s, p); got < c.least || got > c.most {
			t.Errorf("alone %v: %v, want %v to %v", c.alone, got, c.least, c.most)
		}
	}
}

// What another machine is told to get is no less than it gets, by whichever way and from the first request to the last, and little more.
func TestExpectedTraffic(t *testing.T) {
	s := shipped(t, "smoke")
	s.Repeats = 2
	http1 := s
	http1.Protocols = []scenario.Protocol{scenario.HTTP1}
	large := s // 2 delays × 4 repeats × 100 panels hold as many long polls as one dashboard server has sockets: a second is needed
	large.Repeats, large.Strategies, large.Protocols = 4, []strategy.Strategy{strategy.Continuous()}, []scenario.Protocol{scenario.H2}
	large.Groups = []scenario.Group{{Panels: 100, Sweep: s.Groups[0].Sweep}}
	for name, c := range map[string]struct {
		s      scenario.Scenario
		target Target
	}{
		"server":    {s, Target{DelayBy: ByServer, AtOnce: 16, Rate: 100}},
		"gate":      {s, Target{DelayBy: ByGate, AtOnce: 16, Rate: 100}},
		"all":       {s, Target{DelayBy: ByServer, Rate: 20}},
		"one":       {s, Target{AtOnce: 4, Rate: 50}},
		"fast":      {s, Target{DelayBy: ByServer, AtOnce: 4, Rate: 1000}},
		"alone":     {s, Target{DelayBy: ByServer, AtOnce: 16, Rate: 100}},
		"large":     {large, Target{DelayBy: ByServer, Rate: 1000}},
		"dashboard": {http1, Target{AtOnce: 16, Rate: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network.Memory{}
				d := newDouble(t, n, elastic.Options{})
				defer d.Close()
				var got calls
				if name == "dashboard" {
					o := kibana.Options{Clock: clock.Standard(), Elasticsearch: d.url, DialContext: n.Dial}
					there, err := kibana.New(o)
					if err != nil {
						t.Fatal(err)
					}
					defer there.Close(context.Background())
					c.target.Dashboard.URL = serve(t, n, got.count(there.Handler()))
				} else {
					if err := remove(t, Server{URL: d.url}, n); err != nil {
						t.Fatal(err)
					}
					c.target.Elasticsearch.URL = d.url
					d.http.Handler = got.count(d)
				}
				p := plan.New(c.s, plan.Options{AtOnce: c.target.AtOnce, Alone: name == "alone", Spacing: plan.RealSpacing, Busy: Busy(c.s)})
				want := c.target.Expect(c.s, p)
				began := time.Now()
				backend, err := Start(t.Context(), clock.Standard(), n, c.s, c.target)
				if err != nil {
					t.Fatal(err)
				}
				err = Run(t.Context(), Options{Scenario: c.s, Plan: p, Clock: clock.Standard(), Backend: backend, Record: func(seen record.Trial) error {
					if seen.Outcome != record.OK {
						t.Error(seen.FirstError())
					}
					return nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				if err := backend.Close(); err != nil {
					t.Fatal(err)
				}
				beside := 10 // asked once more of servers that have only just started, as none here has
				if name != "dashboard" && c.target.DelayBy != ByServer {
					beside += plan.All(c.s) + fewPanels(c.target.AtOnce)*len(c.s.Variants()) // for a gate that may turn out not to be needed
				}
				if n := len(got.all); n > want.Requests || n < want.Requests-beside {
					t.Errorf("%d requests, and %d were expected", n, want.Requests)
				}
				if peak := float64(got.peak()); peak > want.Peak || peak < want.Peak/2 {
					t.Errorf("%v requests in a second, and %v were expected", peak, want.Peak)
				}
				if lasts := time.Since(began); lasts > want.Lasts+2*time.Second || lasts < want.Lasts-2*time.Second {
					t.Errorf("it lasts %v, and %v was expected", lasts, want.Lasts)
				}
				// DELETEs of searches come at the end, at the rate that was allowed; that of the index is the last.
				deleted := got.of[http.MethodDelete]
				slices.SortFunc(deleted, time.Time.Compare)
				each := time.Duration(float64(time.Second) / c.target.Rate)
				for i := 1; i < len(deleted)-1; i++ {
					if apart := deleted[i].Sub(deleted[i-1]); apart < each {
						t.Errorf("a DELETE comes %v after another, %v was allowed", apart, each)
					}
				}
				if len(deleted) < plan.All(c.s) {
					t.Errorf("%d DELETEs", len(deleted))
				}
			})
		})
	}
}
