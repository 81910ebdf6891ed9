package wire

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

const (
	// mostBuffered is how far bodies are copied ahead of the network. A request with a usual body fits, so that it is sent in one write.
	mostBuffered = 64 << 10

	// mostUnread is where a server that asks for acknowledgements but does not read them is given up.
	mostUnread = 1 << 20
)

// Stream is a request and its answer.
type Stream struct {
	c        *H2
	id       uint32
	head     bool // asked for the head of an answer only
	answered func(Answer, error)

	// Guarded by the connection's lock.

	unsent []byte
	window int // how many bytes of the body the server takes at present; negative after it took some back

	// These belong to the goroutine that reads.

	length   int64 // of the body as announced, or -1
	consumed int   // as the connection's
	answer   Answer
}

// Send writes the request on the calling goroutine and returns. It may take as long as the network does, so it should not be called from
// answered. If it returns an error, the request has not been sent and answered will not be called. Otherwise answered will be called exactly
// once, with the whole answer or the error that came instead, perhaps before Send returns. That is on the goroutine that reads the
// connection (or in Cancel), which goes on when answered returns.
func (c *H2) Send(r Request, answered func(Answer, error)) (*Stream, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	s := &Stream{c: c, head: r.Method == "HEAD", answered: answered, unsent: r.Body, length: -1}
	c.mu.Lock()
	switch {
	case c.err != nil:
		defer c.mu.Unlock()
		return nil, fmt.Errorf("h2: request not sent: %w", c.err)
	case len(c.streams) >= c.most:
		defer c.mu.Unlock()
		return nil, ErrFull
	}
	s.id, s.window = c.next, c.initial
	c.streams[s.id] = s
	c.next += 2
	if c.next > mostWindow {
		c.err, c.drained = errors.New("h2: connection has had all the requests that it can have"), true
	}
	c.appendHeaders(s.id, &r)
	if len(s.unsent) > 0 {
		c.blocked = append(c.blocked, s)
		c.pump()
	}
	c.flush()
	return s, nil
}

// check keeps what servers would reject from the connection, as some of them end it over that.
func (r *Request) check() error {
	for _, f := range r.Header {
		bad := f.Name == "" || f.Name == "content-length"
		for i := range len(f.Name) {
			b := f.Name[i]
			bad = bad || b <= ' ' || b == ':' || b >= 'A' && b <= 'Z' || b > '~'
		}
		if bad {
			return fmt.Errorf("h2: header field %q cannot be sent", f.Name)
		}
	}
	return nil
}

// Cancel gives the request up: answered is called with the cause on this goroutine, unless it has been called already, and
// the server is told. Like Send, it should not be called from answered.
func (s *Stream) Cancel(cause error) {
	c := s.c
	c.mu.Lock()
	if !c.forget(s) {
		c.mu.Unlock()
		return
	}
	c.reset(s.id, codeCancel)
	c.mu.Unlock()
	s.answered(Answer{}, cause)
	c.mu.Lock()
	c.flush()
}

// forget ends a stream. Whoever it returns true to has to call answered. The lock is held.
func (c *H2) forget(s *Stream) bool {
	if c.streams[s.id] != s {
		return false
	}
	delete(c.streams, s.id)
	s.unsent = nil
	return true
}

// outWriter is the connection as what the encoder writes to.
type outWriter H2

// Write appends a part of a header block.
func (w *outWriter) Write(p []byte) (int, error) {
	w.out.b = append(w.out.b, p...)
	return len(p), nil
}

// queue returns the buffer to append frames to. The lock is held.
func (c *H2) queue() *buffer {
	if c.out == nil {
		c.out = buffers.Get().(*buffer)
	}
	return c.out
}

func (c *H2) reset(stream uint32, code errorCode) {
	b := c.queue()
	b.b = appendNumber(b.b, frameReset, stream, uint32(code))
}

