package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pollbench/bench/wire"
	"pollbench/fixtures/network"
)

// hosted is a server on a network in memory.
type hosted struct {
	*wire.Server
	t      testing.TB
	memory network.Memory
	l      *tallied
	log    bytes.Buffer // to be read after Close
	ended  chan error
}

// tallied counts the writes of the connections it accepts.
type tallied struct {
	net.Listener
	writes atomic.Int64
}

func (l *tallied) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &talliedConn{c, &l.writes}, nil
}

type talliedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c *talliedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

func host(t testing.TB, h http.HandlerFunc) *hosted {
	t.Helper()
	s := &hosted{t: t, ended: make(chan error, 1)}
	s.Server = &wire.Server{Handler: h, ErrorLog: log.New(&s.log, "", 0)}
	l, err := s.memory.Listen()
	if err != nil {
		t.Fatal(err)
	}
	s.l = &tallied{Listener: l}
	go func() { s.ended <- s.Serve(s.l) }()
	t.Cleanup(s.close)
	return s
}

func (s *hosted) close() {
	if s.ended == nil {
		return
	}
	if err := s.Close(); err != nil {
		s.t.Error(err)
	}
	if err := <-s.ended; err != http.ErrServerClosed {
		s.t.Errorf("Serve: %v", err)
	}
	s.ended = nil
}

