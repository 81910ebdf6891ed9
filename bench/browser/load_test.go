package browser

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// opened serves the handler as a dashboard server would and opens a page on it, with options that may be changed.
func opened(t *testing.T, protocol scenario.Protocol, handler http.HandlerFunc, change ...func(*Options)) *Browser {
	t.Helper()
	var memory network.Memory
	certificate, roots, err := kibana.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, c)
	}
	o := Options{
		Clock: clock.Standard(), Epoch: time.Now().Add(-time.Second), Protocol: protocol, Address: served(t, &memory, server, certificate),
		Limits: scenario.Browser{HTTP1Connections: 2, H2Streams: 8}, TLS: &tls.Config{RootCAs: roots}, Dial: memory.Dial,
	}
	for _, c := range change {
		c(&o)
	}
	page := New(o)
	t.Cleanup(page.Close)
	return page
}

// served starts the server, for the length of the test, and returns its address.
func served(t *testing.T, memory *network.Memory, server *http.Server, certificate tls.Certificate) string {
	t.Helper()
	listener, err := memory.Listen()
	if err != nil {
		t.Fatal(err)
	}
	server.ErrorLog = log.New(io.Discard, "", 0)
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(listener, "", "")
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return listener.Addr().String()
}

// connectionKey is where a request's context has the connection that it came over.
type connectionKey struct{}

// answered is what Elasticsearch says of a search that is done, or runs on.
func answered(w http.ResponseWriter, running bool) {
	clock.AddInstant(w.Header(), clock.SearchStart, clock.InstantOf(time.Now()))
	if !running {
		clock.AddInstant(w.Header(), clock.SearchReady, clock.InstantOf(time.Now()))
	}
	fmt.Fprintf(w, `{"id":"abc=","is_partial":%v,"is_running":%v,"response":{}}`, running, running)
}

func load(t *testing.T, page *Browser, panels int) record.Trial {
	t.Helper()
	d := Dashboard{Strategy: strategy.Fallback(), Index: "any", Hits: 8}
	for range panels {
		d.Panels = append(d.Panels, Panel{Group: "g", Delay: clock.Seconds{Duration: time.Second}})
	}
	seen, err := page.Load(t.Context(), time.Now(), d)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// A panel whose first or later request fails has failed, with what the server said; the others and the page go on.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail http.HandlerFunc
		want string
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"statusCode":429,"message":"queue is full"}`)
		}, "status 429: queue is full"},
		"cut off":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "POST /internal/search/ese"},
		"not JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "not a whole JSON object: <html>"},
		"failed": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"is_partial":true,"is_running":false,"error":{}}`)
		}, "search failed"},
		"runs without an id": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"is_running":true}`) }, "has no id"},
		"no instants":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"is_running":false}`) }, "no Server-Timing"},
	} {
		for _, protocol := range scenario.Protocols() {
			for _, failing := range []string{SearchPath, SearchPath + "/abc="} {
				if name == "runs without an id" && failing != SearchPath {
					continue // a poll's answer needs none: the page has it
				}
				synctest.Test(t, func(t *testing.T) {
					first := make(chan struct{}, 1)
					first <- struct{}{}
					page := opened(t, protocol, func(w http.ResponseWriter, r *http.Request) {
						if r.URL.EscapedPath() == failing {
							select {
							case <-first: // one of the panels only
								c.fail(w, r)
								return
							default:
							}
						}
						answered(w, r.URL.Path == SearchPath)
					})
					seen := load(t, page, 3)
					var failed []string
					for _, s := range seen.Searches {
						if s.Outcome == record.Failed {
							failed = append(failed, s.Error)
						}
					}
					if name == "cut off" && protocol == scenario.HTTP1 && failing != SearchPath {
						// The connection had been used before, so that the browser sends the request again by itself.
						if seen.Outcome != record.OK {
							t.Errorf("%s at %s over %s: %q", name, failing, protocol, failed)
						}
					} else if seen.Outcome != record.Failed || len(failed) != 1 || !strings.Contains(failed[0], c.want) {
						t.Errorf("%s at %s over %s: %q, want %q", name, failing, protocol, failed, c.want)
					}
					if again := load(t, page, 3); again.Outcome != record.OK {
						t.Errorf("%s at %s over %s: the page cannot load again: %+v", name, failing, protocol, again)
					}
				})
			}
		}
	}
}

// A load that its context ends returns at once, whatever its searches wait for: an answer, a slot, their next poll.
func TestLoadIsEnded(t *testing.T) {
	for _, protocol := range scenario.Protocols() {
		for what, handler := range map[string]http.HandlerFunc{
			"an answer": func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then does the server watch for who goes away
				<-r.Context().Done()
			},
			"the poll": func(w http.ResponseWriter, _ *http.Request) { answered(w, true) },
		} {
			synctest.Test(t, func(t *testing.T) {
				page := opened(t, protocol, handler)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				d := Dashboard{Strategy: strategy.Fallback(), Bystanders: &scenario.Bystanders{Every: clock.Seconds{Duration: time.Second}}}
				for range 5 { // on HTTP/1.1 three of them queue for a slot
					d.Panels = append(d.Panels, Panel{Delay: clock.Seconds{Duration: time.Minute}})
				}
				_, err := page.Load(ctx, start, d)
				if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
					t.Errorf("waiting for %s over %s: ended after %v with %v", what, protocol, took, err)
				}
			})
		}
	}
}

// A browser sends a request again whose connection broke before anything of the answer was there: once, and if the connection had been used before.
func TestBrokenConnectionIsReplaced(t *testing.T) {
	for _, protocol := range scenario.Protocols() {
		for breaks, want := range []struct {
			outcome string
			resent  bool
		}{{record.OK, false}, {record.OK, true}, {record.Failed, true}} {
			synctest.Test(t, func(t *testing.T) {
				left := breaks
				browser := opened(t, protocol, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != SearchPath && r.URL.Path != statusPath && left > 0 {
						left--
						_ = r.Context().Value(connectionKey{}).(net.Conn).Close()
						panic(http.ErrAbortHandler)
					}
					answered(w, r.URL.Path == SearchPath)
				})
				seen := load(t, browser, 1)
				polls := seen.Searches[0].Requests
				if last := polls[len(polls)-1]; seen.Outcome != want.outcome || last.Resent != want.resent {
					t.Errorf("%d breaks over %s: %s, sent again %v; want %s, %v", breaks, protocol, seen.Outcome, last.Resent, want.outcome, want.resent)
				}
			})
		}
	}
}