// appendHeaders adds the request's head. The lock is held.
func (c *H2) appendHeaders(id uint32, r *Request) {
	b := c.queue()
	start := len(b.b)
	b.b = appendHead(b.b, frame{})
	c.put(":method", r.Method, true)
	c.put(":authority", r.Authority, true)
	c.put(":scheme", c.scheme, true)
	// Paths with identifiers and lengths of bodies seldom come again: entered in the table they would only drive the others out.
	c.put(":path", r.Path, false)
	for _, f := range r.Header {
		c.put(f.Name, f.Value, true)
	}
	if len(r.Body) > 0 || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		c.put("content-length", strconv.Itoa(len(r.Body)), false)
	}

	f := frame{length: len(b.b) - start - headSize, kind: frameHeaders, flags: flagEndHeaders, stream: id}
	if len(r.Body) == 0 {
		f.flags |= flagEndStream
	}
	if f.length <= frameSize {
		appendHead(b.b[:start], f) // over the empty one
		return
	}
	rest := append([]byte(nil), b.b[start+headSize:]...)
	b.b = b.b[:start]
	f.flags &^= flagEndHeaders
	for len(rest) > 0 {
		f.length = min(len(rest), frameSize)
		if f.length == len(rest) {
			f.flags |= flagEndHeaders
		}
		b.b = append(appendHead(b.b, f), rest[:f.length]...)
		rest = rest[f.length:]
		f.kind, f.flags = frameContinuation, 0
	}
}

func (c *H2) put(name, value string, indexed bool) {
	// It only fails if outWriter does, which does not.
	_ = c.encode.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: !indexed})
}

// pump adds as much of the bodies as the server takes at present and the buffer should hold. The lock is held.
func (c *H2) pump() {
	if len(c.blocked) == 0 {
		return
	}
	still := c.blocked[:0]
	for _, s := range c.blocked {
		for len(s.unsent) > 0 && (c.out == nil || len(c.out.b) < mostBuffered) {
			n := min(len(s.unsent), s.window, c.window, frameSize)
			if n <= 0 {
				break
			}
			f := frame{length: n, kind: frameData, stream: s.id}
			if n == len(s.unsent) {
				f.flags = flagEndStream
			}
			b := c.queue()
			b.b = append(appendHead(b.b, f), s.unsent[:n]...)
			s.unsent, s.window, c.window = s.unsent[n:], s.window-n, c.window-n
		}
		if len(s.unsent) > 0 {
			still = append(still, s)
		}
	}
	clear(c.blocked[len(still):])
	c.blocked = still
}

// flush sees to it that what has been appended is written, by this goroutine or the one that is at it. The lock is held before,
// and released.
func (c *H2) flush() {
	if c.writing || c.out == nil {
		c.mu.Unlock()
		return
	}
	c.writing = true
	c.writeOut()
}

// kick is flush for the goroutine that reads: it does not write. The lock is held, before and after.
func (c *H2) kick() error {
	if c.out == nil {
		return nil
	}
	if !c.writing {
		c.writing = true
		go func() {
			c.mu.Lock()
			c.writeOut()
		}()
	} else if len(c.out.b) > mostUnread {
		return violates(codeCalm, "it does not read what it asks for")
	}
	return nil
}

// writeOut writes until there is nothing left. The lock is held before, and released.
func (c *H2) writeOut() {
	for c.out != nil {
		b := c.out
		c.out = nil
		c.mu.Unlock()
		_, err := c.conn.Write(b.b)
		b.release()
		c.mu.Lock()
		if err != nil {
			c.writing = false
			c.broken(fmt.Errorf("h2: write: %w", err))
			c.mu.Unlock()
			_ = c.conn.Close() // the reader tells those who wait
			return
		}
		c.pump()
	}
	c.writing = false
	over := c.over()
	c.mu.Unlock()
	if over {
		_ = c.conn.Close()
	}
}

// over tells whether a connection that the server leaves, or that is no longer read, has served its purpose. The lock is held.
func (c *H2) over() bool {
	return (c.drained || c.finished) && len(c.streams) == 0 && c.out == nil && !c.writing
}
