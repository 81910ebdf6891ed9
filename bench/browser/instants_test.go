package browser

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/serverclock"
	"pollbench/bench/strategy"
	"pollbench/fixtures/documents"
	"pollbench/fixtures/elastic"
)

// away is a browser that is a round trip away from its server.
func away(t *testing.T, rtt time.Duration) func(*Options) {
	return func(o *Options) { o.Dial = hop(t, rtt, o.Dial) }
}

// of some panels, each with its own delay, so that they can be told apart. The first is done within a submit's wait.
func panels(delays ...time.Duration) []Panel {
	var all []Panel
	for _, d := range delays {
		all = append(all, Panel{Group: "g", Delay: clock.Seconds{Duration: d}})
	}
	return all
}

var someDelays = []time.Duration{50 * time.Millisecond, 1000700 * time.Microsecond, 2345600 * time.Microsecond}

func plays(t *testing.T, b *Browser, d Dashboard) record.Trial {
	t.Helper()
	seen, err := b.Load(t.Context(), time.Now(), d)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// estimated gives the browser the server's clock.
func estimated(t *testing.T, b *Browser, index string) serverclock.Offset {
	t.Helper()
	if err := b.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := serverclock.Estimate(t.Context(), func(ctx context.Context) (serverclock.Exchange, error) { return b.ClockExchange(ctx, index) })
	if err != nil {
		t.Fatal(err)
	}
	b.options.ServerClock = &o
	return o
}

// near checks one instant of a search against the truth.
func near(t *testing.T, what string, b *Browser, got record.Time, want time.Time, within time.Duration) {
	t.Helper()
	if off := b.options.Epoch.Add(length(got)).Sub(want); off.Abs() > within+time.Microsecond {
		t.Errorf("%s is off by %v, should be within %v", what, off, within)
	}
}

// Before a real Elasticsearch, which tells milliseconds on its own clock, the instants are what the embedded one knows exactly, within what its
// clock is uncertain by and what was cut off. The clock is uncertain by half of what an exchange takes beside the search, and of the millisecond that is cut off.
func TestInstantsOfElasticsearch(t *testing.T) {
	for _, protocol := range scenario.Protocols() {
		for i, s := range []strategy.Strategy{
			strategy.Continuous(), strategy.Traditional(), strategy.Fallback(), strategy.Sync(), strategy.Continuous(), strategy.Sync(),
		} {
			var last, behind time.Duration // round trips
			if i >= 4 {
				last, behind = 21400*time.Microsecond, 6200*time.Microsecond
			}
			synctest.Test(t, func(t *testing.T) {
				server, exact := dashboard(t, behind, elastic.Options{})
				b := opened(t, protocol, server.ServeHTTP, away(t, last))
				o := estimated(t, b, documents.Index)
				if o.Contradiction != 0 || (o.Ahead-aheadBy).Abs() > o.Uncertainty || o.Uncertainty > (last+behind+time.Millisecond)/2+time.Microsecond {
					t.Errorf("%s over %s: clock %+v", s.Describe(), protocol, o)
				}
				trial := plays(t, b, Dashboard{Index: documents.Index, Strategy: s, Panels: panels(someDelays...)})
				for _, search := range trial.Searches {
					if search.Outcome != record.OK {
						t.Fatalf("%s over %s: %s", s.Describe(), protocol, search.Error)
					}
					want := exact.of(t, search)
					accepted, ready := o.Uncertainty+500*time.Microsecond, o.Resolution()
					if s.Sync { // such an answer tells only how long the search took
						submit := search.Requests[0]
						accepted = (length(submit.FirstByte-submit.Sent)-search.Delay.Duration)/2 + time.Millisecond
						ready = accepted
					}
					near(t, "accepted", b, search.Accepted, want.accepted, accepted)
					near(t, "ready", b, search.Ready, want.ready, ready)
					// Nothing queues here: the search began when it was accepted, but for what is cut off.
					if waited := search.Start - search.Accepted; waited < 0 || waited > 1000 {
						t.Errorf("%s over %s: waited %d µs on the server", s.Describe(), protocol, waited)
					}
				}
				if by, n := o.Contradicted([]record.Trial{trial}); by != 0 || n != len(someDelays) {
					t.Errorf("%s over %s: the clock is contradicted by %v in %d searches", s.Describe(), protocol, by, n)
				}
			})
		}
	}
}

// One thread on the server, and three searches: the second waits for the first, the third for both. Nobody tells when they began; it follows from when they
// were ready.
func TestQueueOfElasticsearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, exact := dashboard(t, 0, elastic.Options{SearchThreads: 1})
		b := opened(t, scenario.H2, server.ServeHTTP)
		o := estimated(t, b, documents.Index)
		trial := plays(t, b, Dashboard{Index: documents.Index, Strategy: strategy.Continuous(), Panels: panels(time.Second, 1100*time.Millisecond, 1200*time.Millisecond)})
		var longest time.Duration
		for _, search := range trial.Searches {
			want := exact.of(t, search)
			near(t, "accepted", b, search.Accepted, want.accepted, o.Uncertainty+500*time.Microsecond)
			near(t, "start", b, search.Start, want.start, o.Resolution())
			near(t, "ready", b, search.Ready, want.ready, o.Resolution())
			longest = max(longest, want.start.Sub(want.accepted))
		}
		if longest < 2100*time.Millisecond { // whichever two went first
			t.Errorf("the last has queued for %v", longest)
		}
	})
}

