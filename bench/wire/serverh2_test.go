package wire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"pollbench/bench/wire"
)

// multiplex lets a server speak HTTP/2 too. It has to come before the first connection.
func (s *hosted) multiplex(streams int) *hosted {
	s.H2Streams = streams
	return s
}

// h2 opens an HTTP/2 connection.
func (s *hosted) h2() *wire.H2 {
	s.t.Helper()
	c, err := wire.NewH2(s.t.Context(), s.dial(), time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestServerH2: both protocols on one listener, and whatever begins like HTTP/2 without being it.
func TestServerH2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := host(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto+" "+r.Method+r.URL.Path)
		}).multiplex(7)
		c := s.h2()
		if got := string(ask(t, c, get("/a")).Body); got != "HTTP/2.0 GET/a" {
			t.Error(got)
		}
		if got := c.Streams(); got != 7 {
			t.Errorf("%d streams allowed", got)
		}
		for _, raw := range []string{
			"GET /b HTTP/1.0\r\n\r\n", "PRI /c HTTP/1.0\r\n\r\n", "P / HTTP/1.0\r\n\r\n",
			"PRI * HTTP/1.0\r\n\r\n", // the last byte but four differs
		} {
			method, rest, _ := strings.Cut(raw, " ")
			path, _, _ := strings.Cut(rest, " ")
			if answer := s.talk(raw); !strings.HasSuffix(answer, "\r\n\r\nHTTP/1.0 "+method+path) {
				t.Errorf("%q: %q", raw, answer)
			}
		}
		// Who goes in the midst of the preface is not answered.
		half := s.dial()
		_, _ = io.WriteString(half, http2.ClientPreface[:20])
		synctest.Wait()
		_ = half.Close()
	})
}

// TestServerH2Unwanted: without a number of streams the preface is a request like any other.
func TestServerH2Unwanted(t *testing.T) {
	s := host(t, different)
	if answer := s.talk(http2.ClientPreface); answer != refused("505 HTTP Version Not Supported") {
		t.Errorf("%q", answer)
	}
}

// TestServerH2Context: a request's context ends with its stream, with its connection and with the server, and not before.
func TestServerH2Context(t *testing.T) {
	for _, by := range []string{"stream", "connection", "server"} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var mu sync.Mutex
				ended := map[string]time.Duration{}
				s := host(t, func(w http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					mu.Lock()
					defer mu.Unlock()
					ended[r.URL.Path] = time.Since(start)
				}).multiplex(10)
				c := s.h2()
				one, _ := send(t, c, get("/one"))
				send(t, c, get("/other"))
				time.Sleep(10 * time.Second)
				switch by {
				case "stream":
					one.Cancel(io.EOF)
				case "connection":
					_ = c.Close()
				case "server":
					s.close()
				}
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if ended["/one"] != 10*time.Second {
					t.Errorf("ended after %v", ended["/one"])
				}
				if _, gone := ended["/other"]; gone != (by != "stream") {
					t.Errorf("the other one ended: %v", gone)
				}
			})
		})
	}
}

// TestServerH2Panic: a handler that panics ends the connection behind what it has flushed, and with it the other requests. The frames are
// as RFC 9113 has them.
func TestServerH2Panic(t *testing.T) {
	for _, size := range []int{10, 100_000} { // within the server's buffer, and beyond
		synctest.Test(t, func(t *testing.T) {
			other := make(chan error, 1)
			s := host(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/other" {
					<-r.Context().Done()
					other <- context.Cause(r.Context())
					return
				}
				w.Header().Set("Content-Length", "1000000")
				_, _ = io.WriteString(w, strings.Repeat("x", size))
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}).multiplex(10)
			conn := s.dial()
			f := http2.NewFramer(conn, conn)
			f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
			_, _ = io.WriteString(conn, http2.ClientPreface)
			check := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			check(f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}))
			check(f.WriteWindowUpdate(0, 1<<20))
			for i, path := range []string{"/other", "/cut"} {
				var block strings.Builder
				fields := hpack.NewEncoder(&block)
				for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "h"}, {":path", path}} {
					_ = fields.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
				}
				synctest.Wait() // the other one is being handled
				check(f.WriteHeaders(http2.HeadersFrameParam{
					StreamID: uint32(2*i + 1), BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true,
				}))
			}
			got, heads := 0, 0
			for {
				frame, err := f.ReadFrame()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Errorf("%d: %v", size, err)
					}
					break
				}
				switch frame := frame.(type) {
				case *http2.DataFrame:
					got += len(frame.Data())
				case *http2.MetaHeadersFrame:
					heads++
				case *http2.RSTStreamFrame, *http2.GoAwayFrame:
					t.Errorf("%d: %v", size, frame)
				}
			}
			if got != size || heads != 1 {
				t.Errorf("%d bytes of %d, %d heads", got, size, heads)
			}
			if err := <-other; err == nil {
				t.Error("the other request goes on")
			}
		})
	}
}

// TestServerH2Close: Close ends what has been handed over, and nothing is taken on afterwards.
func TestServerH2Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := host(t, different).multiplex(10)
		c := s.h2()
		ask(t, c, get("/"))
		late := s.dial()
		_, _ = io.WriteString(late, http2.ClientPreface[:10])
		synctest.Wait()
		s.close()
		_, _ = io.WriteString(late, http2.ClientPreface[10:])
		if n, err := late.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Error("the late connection is open")
		}
		synctest.Wait()
		if c.Err() == nil {
			t.Error("the connection is open")
		}
	})
}

// TestServerH2Room: whoever has an answer has room for another request, however fast they are. This takes real sockets.
func TestServerH2Room(t *testing.T) {
	server := &wire.Server{Handler: http.HandlerFunc(different), H2Streams: 2}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	plain, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.NewH2(t.Context(), plain, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for i := range 500 {
				path := []string{"/", "/status/404", "/sized/100000/1", "/flushed"}[i%4]
				if a := ask(t, c, get(path)); a.Status == 0 {
					t.Error(path)
				}
			}
		})
	}
	group.Wait()
}

// TestServerH2Crowd: many clients with bodies of all sizes, in both directions at once, for the race detector.
func TestServerH2Crowd(t *testing.T) {
	overBoth(t, func(t *testing.T, s *hosted, client *http.Client) {
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				for j := range 20 {
					body := strings.Repeat("x", i*j*j*200)
					resp, err := client.Post(s.url("/echo"), "text/plain", strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					got, err := io.ReadAll(resp.Body)
					_ = resp.Body.Close()
					if err != nil || string(got) != body {
						t.Errorf("%d bytes of %d, %v", len(got), len(body), err)
					}
				}
			})
		}
		group.Wait()
	})
}
