package wire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pollbench/bench/wire"
)

func TestH2Cancel(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			close(arrived)
			<-r.Context().Done()
			close(gone)
		}
	}))
	c := dial()
	s, results := send(t, c, get("/wait"))
	<-arrived
	reason := errors.New("navigated away")
	s.Cancel(reason)
	if a := <-results; a.err != reason {
		t.Errorf("error %v, want %v", a.err, reason)
	}
	<-gone
	s.Cancel(reason) // a second call of answered would panic
	ask(t, c, get("/"))

	s, results = send(t, c, get("/"))
	<-results
	s.Cancel(reason)
	ask(t, c, get("/"))
}

// TestH2CancelRaces cancels while answers arrive: answered is called once, whoever is first.
func TestH2CancelRaces(t *testing.T) {
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	c := dial()
	var calls atomic.Int32
	for range 500 {
		done := make(chan struct{})
		s, err := c.Send(wire.Request{Method: "POST", Authority: "example.com", Path: "/", Body: []byte("body")}, func(wire.Answer, error) {
			calls.Add(1)
			close(done)
		})
		if err != nil {
			t.Fatal(err)
		}
		go s.Cancel(io.EOF)
		<-done
	}
	if calls.Load() != 500 {
		t.Errorf("%d calls for 500 requests", calls.Load())
	}
}

func TestH2Abort(t *testing.T) {
	_, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Path != "/" {
			panic(http.ErrAbortHandler)
		}
	}))
	c := dial()
	for _, path := range []string{"/early", "/late"} {
		_, results := send(t, c, get(path))
		if a := <-results; a.err == nil || !strings.Contains(a.err.Error(), "INTERNAL_ERROR") || a.Status != 0 {
			t.Errorf("%s: %v, status %d", path, a.err, a.Status)
		}
	}
	ask(t, c, get("/"))
}

// TestH2Shutdown lets a server go away gracefully: requests that wait are answered.
func TestH2Shutdown(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	server, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		_, _ = io.WriteString(w, "last words")
	}))
	c := dial()
	_, results := send(t, c, get("/"))
	<-arrived
	over := make(chan error)
	go func() { over <- server.Shutdown(context.Background()) }()
	for c.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if !strings.Contains(c.Err().Error(), "NO_ERROR") {
		t.Error(c.Err())
	}
	if _, err := c.Send(get("/"), func(wire.Answer, error) { t.Error("answered") }); err == nil {
		t.Error("sent a request to a server that goes away")
	}
	close(release)
	if a := <-results; a.err != nil || string(a.Body) != "last words" {
		t.Errorf("%q, %v", a.Body, a.err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestH2Close(t *testing.T) {
	for _, who := range []string{"server", "client"} {
		arrived := make(chan struct{}, 2)
		server, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			<-r.Context().Done()
		}))
		c := dial()
		_, first := send(t, c, get("/"))
		_, second := send(t, c, get("/"))
		<-arrived
		<-arrived
		var err error
		if who == "server" {
			err = server.Close()
		} else {
			err = c.Close()
		}
		if err != nil {
			t.Error(err)
		}
		a, b := <-first, <-second
		if a.err == nil || a.err != b.err || c.Err() == nil || (who == "client") != errors.Is(a.err, wire.ErrClosed) {
			t.Errorf("%s closes: errors %v and %v, then %v", who, a.err, b.err, c.Err())
		}
		if _, err := c.Send(get("/"), nil); err == nil {
			t.Error("sent a request over a connection that has ended")
		}
	}
}

func TestH2Streams(t *testing.T) {
	server, dial := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	c := dial()
	if c.Streams() != 300 {
		t.Fatalf("%d streams, want the 300 that the server is set to", c.Streams())
	}
	for range 300 {
		send(t, c, get("/"))
	}
	if _, err := c.Send(get("/"), nil); err != wire.ErrFull {
		t.Errorf("one too many: %v", err)
	}
	_ = server.Close()
}

func TestH2BeginEnds(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := wire.NewH2(ctx, near, time.Now); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("server without settings: %v", err)
	}
	if _, err := near.Write(nil); err == nil {
		t.Error("the connection was left open")
	}
}