// Server-Timing wins over what the body says, and tells of the queue exactly: of two searches of 1 s one begins when the other is done.
func TestServerTimingWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastic.New(elastic.Options{SearchThreads: 1})
		t.Cleanup(func() { _ = server.Close() })
		b := opened(t, scenario.H2, func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path, SearchPath, "/pollbench/_async_search", 1)
			r.URL.RawPath, r.URL.RawQuery = "", "wait_for_completion_timeout=30s"
			r.Body = io.NopCloser(strings.NewReader(`{"aggs":{"d":{"shard_delay":{"value":"1s"}}}}`))
			server.ServeHTTP(w, r)
		})
		b.options.ServerClock = &serverclock.Offset{Reference: time.Now(), Ahead: time.Hour}
		at, second := b.since(time.Now()), record.Time(1e6)
		trial := plays(t, b, Dashboard{Index: documents.Index, Strategy: strategy.LongFirstWait(), Panels: panels(time.Second, time.Second)})
		var waited record.Time
		for _, search := range trial.Searches {
			waited += search.Start - search.Accepted
			if search.Accepted != at || search.Ready-search.Start != second {
				t.Errorf("%+v, want one accepted at %d and executed for 1 s", search, at)
			}
		}
		if waited != 2*second { // each waits for the other: the one that is executed first, for its result to be put together
			t.Errorf("both waited for %d µs, want 2 s", waited)
		}
	})
}

// What cannot be told is an error, as is a clock that does not fit.
func TestInstantsThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		at   *serverclock.Offset
		want string
	}{
		"nothing told":        {`{"is_running":false}`, nil, "no Server-Timing with the search's start and ready, nor anything else"},
		"unknown clock":       {`{"is_running":false,"start_time_in_millis":1,"completion_time_in_millis":2,"response":{"took":1}}`, nil, "its server's clock stands is not known"},
		"another clock":       {`{"is_running":false,"start_time_in_millis":1,"completion_time_in_millis":2,"response":{"took":1}}`, &serverclock.Offset{}, "the server's clock was set"},
		"own form, failed":    {`{"id":"a","rawResponse":{"error":{}},"isPartial":false,"isRunning":false}`, nil, "search failed"},
		"own form, no result": {`{"id":"a","rawResponse":{},"isPartial":false,"isRunning":false}`, nil, "nor anything else"},
		"own form, partial":   {`{"id":"a","rawResponse":{"took":1},"isPartial":true,"isRunning":false}`, nil, "search failed"},
		"streamed error":      {`{"error":{"type":"x"},"status":404}`, nil, "search failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := opened(t, scenario.H2, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.body)) })
			if c.at != nil {
				c.at.Reference = time.Now()
			}
			b.options.ServerClock = c.at
			search := plays(t, b, Dashboard{Index: documents.Index, Strategy: strategy.Continuous(), Panels: panels(time.Second)}).Searches[0]
			if search.Outcome != record.Failed || !strings.Contains(search.Error, c.want) {
				t.Errorf("%s: %s %q, want %q", name, search.Outcome, search.Error, c.want)
			}
		})
	}
}

// The clock is asked for in vain, and that is told: answers without instants, refused, or none before the context ends.
func TestClockExchange(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"own form": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"rawResponse":{"took":1},"isRunning":false}`))
		}, serverclock.ErrUntold.Error()},
		"refused": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "status 403"},
		"running": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"id":"a","is_running":true}`)) }, "takes more than 30s"},
		"failed": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"is_running":false,"error":{}}`))
		}, "search failed"},
		"nothing": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server watch for who goes away
			<-r.Context().Done()
		}, "deadline"},
	} {
		for _, protocol := range scenario.Protocols() {
			synctest.Test(t, func(t *testing.T) {
				b := opened(t, protocol, c.answer)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err := b.ClockExchange(ctx, documents.Index)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s over %s: %v, want %q", name, protocol, err, c.want)
				}
				if name == "own form" && !errors.Is(err, serverclock.ErrUntold) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
}

// ending is a context that has ended, of which nobody has been told yet.
type ending struct {
	context.Context
	over atomic.Bool
}

func (e *ending) Err() error {
	if e.over.Load() {
		return context.Canceled
	}
	return nil
}

// An answer that comes once nobody waits for it any more is none: the server may have given it because the request was dropped.
func TestClockExchangeAnsweredTooLate(t *testing.T) {
	for _, protocol := range scenario.Protocols() {
		synctest.Test(t, func(t *testing.T) {
			ctx := &ending{Context: context.Background()}
			b := opened(t, protocol, func(w http.ResponseWriter, _ *http.Request) {
				ctx.over.Store(true)
				w.WriteHeader(http.StatusForbidden)
			})
			if _, err := b.ClockExchange(ctx, documents.Index); err != context.Canceled {
				t.Errorf("over %s: %v, want that the context has ended", protocol, err)
			}
		})
	}
}
