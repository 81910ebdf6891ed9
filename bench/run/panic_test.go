package run

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/network"
	"pollbench/fixtures/site"
)

// loose is a clock that panics when somebody below all of these functions uses it, after a certain function has; a single time.
type loose struct {
	clock.Clock
	below []string
	from  string
	armed atomic.Bool
	once  atomic.Bool
}

func (l *loose) Now() time.Time {
	l.used()
	return l.Clock.Now()
}

func (l *loose) At(t time.Time, f func()) func() bool {
	l.used()
	return l.Clock.At(t, f)
}

func (l *loose) used() {
	caller, _, _, _ := runtime.Caller(2)
	if strings.HasSuffix(runtime.FuncForPC(caller).Name(), l.from) {
		l.armed.Store(true)
	}
	if !l.armed.Load() {
		return
	}
	stack := string(debug.Stack())
	for _, f := range l.below {
		if !strings.Contains(stack, f) {
			return
		}
	}
	if l.once.CompareAndSwap(false, true) {
		panic("out of luck")
	}
}

// closes is an Elasticsearch that tells whether it has been closed.
type closes struct {
	*double
	closed bool
}

// Close implements Elasticsearch.
func (c *closes) Close() error {
	c.closed = true
	return c.double.Close()
}

// A panic, whichever goroutine it is on and whether or not the load counts, ends the run with an error that tells where it was; and what was started for the
// run is closed.
func TestPanicEndsTheRun(t *testing.T) {
	const (
		warmUp  = "bench/run.warmUpWith"
		opening = "bench/run.Run"        // its first use of the clock is between the two
		loads   = "bench/run.NewMonitor" // which begins to watch when pages have been opened
	)
	started := "bench/browser.(*goroutines).guard("
	for _, c := range []struct {
		below []string
		from  []string
		only  scenario.Protocol // empty: both
		alone bool
	}{
		{below: []string{"bench/browser.(*search).answered("}, from: []string{warmUp, loads}},
		{below: []string{"bench/browser.(*search).answered("}, from: []string{loads}, alone: true},
		{below: []string{"bench/browser.(*search).begin("}, from: []string{warmUp, loads}},
		{below: []string{"bench/browser.(*search).send(", "bench/browser.(*search).answered.func", started}, from: []string{warmUp, loads}},
		{below: []string{"bench/browser.(*search).giveUp(", started}, from: []string{loads}},
		{below: []string{"bench/browser.(*page).begin(", started}, from: []string{loads}},
		{below: []string{"bench/browser.(*page).hide(", started}, from: []string{loads}},
		{below: []string{"bench/browser.(*bystanders).send("}, from: []string{loads}},
		{below: []string{"bench/browser.(*Browser).send.func1("}, from: []string{warmUp, loads}},
		{below: []string{"bench/browser.(*http1Conn).roundTrip("}, from: []string{warmUp, opening, loads}, only: scenario.HTTP1},
		{below: []string{"bench/browser.(*h2Conn).exchange("}, from: []string{warmUp, opening, loads}, only: scenario.H2},
		{below: []string{"bench/run.(*Monitor).watch("}, from: []string{loads}},
	} {
		for _, protocol := range scenario.Protocols() {
			if c.only != "" && c.only != protocol {
				continue
			}
			for _, from := range c.from {
				s := shipped(t, "smoke")
				s.Strategies = s.Strategies[:1] // traditional, which sleeps before each poll
				s.Protocols = []scenario.Protocol{protocol}
				s.Tabs = scenario.Tabs{Count: 2, Every: ms(110)}
				if strings.HasSuffix(c.below[0], "hide(") {
					s.Tabs.Hide = ms(900)
				}
				s.SearchTimeout, s.Groups[0].Sweep = ms(1110), s.Groups[0].Sweep[1:]
				t.Run(strings.Join(c.below, " ")+" "+string(protocol)+" from "+from, func(t *testing.T) {
					checkPanic(t, s, &loose{Clock: clock.Standard(), below: c.below, from: from}, plan.Options{Alone: c.alone})
				})
			}
		}
	}
}

func checkPanic(t *testing.T, s scenario.Scenario, c *loose, o plan.Options) {
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		started := &closes{}
		backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Begin: func(context.Context, Size) (Elasticsearch, error) {
			started.double = newDouble(t, n, elastic.Options{SearchThreads: 8}) // so that warming up takes few searches
			return started, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		o.AtOnce = backend.AtOnce()
		err = Run(t.Context(), Options{
			Scenario: s, Plan: plan.New(s, o), Clock: c, Backend: backend, Record: func(record.Trial) error { return nil },
		})
		var p *browser.Panic
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "panic: out of luck") || !strings.Contains(err.Error(), c.below[0]) {
			t.Errorf("%v", err)
		}
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
		if !started.closed {
			t.Error("Elasticsearch runs on")
		}
	})
}

// One while the servers are started is no different.
func TestPanicAtStart(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		started := &closes{}
		begin := func(context.Context, Size) (Elasticsearch, error) {
			started.double = newDouble(t, n, elastic.Options{})
			return started, nil
		}
		c := &loose{Clock: clock.Standard(), below: []string{"bench/run.(*Backend).ask("}, from: "bench/run.(*Backend).ask"}
		_, err := Start(t.Context(), c, n, s, Target{Begin: begin})
		var p *browser.Panic
		if !errors.As(err, &p) || !started.closed {
			t.Errorf("%v; closed: %v", err, started.closed)
		}
	})
}

// dies is an Elasticsearch that has ended by itself and cannot be closed.
type dies struct{ *double }

// Done implements Elasticsearch.
func (dies) Done() <-chan struct{} {
	ended := make(chan struct{})
	close(ended)
	return ended
}

// Close implements Elasticsearch.
func (dies) Close() error { panic("out of luck") }

// One while it is found out why Elasticsearch has ended is told instead.
func TestPanicOfTheEnded(t *testing.T) {
	servers, err := site.New(site.Options{Clock: clock.Standard()})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close(context.Background())
	var p *browser.Panic
	if err := <-(&Backend{site: servers, started: dies{}}).failed(t.Context()); !errors.As(err, &p) {
		t.Errorf("%v", err)
	}
}

// unreadable is a network on which who deletes a search panics over the body of the answer.
type unreadable struct{ network.Memory }

// Dial implements Network.
func (u *unreadable) Dial(ctx context.Context, protocol, address string) (net.Conn, error) {
	c, err := u.Memory.Dial(ctx, protocol, address)
	return unreadableConn{c}, err
}

type unreadableConn struct{ net.Conn }

// Read implements net.Conn.
func (c unreadableConn) Read(p []byte) (int, error) {
	if strings.Contains(string(debug.Stack()), "bench/run.removeSearch(") {
		panic("out of luck")
	}
	return c.Conn.Read(p)
}

// One while searches are deleted is told as what could not be deleted is, and the others are still tried.
func TestPanicWhileDeleting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &unreadable{}
		var asked atomic.Int64
		server := Server{URL: serve(t, &n.Memory, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done() // so that the body is read after the header
		}))}
		b := &Backend{network: n, clock: clock.Standard(), target: Target{Elasticsearch: server}, server: server}
		for range 2 * deleters {
			b.asked.add("a")
		}
		err := b.deleteSearches()
		if err == nil || !strings.Contains(err.Error(), "16 of 16 searches could not be deleted (panic: out of luck") || asked.Load() != 2*deleters {
			t.Errorf("%d asked: %v", asked.Load(), err)
		}
	})
}
