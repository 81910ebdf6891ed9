package wire

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// answeringH2 is the http.ResponseWriter of one request over HTTP/2. Like that of HTTP/1.1 it holds back what may be all of the answer.
type answeringH2 struct {
	x      *exchangeH2
	out    *output // nil until it is needed and after the handler has returned
	method string

	status   int  // 0 until WriteHeader
	typed    bool // the body's media type is given, or not to be told
	dated    bool
	sent     bool  // the head has been
	ending   bool  // the handler has returned
	over     bool  // and its answer has been sent
	declared int64 // the body's length, negative if the handler has not told
	written  int64 // by the handler
}

// handle runs the handler. If it panics, it ends the connection behind what has been flushed, as over HTTP/1.1, unless the peer has ended the
// stream before: a handler that panics because of that, as proxies do, harms nobody.
func (x *exchangeH2) handle(r *http.Request) {
	w := &answeringH2{x: x, method: r.Method, declared: -1}
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
	returned = true
	w.finish()
	x.cancel()
}

func (w *answeringH2) buffers() *output {
	if w.out == nil {
		w.out = outputs.Get().(*output)
	}
	return w.out
}

// Header is what will be sent with WriteHeader or the first Write. Later changes have no effect once the head has been sent.
func (w *answeringH2) Header() http.Header {
	if w.over {
		return http.Header{}
	}
	return w.buffers().header
}

// WriteHeader sets the status and takes the header as it is now. An informational one is sent at once.
func (w *answeringH2) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status))
	}
	if w.over || w.status != 0 {
		return
	}
	if status < 200 {
		if status != http.StatusSwitchingProtocols { // which HTTP/2 does not have
			w.inform(status)
		}
		return
	}
	w.status = status
	w.take()
}

// take writes down the handler's fields, sorted so that equal answers are equal bytes. The one that tells the body's length, and those that depend
// on it, wait for complete.
func (w *answeringH2) take() {
	out := w.buffers()
	names := out.names[:0]
	for name := range out.header {
		names = append(names, name)
	}
	slices.Sort(names)
	out.names = names
	for _, name := range names {
		switch name {
		case "Content-Length":
			// A length that is none is ignored, as by net/http.
			n, err := strconv.ParseInt(out.header.Get(name), 10, 64)
			if err == nil && n >= 0 && w.status >= 200 && !w.bodiless() {
				w.declared = n
			}
			continue
		case "Connection", "Proxy-Connection", "Transfer-Encoding", "Upgrade", "Keep-Alive", "Trailer":
			continue // they belong to HTTP/1.1
		case "Content-Type", "Content-Encoding":
			w.typed = true
		case "Date":
			w.dated = true
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
	w.typed, w.dated = false, false
	h.write()
}

// bodiless tells whether there must be no body.
func (w *answeringH2) bodiless() bool {
	return w.status == http.StatusNoContent || w.status == http.StatusNotModified
}

// Write holds back what may be all of the answer.
func (w *answeringH2) Write(p []byte) (int, error) {
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
	}
	w.written += size
	switch {
	case w.method == http.MethodHead:
		if !w.sent { // a part of it tells the media type
			w.out.body = append(w.out.body, p[:min(len(p), max(sampled-len(w.out.body), 0))]...)
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
	w.out.body = held[:0]
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.lost {
		return http.ErrAbortHandler
	}
	if w.method == http.MethodHead || w.bodiless() {
		p = nil
	}
	if !w.sent {
		w.sent = true
		w.complete(held, last)
		if w.method == http.MethodHead || w.bodiless() {
			held = nil
		}
		ended := last && len(held)+len(p) == 0
		h.appendHeaders(x.id, w.status, w.out.fields, ended)
		last = last && !ended
	}
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

// short tells whether less was written than announced.
func (w *answeringH2) short() bool { return w.written < w.declared && w.method != http.MethodHead }

// complete adds the fields that depend on the body.
func (w *answeringH2) complete(held []byte, last bool) {
	out := w.out
	if !w.dated {
		out.fields = append(out.fields, Field{"date", w.x.h.served.server.dateText()})
	}
	if w.bodiless() {
		return
	}
	if !w.typed && len(held) > 0 {
		out.fields = append(out.fields, Field{"content-type", http.DetectContentType(held)})
	}
	length := w.declared
	if length < 0 && last && (w.method != http.MethodHead || w.written > 0) {
		length = w.written
	}
	if length >= 0 {
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
	w.over = true
	w.out.release()
	w.out = nil
}
