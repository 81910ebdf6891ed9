package wire

import (
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// answeringH2 is the http.ResponseWriter of one request over HTTP/2. Like that of HTTP/1.1 it holds back what may be all of the answer.
type answeringH2 struct {
	reply
	x      *exchangeH2
	ending bool // the handler has returned
}

// handle runs the handler. If it panics, it ends the connection behind what has been flushed, as over HTTP/1.1, unless the peer has ended the
// stream before: a handler that panics because of that, as proxies do, harms nobody.
func (x *exchangeH2) handle(r *http.Request) {
	w := &answeringH2{reply: reply{head: r.Method == http.MethodHead, declared: -1}, x: x}
	returned := false
	defer func() {
		if returned {
			return
		}
		if reason := recover(); reason != nil && reason != http.ErrAbortHandler {
			x.h.served.server.logf("http: panic serving %s: %v\n%s", r.RemoteAddr, reason, debug.Stack())
		}
		x.cancel()
		x.h.mu.Lock()
		lost := x.lost
		x.h.mu.Unlock()
		if !lost {
			x.h.cut()
		}
	}()
	x.h.served.server.Handler.ServeHTTP(w, r)
	w.finish()
	returned = true
	x.cancel()
}

// WriteHeader sets the status and takes the header as it is now. An informational one is sent at once.
func (w *answeringH2) WriteHeader(status int) {
	switch {
	case !w.undecided(status):
	case status == http.StatusSwitchingProtocols: // which HTTP/2 does not have
	case status < 200:
		w.inform(status)
	default:
		w.decide(status)
		w.take()
	}
}

// take writes down the handler's fields. The one that tells the body's length, and those that depend on it, wait for complete.
func (w *answeringH2) take() {
	out := w.buffers()
	for _, name := range out.sorted() {
		switch name {
		case "Content-Length":
			continue
		case "Connection", "Proxy-Connection", "Transfer-Encoding", "Upgrade", "Keep-Alive", "Trailer":
			continue // they belong to HTTP/1.1
		}
		if !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		lower := strings.ToLower(name)
		for _, value := range out.header[name] {
			if httpguts.ValidHeaderFieldValue(value) {
				out.fields = append(out.fields, Field{lower, value})
			}
		}
	}
}

func (w *answeringH2) inform(status int) {
	h := w.x.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.x.lost {
		return
	}
	if status == http.StatusContinue {
		w.x.body.expects = false
	}
	w.take()
	h.appendHeaders(w.x.id, status, w.out.fields, false)
	w.out.fields = w.out.fields[:0]
	h.write()
}

// Write holds back what may be all of the answer.
func (w *answeringH2) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if err := w.accept(p); err != nil || len(p) == 0 {
		return 0, err
	}
	switch {
	case w.head:
		if !w.sent {
			w.sample(p)
		}
	case len(w.out.body)+len(p) <= mostHeld:
		w.out.body = append(w.out.body, p...)
	default:
		if err := w.send(p, w.written == w.declared); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush sends what has been written so far.
func (w *answeringH2) Flush() {
	if w.over {
		return
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	_ = w.send(nil, false) // a handler that wants to know writes
}

// send sends the head, unless it has been, what is held back, and then p.
func (w *answeringH2) send(p []byte, last bool) error {
	h, x, held, complete := w.x.h, w.x, w.out.body, last
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.lost {
		return http.ErrAbortHandler
	}
	if w.head || w.bodiless() {
		p = nil
	}
	if !w.sent {
		w.sent, x.body.expects = true, false // 100 Continue may not come behind the head
		w.complete(last)
		if w.head || w.bodiless() {
			held = nil
		}
		ended := last && len(held)+len(p) == 0
		h.appendHeaders(x.id, w.status, w.out.fields, ended)
		last = last && !ended
	}
	w.out.body = w.out.body[:0]
	var err error
	if len(held) > 0 {
		err = h.appendData(x, held, last && len(p) == 0)
	}
	if err == nil && (len(p) > 0 || last && len(held) == 0) {
		err = h.appendData(x, p, last)
	}
	if err == nil && (complete || w.ending) {
		w.end()
	}
	h.write()
	return err
}

// end notes, before the peer may know, that the answer is complete: then the stream makes room for another one. A peer that still sends its
// request's body is told that nobody needs it. The lock is held.
func (w *answeringH2) end() {
	if w.short() {
		w.x.h.appendReset(w.x.id, codeInternal)
	} else if w.x.body.failed == nil {
		w.x.h.appendReset(w.x.id, codeNone)
	}
	w.x.end()
}

// complete adds the fields that depend on the body.
func (w *answeringH2) complete(last bool) {
	out := w.out
	if !w.dated {
		out.fields = append(out.fields, Field{"date", w.x.h.served.server.dateText()})
	}
	if w.bodiless() {
		return
	}
	if mediaType := w.mediaType(); mediaType != "" {
		out.fields = append(out.fields, Field{"content-type", mediaType})
	}
	if length := w.length(last); length >= 0 {
		out.fields = append(out.fields, Field{"content-length", strconv.FormatInt(length, 10)})
	}
}

// finish sends the rest of the answer when the handler has returned.
func (w *answeringH2) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.ending = true
	_ = w.send(nil, !w.short()) // nobody is left to be told
	w.close()
}
