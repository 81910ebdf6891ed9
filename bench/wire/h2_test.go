package wire_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/wire"
	"pollbench/fixtures/network"
)

// secrets returns the certificate of net/http's test server and those who trust it.
var secrets = sync.OnceValues(func() (tls.Certificate, *x509.CertPool) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return s.TLS.Certificates[0], s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
})

// serve starts net/http's server on a network in memory, and returns how to connect to it.
func serve(t testing.TB, h http.Handler) (*http.Server, func() *wire.H2) {
	t.Helper()
	certificate, trusted := secrets()
	memory := &network.Memory{}
	l, err := memory.Listen()
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler:   h,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0), // one test's handler panics
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: 300},
	}
	go func() { _ = server.ServeTLS(l, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
	return server, func() *wire.H2 {
		plain, err := memory.Dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return begin(t, plain, trusted)
	}
}

// begin agrees on HTTP/2 over an open connection.
func begin(t testing.TB, plain net.Conn, trusted *x509.CertPool) *wire.H2 {
	t.Helper()
	secured := tls.Client(plain, &tls.Config{RootCAs: trusted, ServerName: "example.com", NextProtos: []string{"h2"}})
	if err := secured.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := wire.NewH2(t.Context(), secured, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// result is what answered was called with.
type result struct {
	wire.Answer
	err error
}

// send sends a request. The channel holds its result; a second one is a panic.
func send(t testing.TB, c *wire.H2, r wire.Request) (*wire.Stream, <-chan result) {
	t.Helper()
	results := make(chan result, 1)
	s, err := c.Send(r, func(a wire.Answer, err error) {
		results <- result{a, err}
		close(results)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, results
}

// ask sends a request and waits for its answer.
func ask(t testing.TB, c *wire.H2, r wire.Request) wire.Answer {
	t.Helper()
	_, results := send(t, c, r)
	a := <-results
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a.Answer
}

func get(path string) wire.Request {
	return wire.Request{Method: "GET", Authority: "example.com", Path: path}
}

func TestH2HeaderRoundTrip(t *testing.T) {
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["X-Many"] = r.Header["X-Many"]
		w.Header().Set("Kbn-Name", r.Header.Get("Kbn-Xsrf"))
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %d %q", r.Method, r.Host, r.RequestURI, r.ContentLength, body)
	}))
	c := dial()
	// Repeated, so that the second and third come from the tables of header fields.
	for range 3 {
		a := ask(t, c, wire.Request{Method: "POST", Authority: "kibana:5601", Path: "/internal/search?x=1", Body: []byte("{}"), Header: []wire.Field{
			{Name: "x-many", Value: "one"}, {Name: "kbn-xsrf", Value: "true, größer"}, {Name: "x-many", Value: "two"},
		}})
		if a.Status != http.StatusTeapot || a.Header.Get("kbn-name") != "true, größer" || !slices.Equal(a.Header["X-Many"], []string{"one", "two"}) {
			t.Errorf("status %d, header %v", a.Status, a.Header)
		}
		if want := `POST kibana:5601 /internal/search?x=1 2 "{}"`; string(a.Body) != want {
			t.Errorf("body %s, want %s", a.Body, want)
		}
		if a.FirstByte.IsZero() || a.Done.Before(a.FirstByte) {
			t.Errorf("first byte %v, done %v", a.FirstByte, a.Done)
		}
	}
}

func TestH2LargeHeader(t *testing.T) {
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", r.Header.Get("X-Long"))
	}))
	long := strings.Repeat("0123456789abcdef", 5000) // 80 kB, of which HPACK's code for digits saves a third: several frames
	a := ask(t, dial(), wire.Request{Method: "GET", Authority: "example.com", Path: "/", Header: []wire.Field{{Name: "x-long", Value: long}}})
	if got := a.Header.Get("X-Long"); got != long {
		t.Errorf("%d bytes came back, want %d", len(got), len(long))
	}
}

