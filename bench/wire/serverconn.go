package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
)

const (
	// requestBuffer holds a submit with its head. Larger bodies pass it by.
	requestBuffer = 2 << 10

	// mostHead is net/http's default limit of a request's head.
	mostHead = 1 << 20

	// A connection with unread input that is closed at once may take the answer away from the peer before that has read it (the system then sends
	// a reset). So it is read on for a little: longer than a machine stalls, on which both of them may run.
	lingerTime = 5 * time.Second
	lingerMost = 4 << 20
)

// past makes whoever reads return at once.
var past = time.Unix(1, 0)

// served is the server's end of a connection. Its goroutine reads requests, runs the handler and writes what is left of the answer; only
// while nothing is left to be read of a request may another goroutine, which watches for the peer's disconnect, read.
type served struct {
	server  *Server
	conn    net.Conn
	remote  string
	limited io.LimitedReader // from served itself to read: bounds a head
	read    *bufio.Reader
	failed  error // why reading ended; of whoever reads
	current atomic.Pointer[requestContext]
	h2      atomic.Pointer[servedH2] // of a connection that speaks HTTP/2

	mu       sync.Mutex // guards what follows and the state of contexts
	changed  sync.Cond  // a watch has ended
	watching bool
	stopping bool
	hasAhead bool    // ahead was read while watching: it belongs to the next request
	ahead    [1]byte // written by the watch
	awaiting bool    // the peer waits for 100 Continue before it sends the body
}

func newServed(s *Server, conn net.Conn) *served {
	c := &served{server: s, conn: conn, remote: conn.RemoteAddr().String()}
	c.changed.L = &c.mu
	c.limited.R = c
	c.read = bufio.NewReaderSize(&c.limited, requestBuffer)
	return c
}

// Read reads from the connection, first what the watch has read.
func (c *served) Read(p []byte) (int, error) {
	if c.hasAhead && len(p) > 0 {
		c.hasAhead = false
		p[0] = c.ahead[0]
		return 1, nil
	}
	n, err := c.conn.Read(p)
	if err != nil {
		c.failed = err
	}
	return n, err
}

func (c *served) serve() {
	// It also runs when a handler ends its goroutine.
	defer func() {
		c.abort()
		c.server.forget(c)
	}()
	if c.server.H2Streams > 0 && c.prefaced() {
		c.multiplex()
		return
	}
	for c.exchange() {
	}
}

// abort closes the connection and ends the contexts of its requests.
func (c *served) abort() {
	_ = c.conn.Close()
	if h := c.h2.Load(); h != nil {
		h.abort()
	}
	if x := c.current.Load(); x != nil {
		x.end()
	}
}

// exchange handles one request and tells whether another may follow.
func (c *served) exchange() (again bool) {
	r, status, why := c.next()
	if status != 0 {
		c.refuse(status, why)
	}
	if r == nil {
		return false
	}
	x := newExchange(c, r)
	c.current.Store(&x.context)
	if c.server.closed.Load() {
		// Close may have looked for the context before it was to be found.
		return false
	}
	if !c.run(&x.answer, r.WithContext(&x.context)) {
		return false
	}
	x.context.end()
	again = x.answer.finish()
	c.unwatch()
	c.current.Store(nil)
	if !again && x.body.abandon() {
		c.linger()
	}
	return again
}

// run is false if the handler has not returned.
func (c *served) run(w http.ResponseWriter, r *http.Request) (returned bool) {
	defer func() {
		if returned {
			return
		}
		if reason := recover(); reason != nil && reason != http.ErrAbortHandler {
			c.server.logf("http: panic serving %s: %v\n%s", c.remote, reason, debug.Stack())
		}
	}()
	c.server.Handler.ServeHTTP(w, r)
	return true
}

// next reads the head of a request. Without one it returns the status to answer with and why, or 0 if there is nobody to be answered.
func (c *served) next() (*http.Request, int, error) {
	c.limited.N = mostHead
	// The connection waits here between requests. Old clients end a body with an empty line that belongs to nothing.
	for range len("\r\n") {
		first, err := c.read.Peek(1)
		if err != nil {
			return nil, 0, nil
		}
		if first[0] != '\r' && first[0] != '\n' {
			break
		}
		_, _ = c.read.Discard(1)
	}
	r, err := http.ReadRequest(c.read)
	tooLarge := c.limited.N <= 0
	c.limited.N = math.MaxInt64
	switch {
	case err == nil:
		if status := unacceptable(r); status != 0 {
			return nil, status, nil
		}
		return r, 0, nil
	case tooLarge:
		return nil, http.StatusRequestHeaderFieldsTooLarge, err
	case err == io.EOF, c.failed != nil && c.failed != io.EOF:
		return nil, 0, nil
	}
	return nil, http.StatusBadRequest, err
}

// unacceptable is the status that refuses a request which net/http's parser has passed, or 0.
func unacceptable(r *http.Request) int {
	if r.ProtoMajor != 1 {
		return http.StatusHTTPVersionNotSupported
	}
	if r.Host == "" && r.ProtoAtLeast(1, 1) || !httpguts.ValidHostHeader(r.Host) {
		return http.StatusBadRequest
	}
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return http.StatusBadRequest
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return http.StatusBadRequest
			}
		}
	}
	if expected := r.Header["Expect"]; len(expected) > 0 && !strings.EqualFold(expected[0], "100-continue") {
		return http.StatusExpectationFailed
	}
	return 0
}

// refuse answers a request that no handler sees.
func (c *served) refuse(status int, why error) {
	text := fmt.Sprintf("%d %s", status, http.StatusText(status))
	var header http.Header
	var body []byte
	if c.server.Refused != nil {
		header, body = c.server.Refused(status, why)
	}
	if body == nil {
		header, body = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, []byte(text)
	}
	answer := bytes.NewBufferString("HTTP/1.1 " + text + "\r\n")
	_ = header.Write(answer) // a buffer takes all
	fmt.Fprintf(answer, "Content-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	if _, err := c.conn.Write(answer.Bytes()); err == nil {
		c.linger()
	}
}

// linger lets the peer read the answer, and perhaps send what nobody will read, before the connection is closed.
func (c *served) linger() {
	half, ok := c.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.conn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c.conn, lingerMost)
}

// watch reads in the background, which ends with the peer's disconnect, with the first byte of a request that follows, or with unwatch.
func (c *served) watch(x *requestContext) {
	n, err := c.conn.Read(c.ahead[:])
	c.mu.Lock()
	c.hasAhead = n == 1
	gone := err != nil && (!c.stopping || !errors.Is(err, os.ErrDeadlineExceeded))
	c.watching = false
	c.changed.Broadcast()
	c.mu.Unlock()
	if gone {
		x.end()
	}
}

// unwatch returns when nobody else reads.
func (c *served) unwatch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.watching {
		return
	}
	// Setting a deadline fails only on a closed connection, where nobody goes on reading.
	c.stopping = true
	_ = c.conn.SetReadDeadline(past)
	for c.watching {
		c.changed.Wait()
	}
	c.stopping = false
	_ = c.conn.SetReadDeadline(time.Time{})
}

// await notes that the peer waits to be told to proceed.
func (c *served) await() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaiting = true
}

// proceed has the peer send its body, if it waits for that.
func (c *served) proceed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.awaiting {
		return nil
	}
	c.awaiting = false
	_, err := io.WriteString(c.conn, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

// settle keeps 100 Continue from being sent any more: an answer's head is about to be.
func (c *served) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaiting = false
}
