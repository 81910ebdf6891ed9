package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"pollbench/bench/wire"
)

// recording is a connection whose peer has said everything and left, and whose answers are kept.
type recording struct {
	net.Conn // nil: nothing else is called
	said     *bytes.Reader
	closed   chan struct{}
	once     sync.Once
	mu       sync.Mutex // handlers may go on when the connection has been closed
	heard    bytes.Buffer
}

func (c *recording) Read(b []byte) (int, error)       { return c.said.Read(b) }
func (c *recording) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *recording) SetReadDeadline(time.Time) error  { return nil }
func (c *recording) SetWriteDeadline(time.Time) error { return nil }
func (c *recording) Close() error                     { c.once.Do(func() { close(c.closed) }); return nil }

func (c *recording) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	default:
		return c.heard.Write(b)
	}
}

// answer is what has come back.
func (c *recording) answer() *bytes.Buffer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.NewBuffer(bytes.Clone(c.heard.Bytes()))
}

// once is a listener with a single connection.
type once struct{ conns chan net.Conn }

func (l once) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l once) Close() error   { return nil }
func (l once) Addr() net.Addr { return &net.TCPAddr{} }

// FuzzServer has a client that says anything. However that is taken, the connection ends, and what came back are answers to the requests that
// the handler saw, in their order, and at most one refusal at the end. The last answer may be cut short.
func FuzzServer(f *testing.F) {
	post := "POST /echo" + hostField
	for _, raw := range []string{
		"GET /" + hostField + "\r\n" + end,
		post + "Content-Length: 3\r\n\r\nabc" + end,
		post + "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: 1\r\n\r\nHEAD /unsized/9000/3" + hostField + "\r\n" + end,
		post + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\naGET /early" + hostField + "\r\n\r\n" + end,
		"GET /flushed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + end,
		"POST /status/304" + hostField + "Content-Length: 9\r\n\r\nun",
		"GET /watched" + hostField + "\r\nGET /watched" + hostField + "\r\n",
		"GET /fields" + hostField + "\r\nGET /status/204" + hostField + "\r\nGET /short" + hostField + "\r\n",
		"CONNECT h:1" + hostField + "\r\n" + end,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var methods []string
		server := &wire.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			methods = append(methods, r.Method)
			switch r.URL.Path {
			case "/watched":
				// The peer has left, unless there was a byte of another request: then nobody can tell.
				ctx, cancel := context.WithTimeout(r.Context(), time.Millisecond)
				defer cancel()
				<-ctx.Done()
			case "/echo", "/early", "/status/304", "/status/204", "/flushed", "/short", "/fields", "/unsized/9000/3":
				different(w, r)
			}
		})}
		c := &recording{said: bytes.NewReader(raw), closed: make(chan struct{})}
		l := once{make(chan net.Conn, 1)}
		l.conns <- c
		close(l.conns)
		if err := server.Serve(l); err != net.ErrClosed {
			t.Fatal(err)
		}
		select {
		case <-c.closed:
		case <-time.After(time.Minute):
			t.Fatal("the connection goes on")
		}
		checkAnswers(t, c.answer(), methods)
	})
}

func checkAnswers(t *testing.T, heard *bytes.Buffer, methods []string) {
	t.Helper()
	all := slices.Clone(heard.Bytes())
	read := bufio.NewReader(heard)
	for i := 0; ; {
		if _, err := read.Peek(1); err != nil {
			if i < len(methods)-1 {
				t.Errorf("%d answers to %d requests: %q", i, len(methods), all)
			}
			return
		}
		method := "GET"
		if i < len(methods) {
			method = methods[i]
		}
		answer, err := http.ReadResponse(read, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("answer %d: %v: %q", i, err, all)
		}
		if answer.StatusCode < 200 {
			continue
		}
		_, err = io.Copy(io.Discard, answer.Body)
		if _, after := read.Peek(1); after == nil && (err != nil || answer.Close || i >= len(methods)) {
			t.Fatalf("more after answer %d (%v): %q", i, err, all)
		}
		i++
	}
}
