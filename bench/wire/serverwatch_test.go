package wire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/wire"
	"pollbench/fixtures/network"
)

// waits is how a handler may wait for the peer's disconnect.
var waits = map[string]func(context.Context){
	"Done": func(ctx context.Context) { <-ctx.Done() },
	"WithTimeout": func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		<-ctx.Done()
	},
	"WithCancel of a value": func(ctx context.Context) {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, http.ServerContextKey, 1))
		defer cancel()
		<-ctx.Done()
	},
	"AfterFunc": func(ctx context.Context) {
		ended := make(chan struct{})
		context.AfterFunc(ctx, func() { close(ended) })
		<-ended
	},
}

// TestServerContextEnds in every way a handler may wait, when the peer goes and when the server is closed.
func TestServerContextEnds(t *testing.T) {
	for name, wait := range waits {
		for _, by := range []string{"peer", "server"} {
			t.Run(name+" by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var after time.Duration
					start := time.Now()
					s := host(t, func(w http.ResponseWriter, r *http.Request) {
						if ctx := r.Context(); ctx.Err() != nil || context.Cause(ctx) != nil || ctx.Value("key") != nil {
							t.Error("the context has ended before")
						}
						wait(r.Context())
						after = time.Since(start)
						if err := r.Context().Err(); err != context.Canceled || context.Cause(r.Context()) != err {
							t.Errorf("context: %v", err)
						}
					})
					c := s.dial()
					_, _ = io.WriteString(c, "POST /"+hostField+"Content-Length: 0\r\n\r\n")
					time.Sleep(10 * time.Second)
					if by == "peer" {
						_ = c.Close()
					} else {
						s.close()
					}
					synctest.Wait()
					if after != 10*time.Second {
						t.Errorf("after %v", after)
					}
				})
			})
		}
	}
}

// TestServerContextOver: the context ends with the handler, whether or not anybody has waited for that before.
func TestServerContextOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var contexts []context.Context
		s := host(t, func(w http.ResponseWriter, r *http.Request) {
			contexts = append(contexts, r.Context())
			if r.URL.Path == "/done" {
				_ = r.Context().Done()
			}
		})
		answer := s.talk("GET /done" + hostField + "\r\n" + "GET /" + hostField + "Connection: close\r\n\r\n")
		if want := strings.Replace(closed, "Connection: close\r\n", "", 1) + closed; answer != want {
			t.Errorf("%q", answer)
		}
		for _, ctx := range contexts {
			if ctx.Err() != context.Canceled {
				t.Errorf("context: %v", ctx.Err())
			}
			<-ctx.Done()
			if _, limited := ctx.Deadline(); limited || ctx.Err() != context.Canceled {
				t.Errorf("context: %v", ctx.Err())
			}
		}
	})
}

// TestServerContextBody: who reads the body has the connection to itself until its end; then the watch begins.
func TestServerContextBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		s := host(t, func(w http.ResponseWriter, r *http.Request) {
			done := r.Context().Done()
			if r.URL.Path == "/read" {
				if body, err := io.ReadAll(r.Body); string(body) != "abc" || err != nil {
					t.Errorf("%q, %v", body, err)
				}
			} else if _, err := io.ReadAll(r.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("half a body: %v", err)
			}
			<-done
			ended++
		})
		for i, path := range []string{"/read", "/half"} {
			c := s.dial()
			_, _ = io.WriteString(c, "POST "+path+hostField+"Content-Length: 3\r\n\r\nab")
			synctest.Wait()
			if path == "/read" {
				_, _ = io.WriteString(c, "c")
				synctest.Wait()
			}
			if ended != i {
				t.Fatal("ended before the peer went")
			}
			_ = c.Close()
			synctest.Wait()
			if ended != i+1 {
				t.Error("not ended by the peer")
			}
		}
	})
}

// TestServerPipelinedWhileWatching: the watch has read the first byte of the second request, and the third while it cannot end any more.
func TestServerPipelinedWhileWatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := host(t, func(w http.ResponseWriter, r *http.Request) {
			done := r.Context().Done()
			select {
			case <-done:
				t.Error("ended")
			case <-time.After(30 * time.Second):
			}
			if r.Context().Done() != done {
				t.Error("another channel")
			}
			_, _ = io.WriteString(w, r.Method+r.URL.Path)
		})
		c := s.dial()
		for _, raw := range []string{"GET /1" + hostField + "\r\n", "G", "ET /2" + hostField + "\r\nGET /3" + hostField + "Connection: close\r\n\r\n"} {
			_, _ = io.WriteString(c, raw)
			time.Sleep(time.Second)
		}
		answer, err := io.ReadAll(c)
		want := ok("GET/1") + ok("GET/2") + strings.Replace(ok("GET/3"), "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
		if err != nil || undated(string(answer)) != want {
			t.Errorf("%q, %v", answer, err)
		}
	})
}

// TestServerLongPolls: waiting handlers are answered when their time has come, and their connections used again. Those who do not look at the context
// have no second goroutine.
func TestServerLongPolls(t *testing.T) {
	const polls = 20
	for name, each := range map[string]int{"/": 1, "/watched": 2} {
		synctest.Test(t, func(t *testing.T) {
			s := host(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/watched" {
					_, cancel := context.WithCancel(r.Context()) // which needs no goroutine of its own
					defer cancel()
				}
				time.Sleep(30 * time.Second)
				_, _ = io.WriteString(w, "at last")
			})
			synctest.Wait()
			before := bubbled()
			var conns []*wire.Conn
			for range polls {
				conns = append(conns, wire.New(s.dial()))
			}
			for range 3 {
				start := time.Now()
				r, _ := http.NewRequest("GET", s.url(name), nil)
				for _, c := range conns {
					if err := c.Send(r); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if n := bubbled() - before; n != each*polls {
					t.Errorf("%s: %d goroutines for %d requests", name, n, polls)
				}
				for _, c := range conns {
					receive(t, c, r, "at last")
				}
				if after := time.Since(start); after != 30*time.Second {
					t.Errorf("%s: after %v", name, after)
				}
			}
		})
	}
}

// bubbled counts the goroutines of the bubble; others may be ending meanwhile.
func bubbled() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), ", synctest bubble ")
}

func receive(t testing.TB, c *wire.Conn, r *http.Request, want string) {
	t.Helper()
	response, err := c.Receive(r)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != want {
		t.Fatalf("%.100q, %v", body, err)
	}
}

// TestServerClose waits for no handler, and is followed by no service.
func TestServerClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := host(t, func(w http.ResponseWriter, r *http.Request) {
			<-release
			if r.Context().Err() == nil {
				t.Error("the context goes on")
			}
			_, _ = w.Write(make([]byte, 10000))
			if _, err := w.Write(make([]byte, 10000)); err == nil {
				t.Error("written to a closed connection")
			}
		})
		waiting, idle := s.dial(), s.dial()
		_, _ = io.WriteString(waiting, "GET /"+hostField+"\r\n")
		synctest.Wait()
		s.close()
		for _, c := range []net.Conn{waiting, idle} {
			if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Error("the connection is open")
			}
		}
		close(release)
		l, _ := new(network.Memory).Listen()
		if err := s.Serve(l); err != http.ErrServerClosed {
			t.Errorf("Serve after Close: %v", err)
		}
		if _, err := l.Accept(); err == nil {
			t.Error("the listener is open")
		}
	})
}
