package wire_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"pollbench/bench/wire"
)

// TestServerSockets: real sockets, whose reads are stopped by other means, and many at once for the race detector: watched and not, with
// peers who stay and peers who go.
func TestServerSockets(t *testing.T) {
	gone := make(chan struct{}, 100)
	server := &wire.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			<-r.Context().Done()
			gone <- struct{}{}
		case "/watched":
			ctx, cancel := context.WithTimeout(r.Context(), time.Millisecond)
			defer cancel()
			<-ctx.Done()
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			plain, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer plain.Close()
			c := wire.New(plain)
			for i := range 50 {
				path := []string{"/", "/watched"}[i%2]
				body := strings.Repeat("x", i*1000)
				r, _ := http.NewRequest("POST", "http://h"+path, strings.NewReader(body))
				if err := c.Send(r); err != nil {
					t.Error(err)
					return
				}
				receive(t, c, r, body)
			}
			_, _ = io.WriteString(plain, "GET /gone"+hostField+"\r\n")
		})
	}
	group.Wait()
	for range 10 {
		<-gone
	}
}

// TestServerLingers: who sends more than the server reads can still send it and read the answer, although the connection is ended. Closing it
// at once would have the system send a reset.
func TestServerLingers(t *testing.T) {
	server := &wire.Server{Handler: http.HandlerFunc(different), H2Streams: 1}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	for head, want := range map[string]string{
		"POST /" + hostField + "Content-Length: x\r\n\r\n": "HTTP/1.1 400 ",
		// SETTINGS, and a frame that is too large. In answer comes GOAWAY, of 8 bytes: the last stream, which is none, and FRAME_SIZE_ERROR.
		http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\xff\xff\xff\x00\x00\x00\x00\x00\x01": "\x00\x00\x08\x07\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x06",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetWriteBuffer(64 << 10) // it would take everything
		if _, err := io.WriteString(c, head+strings.Repeat("x", 3<<20)); err != nil {
			t.Errorf("%.10q: %v", head, err)
		}
		if answer, err := io.ReadAll(c); err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%.10q: %q, %v", head, answer, err)
		}
	}
}

// exhausted is a listener to which the system gives no descriptor at first, and then fails.
type exhausted struct {
	net.Listener
	errors []syscall.Errno
}

func (l *exhausted) Accept() (net.Conn, error) {
	if len(l.errors) == 0 {
		return l.Listener.Accept()
	}
	err := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", l.errors[0])}
	l.errors = l.errors[1:]
	return nil, err
}

// TestServerAccept: a lack of descriptors passes; what does not pass ends Serve.
func TestServerAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := host(t, different)
		l, _ := s.memory.Listen()
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(&exhausted{l, []syscall.Errno{syscall.EMFILE, syscall.ENFILE}}) }()
		c, err := s.memory.Dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, end)
		if answer, _ := io.ReadAll(c); undated(string(answer)) != closed {
			t.Errorf("%q", answer)
		}
		s.close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	server := &wire.Server{Handler: http.HandlerFunc(different)}
	if err := server.Serve(&exhausted{l, []syscall.Errno{syscall.EINVAL}}); err == nil || err == http.ErrServerClosed {
		t.Error(err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is open")
	}
}
