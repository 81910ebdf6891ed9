package wire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
)

const (
	// mostHeld is how much of an answer without a declared length is held back to see whether there is more. It is twice net/http's.
	mostHeld = 4 << 10

	// mostCopied is what is copied behind the head to leave with it in one write. Copying more takes longer than another write.
	mostCopied = 16 << 10

	// sampled is what net/http looks at to tell a body's media type.
	sampled = 512
)

var errAnswered = errors.New("the handler has returned")

// output is what an answer needs from its first byte to its last.
type output struct {
	header http.Header
	head   []byte // and whatever leaves in the same write
	body   []byte // held back; never beyond its capacity
	names  []string
	fields []Field // of HTTP/2
	pieces net.Buffers
	array  [3][]byte // of pieces
}

var outputs = sync.Pool{New: func() any {
	return &output{header: http.Header{}, head: make([]byte, 0, 1<<10), body: make([]byte, 0, mostHeld)}
}}

// answering is the http.ResponseWriter of one request.
type answering struct {
	c        *served
	exchange *exchange
	out      *output // nil until it is needed and after the handler has returned
	err      error   // of a write

	old     bool // the request is of HTTP/1.0
	head    bool // the request's method is HEAD
	closing bool // the connection will be closed

	status     int    // 0 until WriteHeader
	connection string // as the handler wants it
	typed      bool   // the body's media type is given, or not to be told
	dated      bool
	sent       bool // the head has been
	chunked    bool
	complete   bool  // everything has been sent
	over       bool  // the handler has returned
	declared   int64 // the body's length, negative if the handler has not told
	written    int64 // by the handler
}

func (w *answering) buffers() *output {
	if w.out == nil {
		w.out = outputs.Get().(*output)
	}
	return w.out
}

// Header is what will be sent with WriteHeader or the first Write. Later changes have no effect.
func (w *answering) Header() http.Header {
	if w.over {
		return http.Header{}
	}
	return w.buffers().header
}

// WriteHeader sets the status and takes the header as it is now. An informational status is sent at once.
func (w *answering) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status))
	}
	switch {
	case w.over || w.status != 0:
	case status < 200 && status != http.StatusSwitchingProtocols:
		w.inform(status)
	default:
		w.status = status
		w.begin()
	}
}

// bodiless tells whether the status forbids a body.
func (w *answering) bodiless() bool {
	return w.status < 200 || w.status == http.StatusNoContent || w.status == http.StatusNotModified
}

// Write holds back what may be all of the answer, or be told from the rest by its length.
func (w *answering) Write(p []byte) (int, error) {
	if w.over {
		return 0, errAnswered
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	size := int64(len(p))
	switch {
	case size == 0:
		return 0, nil
	case w.bodiless():
		return 0, http.ErrBodyNotAllowed
	case w.declared >= 0 && w.written+size > w.declared:
		return 0, http.ErrContentLength
	case w.err != nil:
		return 0, w.err
	}
	w.written += size
	rest := p
	if w.head || !w.typed && !w.sent {
		rest = w.sample(p)
	}
	switch {
	case w.head:
	case w.written == w.declared:
		w.send(rest, true)
	case len(w.out.body)+len(rest) > mostHeld:
		w.send(rest, false)
	default:
		w.out.body = append(w.out.body, rest...)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// sample holds back as much of p as tells the media type, and returns the rest.
func (w *answering) sample(p []byte) []byte {
	n := min(max(sampled-len(w.out.body), 0), len(p))
	w.out.body = append(w.out.body, p[:n]...)
	return p[n:]
}

// Flush sends what has been written so far.
func (w *answering) Flush() {
	if w.over {
		return
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.complete {
		w.send(nil, false)
	}
}

// send sends what is held back and then p, in one write unless p is large.
func (w *answering) send(p []byte, last bool) {
	out := w.out
	if !w.sent {
		w.sent = true
		w.completeHead(len(p), last)
	}
	if w.head || w.bodiless() {
		out.body, p = out.body[:0], nil
	}
	b, tail := out.head, ""
	switch size := len(out.body) + len(p); {
	case !w.chunked:
	case size > 0:
		b = strconv.AppendInt(b, int64(size), 16)
		b = append(b, "\r\n"...)
		tail = "\r\n"
		if last {
			tail = "\r\n0\r\n\r\n"
		}
	case last:
		tail = "0\r\n\r\n"
	}
	b = append(b, out.body...)
	if len(p) <= mostCopied {
		b = append(b, p...)
		p = nil
	}
	if p == nil {
		b = append(b, tail...)
	}
	out.head, out.body = b[:0], out.body[:0]
	w.complete = last
	w.transmit(b, p, tail)
}

// transmit writes b and, if there is a p, p and the tail.
func (w *answering) transmit(b, p []byte, tail string) {
	if w.err != nil {
		return
	}
	switch out := w.out; {
	case p != nil:
		out.array = [3][]byte{b, p, []byte(tail)}
		out.pieces = out.array[:]
		_, w.err = out.pieces.WriteTo(w.c.conn)
		out.pieces, out.array = nil, [3][]byte{}
	case len(b) > 0:
		_, w.err = w.c.conn.Write(b)
	}
	if w.err != nil {
		w.closing = true
		w.exchange.context.end()
	}
}

// finish sends the rest of the answer when the handler has returned, and tells whether the connection can take another request.
func (w *answering) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.complete {
		w.send(nil, true)
	}
	w.over = true
	w.out.release()
	w.out = nil
	short := w.written < w.declared && !w.head && !w.bodiless()
	return !w.closing && !short
}

func (o *output) release() {
	clear(o.header)
	// An exceptionally large header is not worth keeping the memory.
	if cap(o.head) > 2*mostCopied {
		return
	}
	clear(o.names[:cap(o.names)])
	clear(o.fields[:cap(o.fields)])
	o.head, o.body, o.names, o.fields = o.head[:0], o.body[:0], o.names[:0], o.fields[:0]
	outputs.Put(o)
}
