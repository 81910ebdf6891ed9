package browser

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// ahead is the clock of a server whose wall clock is ahead.
type ahead struct {
	clock.Clock
	by time.Duration
}

func (a ahead) Now() time.Time                              { return a.Clock.Now().Add(a.by) }
func (a ahead) At(t time.Time, f func()) (stop func() bool) { return a.Clock.At(t.Add(-a.by), f) }

// aheadBy is a time that is no whole number of milliseconds.
const aheadBy = 3*time.Hour + 123_456_700*time.Nanosecond

// witness is a real Elasticsearch as far as instants go: an embedded one on a clock of its own, whose Server-Timing is taken off its answers. What that
// told is kept.
type witness struct {
	next http.Handler

	mu    sync.Mutex
	delay map[string]string // by id
	exact map[string]truth  // by delay
}

// truth is when a search was accepted, when it began to execute, and when it was ready.
type truth struct{ accepted, start, ready time.Time }

var delayInBody = regexp.MustCompile(`"shard_delay":\{"value":"(\w+)"`)

func (o *witness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asked string
	if found := delayInBody.FindSubmatch(body); found != nil {
		asked = string(found[1])
	}
	o.next.ServeHTTP(&stripped{ResponseWriter: w, seen: func(h http.Header) { o.note(r, asked, h) }}, r)
}

func (o *witness) note(r *http.Request, asked string, h http.Header) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id := h.Get("X-Elasticsearch-Async-Id"); id != "" && asked != "" {
		o.delay[id] = asked
	}
	if asked == "" {
		asked = o.delay[strings.TrimPrefix(r.URL.Path, "/_async_search/")]
	}
	told, err := clock.Instants(h)
	if err != nil {
		return
	}
	if ready, ok := told[clock.SearchReady]; ok && asked != "" {
		accepted, queued := told[clock.SearchAccepted]
		if !queued {
			accepted = told[clock.SearchStart]
		}
		o.exact[asked] = truth{accepted.Time().Add(-aheadBy), told[clock.SearchStart].Time().Add(-aheadBy), ready.Time().Add(-aheadBy)}
	}
}

// of finds the truth about a search.
func (o *witness) of(t *testing.T, s record.Search) truth {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	exact, ok := o.exact[timeValue(s.Delay.Duration)]
	if !ok {
		t.Fatalf("nobody saw the end of a search of %v", s.Delay)
	}
	return exact
}

// stripped takes Server-Timing off an answer.
type stripped struct {
	http.ResponseWriter
	seen func(http.Header)
	once sync.Once
}

func (s *stripped) strip() {
	s.once.Do(func() {
		s.seen(s.Header())
		s.Header().Del("Server-Timing")
	})
}

func (s *stripped) WriteHeader(status int) {
	s.strip()
	s.ResponseWriter.WriteHeader(status)
}

func (s *stripped) Write(b []byte) (int, error) {
	s.strip()
	return s.ResponseWriter.Write(b)
}

// hop is a network with a round trip.
func hop(t *testing.T, rtt time.Duration, next network.Dial) network.Dial {
	link := network.NewLink(clock.Standard(), network.Conditions{RTT: rtt}, 1)
	t.Cleanup(link.Close)
	return link.Dial(next)
}

// dashboard is a dashboard server before such an Elasticsearch, and a round trip away from it.
func dashboard(t *testing.T, rtt time.Duration, o elastic.Options) (http.Handler, *witness) {
	t.Helper()
	o.Clock = ahead{clock.Standard(), aheadBy}
	search := elastic.New(o)
	seen := &witness{next: search, delay: map[string]string{}, exact: map[string]truth{}}
	var memory network.Memory
	listener, err := memory.Listen()
	if err != nil {
		t.Fatal(err)
	}
	back := &http.Server{Handler: seen, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = back.Serve(listener) }()
	server, err := kibana.New(kibana.Options{
		Clock: clock.Standard(), Elasticsearch: "http://" + listener.Addr().String(), DialContext: hop(t, rtt, memory.Dial),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
		_ = search.Close()
		_ = back.Close()
	})
	return server.Handler(), seen
}
