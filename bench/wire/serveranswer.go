package wire

import (
	"net/http"
	"strconv"
)

// mostCopied is what is copied behind the head to leave with it in one write. Copying more takes longer than another write.
const mostCopied = 16 << 10

// answering is the http.ResponseWriter of one request.
type answering struct {
	reply
	c        *served
	exchange *exchange
	err      error // of a write

	connection string // as the handler wants it
	closing    bool   // the connection will be closed
	old        bool   // the request is of HTTP/1.0
	chunked    bool
	complete   bool // everything has been sent
}

// WriteHeader sets the status and takes the header as it is now. An informational status is sent at once.
func (w *answering) WriteHeader(status int) {
	switch {
	case !w.undecided(status):
	case status < 200 && status != http.StatusSwitchingProtocols:
		w.inform(status)
	default:
		w.begin(status)
	}
}

// Write holds back what may be all of the answer, or be told from the rest by its length.
func (w *answering) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if err := w.accept(p); err != nil || len(p) == 0 {
		return 0, err
	}
	if w.err != nil {
		return 0, w.err
	}
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
		w.completeHead(last)
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
	w.close()
	return !w.closing && !w.short()
}
