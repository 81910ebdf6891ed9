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

// What another machine is told to get is no less than it gets, by whichever way and from the first request to the last, and little more.
func TestExpectedTraffic(t *testing.T) {
	s := shipped(t, "smoke")
	s.Repeats = 2
	http1 := s
	http1.Protocols = []scenario.Protocol{scenario.HTTP1}
	for name, c := range map[string]struct {
		s      scenario.Scenario
		target Target
	}{
		"server":    {s, Target{DelayBy: ByServer, AtOnce: 16, Rate: 100}},
		"gate":      {s, Target{DelayBy: ByGate, AtOnce: 16, Rate: 100}},
		"all":       {s, Target{DelayBy: ByServer, Rate: 20}},
		"one":       {s, Target{AtOnce: 4, Rate: 50}},
		"fast":      {s, Target{DelayBy: ByServer, AtOnce: 4, Rate: 1000}},
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
				p := plan.New(c.s, plan.Options{AtOnce: c.target.AtOnce, Spacing: plan.RealSpacing, Busy: Busy(c.s)})
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
				if n := len(got.all); n > want.Requests || n < want.Requests*2/3 {
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