func (s *hosted) dial() net.Conn {
	s.t.Helper()
	c, err := s.memory.Dial(s.t.Context(), "tcp", s.l.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *hosted) client() *http.Client {
	transport := &http.Transport{DialContext: s.memory.Dial, DisableCompression: true}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (s *hosted) url(path string) string { return "http://" + s.l.Addr().String() + path }

// talk sends raw bytes and returns what comes back until the server closes the connection.
func (s *hosted) talk(raw string) string {
	s.t.Helper()
	c := s.dial()
	// The server need not read everything.
	go func() { _, _ = io.WriteString(c, raw) }()
	answer, err := io.ReadAll(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return undated(string(answer))
}

var dates = regexp.MustCompile(`Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n`)

func undated(answer string) string { return dates.ReplaceAllString(answer, "") }

// different answers each path in its way.
func different(w http.ResponseWriter, r *http.Request) {
	switch name, number, _ := strings.Cut(r.URL.Path[1:], "/"); name {
	case "echo":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_ = r.Body.Close()
		_, _ = w.Write(body)
	case "status":
		status, _ := strconv.Atoi(number)
		w.WriteHeader(status)
		_, err := w.Write([]byte("body"))
		w.Header().Set("X-Late", "not sent")
		if (err == http.ErrBodyNotAllowed) != (status == 204 || status == 304) {
			panic(err)
		}
	case "early":
		w.Header().Set("Link", "</style>")
		w.WriteHeader(103)
		w.Header().Del("Link")
	case "sized": // of a declared length, in as many writes as its second number says
		var size, writes int
		_, _ = fmt.Sscanf(number, "%d/%d", &size, &writes)
		w.Header().Set("Content-Length", strconv.Itoa(size))
		for range writes {
			_, _ = w.Write(bytes.Repeat([]byte("x"), size/writes))
		}
	case "unsized":
		var size, writes int
		_, _ = fmt.Sscanf(number, "%d/%d", &size, &writes)
		for range writes {
			_, _ = w.Write(bytes.Repeat([]byte("x"), size/writes))
		}
	case "flushed":
		_, _ = io.WriteString(w, "one")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "two")
		if r.ContentLength > 0 {
			w.(http.Flusher).Flush()
			_, _ = io.Copy(w, r.Body)
		}
	case "short":
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "short")
	case "long":
		w.Header().Set("Content-Length", "4")
		_, _ = io.WriteString(w, "long")
		if _, err := io.WriteString(w, "er"); err != http.ErrContentLength {
			panic(err)
		}
	case "fields":
		h := w.Header()
		h["X-Many"] = []string{"1", "2\r\nX-Smuggled: 3"}
		h["Bad Name"], h["Transfer-Encoding"], h["Content-Type"] = []string{"x"}, []string{"gzip"}, nil
		h.Set("Date", "today")
		h.Set("Content-Length", "none")
		_, _ = io.WriteString(w, "text")
	case "close":
		w.Header().Set("Connection", "close")
	case "panic":
		panic("on purpose")
	case "abort":
		_, _ = io.WriteString(w, "never sent")
		panic(http.ErrAbortHandler)
	case "address":
		_, _ = io.WriteString(w, r.RemoteAddr)
	}
}

// TestServerClient has net/http's client ask for all of different's answers, over one connection unless the answer ends it.
func TestServerClient(t *testing.T) { overBoth(t, testClient) }

// overBoth runs a test over each protocol of a server of different's answers.
func overBoth(t *testing.T, test func(*testing.T, *hosted, *http.Client)) {
	var h2 http.Protocols
	h2.SetUnencryptedHTTP2(true)
	for name, protocols := range map[string]*http.Protocols{"http1": nil, "h2": &h2} {
		t.Run(name, func(t *testing.T) {
			s := host(t, different).multiplex(10)
			client := s.client()
			client.Transport.(*http.Transport).Protocols = protocols
			test(t, s, client)
		})
	}
}

func testClient(t *testing.T, s *hosted, client *http.Client) {
	for _, c := range []struct {
		method, path, body string
		status             int
		answer             string
		length             int64 // -1 for chunked
	}{
		{"GET", "/", "", 200, "", 0},
		{"POST", "/echo", "hello", 200, "hello", 5},
		{"POST", "/echo", strings.Repeat("large", 100000), 200, strings.Repeat("large", 100000), -1},
		{"GET", "/status/404", "", 404, "body", 4},
		{"GET", "/status/204", "", 204, "", 0},
		{"GET", "/status/304", "", 304, "", 0},
		{"GET", "/early", "", 200, "", 0},
		{"GET", "/sized/1000000/1", "", 200, strings.Repeat("x", 1000000), 1000000},
		{"GET", "/sized/1000000/1000", "", 200, strings.Repeat("x", 1000000), 1000000},
		{"GET", "/unsized/4096/16", "", 200, strings.Repeat("x", 4096), 4096},
		{"GET", "/unsized/4098/2", "", 200, strings.Repeat("x", 4098), -1},
		{"GET", "/unsized/1000000/1000", "", 200, strings.Repeat("x", 1000000), -1},
		{"GET", "/flushed", "", 200, "onetwo", -1},
		{"HEAD", "/sized/1000000/1", "", 200, "", 1000000},
		{"HEAD", "/unsized/100000/10", "", 200, "", 100000},
		{"HEAD", "/", "", 200, "", -1},
		{"GET", "/long", "", 200, "long", 4},
		{"GET", "/close", "", 200, "", 0},
		{"POST", "/sized/3/1", strings.Repeat("unread", 100), 200, "xxx", 3},
		{"GET", "/address", "", 200, s.l.Addr().String(), int64(len(s.l.Addr().String()))},
	} {
		t.Run(c.method+c.path, func(t *testing.T) {
			r, err := http.NewRequest(c.method, s.url(c.path), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || string(answer) != c.answer {
				t.Errorf("%d bytes, %v; %d wanted", len(answer), err, len(c.answer))
			}
			if response.StatusCode != c.status || response.ContentLength != c.length {
				t.Errorf("status %d, length %d; %d and %d wanted", response.StatusCode, response.ContentLength, c.status, c.length)
			}
			if response.Header.Get("Date") == "" || response.Header.Get("X-Late") != "" {
				t.Error(response.Header)
			}
		})
	}
}

// TestServerNoAnswer: the client learns that there is none, or not all of one.
func TestServerNoAnswer(t *testing.T) {
	overBoth(t, testNoAnswer)
}

func testNoAnswer(t *testing.T, s *hosted, client *http.Client) {
	for _, path := range []string{"/short", "/panic", "/abort"} {
		response, err := client.Get(s.url(path))
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if err == nil {
			t.Error(path, "was answered")
		}
	}
	s.close()
	if !strings.Contains(s.log.String(), "on purpose") || strings.Contains(s.log.String(), http.ErrAbortHandler.Error()) {
		t.Error("logged: " + s.log.String())
	}
}

// TestServerWrites: an answer that is known in time leaves in one write.
func TestServerWrites(t *testing.T) {
	for path, writes := range map[string]int64{
		"/": 1, "/status/404": 1, "/status/204": 1, "/sized/4096/1": 1, "/sized/16384/1": 1, "/sized/4000/10": 1, "/unsized/4096/4": 1,
		"/unsized/16384/1": 2, // with the end, which is only known when the handler returns
		"/flushed":         2,
	} {
		s := host(t, different)
		if answer := s.talk("GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 ") {
			t.Error(path, answer)
		}
		if n := s.l.writes.Load(); n != writes {
			t.Errorf("%s: %d writes, want %d", path, n, writes)
		}
	}
}