func TestH2NoBody(t *testing.T) {
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		switch r.URL.Path {
		case "/length":
			w.Header().Set("Content-Length", "7")
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "body")
			w.Header().Set("X-Sum", "1")
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	c := dial()
	if a := ask(t, c, get("/")); a.Status != http.StatusNoContent || len(a.Body) != 0 {
		t.Errorf("status %d, body %q", a.Status, a.Body)
	}
	head := get("/length")
	head.Method = "HEAD"
	if a := ask(t, c, head); a.Status != http.StatusOK || a.Header.Get("Content-Length") != "7" || len(a.Body) != 0 {
		t.Errorf("head: status %d, header %v, body %q", a.Status, a.Header, a.Body)
	}
	if a := ask(t, c, get("/trailer")); string(a.Body) != "body" || a.Header.Get("X-Sum") != "" {
		t.Errorf("trailer: header %v, body %q", a.Header, a.Body)
	}
}

// TestH2OutOfOrder has 200 requests open at once; they are answered last first.
func TestH2OutOfOrder(t *testing.T) {
	const requests = 200
	release := make([]chan struct{}, requests)
	for i := range release {
		release[i] = make(chan struct{})
	}
	var open sync.WaitGroup
	open.Add(requests)
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &i)
		open.Done()
		<-release[i]
		_, _ = io.Copy(w, r.Body)
	}))
	c := dial()
	results := make([]<-chan result, requests)
	var senders sync.WaitGroup
	for i := range results {
		senders.Go(func() {
			_, results[i] = send(t, c, wire.Request{Method: "POST", Authority: "example.com", Path: fmt.Sprintf("/%d", i), Body: fmt.Append(nil, "body ", i)})
		})
	}
	senders.Wait()
	open.Wait()
	for i := requests - 1; i >= 0; i-- {
		close(release[i])
		a := <-results[i]
		if want := fmt.Sprint("body ", i); a.err != nil || string(a.Body) != want {
			t.Fatalf("request %d: %q, %v", i, a.Body, a.err)
		}
		if i > 0 && len(results[i-1]) > 0 {
			t.Fatalf("request %d was answered before its turn", i-1)
		}
	}
}

func TestH2LargeBodies(t *testing.T) {
	pattern := make([]byte, 10<<20)
	for i := range pattern {
		pattern[i] = byte(i>>8) ^ byte(i)
	}
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			_, _ = io.Copy(w, r.Body)
		case "/announced":
			w.Header().Set("Content-Length", fmt.Sprint(len(pattern)))
			fallthrough
		default:
			_, _ = w.Write(pattern)
		}
	}))
	c := dial()
	var echoes []<-chan result
	for range 3 { // together more than net/http's server takes at once for a connection: 1 MiB
		_, results := send(t, c, wire.Request{Method: "PUT", Authority: "example.com", Path: "/echo", Body: pattern[:3<<20]})
		echoes = append(echoes, results)
	}
	for _, path := range []string{"/", "/announced"} {
		if a := ask(t, c, get(path)); !bytes.Equal(a.Body, pattern) {
			t.Errorf("%s: %d bytes differ from the %d sent", path, len(a.Body), len(pattern))
		}
	}
	for _, results := range echoes {
		if a := <-results; a.err != nil || !bytes.Equal(a.Body, pattern[:3<<20]) {
			t.Errorf("echo: %d bytes, %v", len(a.Body), a.err)
		}
	}
}

func TestH2BadRequest(t *testing.T) {
	_, dial := serve(t, http.NotFoundHandler())
	c := dial()
	for _, name := range []string{"", "Upper", ":path", "a b", "content-length"} {
		r := get("/")
		r.Header = []wire.Field{{Name: name, Value: "1"}}
		if _, err := c.Send(r, nil); err == nil {
			t.Errorf("field %q was sent", name)
		}
	}
	ask(t, c, get("/"))
}

func TestH2LongPolls(t *testing.T) {
	secrets() // made outside: its server is on a real socket
	synctest.Test(t, func(t *testing.T) {
		server, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(30 * time.Second)
			_, _ = io.WriteString(w, "{}")
		}))
		c := dial()
		start := time.Now()
		var polls []<-chan result
		for range 10 {
			_, results := send(t, c, get("/"))
			polls = append(polls, results)
		}
		for _, results := range polls {
			a := <-results
			if a.err != nil || a.FirstByte.Sub(start) != 30*time.Second || a.Done.Sub(start) != 30*time.Second {
				t.Errorf("first byte after %v, done after %v, error %v", a.FirstByte.Sub(start), a.Done.Sub(start), a.err)
			}
		}
		_ = c.Close()
		_ = server.Close()
	})
}
