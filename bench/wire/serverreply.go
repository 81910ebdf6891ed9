package wire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// mostHeld is how much of an answer without a declared length is held back to see whether there is more. It is twice net/http's.
	mostHeld = 4 << 10

	// sampled is what net/http looks at to tell a body's media type.
	sampled = 512
)

var errAnswered = errors.New("the handler has returned")

// output is what an answer needs from its first byte to its last.
type output struct {
	header http.Header
	head   []byte // of HTTP/1.1, and whatever leaves in the same write
	body   []byte // held back; never beyond its capacity
	names  []string
	fields []Field // of HTTP/2
	pieces net.Buffers
	array  [3][]byte // of pieces
}

var outputs = sync.Pool{New: func() any {
	return &output{header: http.Header{}, head: make([]byte, 0, 1<<10), body: make([]byte, 0, mostHeld)}
}}

// sorted gives the names of the handler's fields in an order that makes equal answers equal bytes.
func (o *output) sorted() []string {
	o.names = o.names[:0]
	for name := range o.header {
		o.names = append(o.names, name)
	}
	slices.Sort(o.names)
	return o.names
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

// reply is what a handler has made of its answer, whichever protocol carries it.
type reply struct {
	out *output // nil until it is needed and after the handler has returned

	status   int   // 0 until WriteHeader
	head     bool  // the request's method is HEAD
	typed    bool  // the body's media type is given, or not to be told
	dated    bool  // the handler has told the date
	sent     bool  // the head has been
	over     bool  // the handler has returned, and its answer has been sent
	declared int64 // the body's length, negative if the handler has not told
	written  int64 // by the handler
}

func (r *reply) buffers() *output {
	if r.out == nil {
		r.out = outputs.Get().(*output)
	}
	return r.out
}

// Header is what will be sent with WriteHeader or the first Write. Later changes have no effect.
func (r *reply) Header() http.Header {
	if r.over {
		return http.Header{}
	}
	return r.buffers().header
}

// undecided tells whether the handler may still set the status. Setting it once more does nothing; one that is none is a mistake of the handler's.
func (r *reply) undecided(status int) bool {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status))
	}
	return !r.over && r.status == 0
}

// decide sets the status, and takes from the handler's fields what matters to the body.
func (r *reply) decide(status int) {
	r.status = status
	h := r.buffers().header
	if values := h["Content-Length"]; len(values) > 0 && !r.bodiless() {
		// A length that is none is ignored, as by net/http.
		if n, err := strconv.ParseInt(strings.TrimSpace(values[0]), 10, 64); err == nil && n >= 0 {
			r.declared = n
		}
	}
	_, typed := h["Content-Type"]
	r.typed = typed || h.Get("Content-Encoding") != ""
	_, r.dated = h["Date"]
}

// bodiless tells whether the status forbids a body.
func (r *reply) bodiless() bool {
	return r.status < 200 || r.status == http.StatusNoContent || r.status == http.StatusNotModified
}

// accept counts what the handler writes, unless the answer cannot have it.
func (r *reply) accept(p []byte) error {
	size := int64(len(p))
	switch {
	case r.over:
		return errAnswered
	case size == 0:
	case r.bodiless():
		return http.ErrBodyNotAllowed
	case r.declared >= 0 && r.written+size > r.declared:
		return http.ErrContentLength
	}
	r.written += size
	return nil
}

// sample holds back as much of p as tells the media type, and returns the rest.
func (r *reply) sample(p []byte) []byte {
	n := min(max(sampled-len(r.out.body), 0), len(p))
	r.out.body = append(r.out.body, p[:n]...)
	return p[n:]
}

// mediaType is what the body looks like, or empty if that is not to be told.
func (r *reply) mediaType() string {
	if r.typed || len(r.out.body) == 0 {
		return ""
	}
	return http.DetectContentType(r.out.body)
}

// length is the body's, negative if the head cannot tell; last if the handler has written all of it. The head of an answer to HEAD tells it only as
// far as it is known.
func (r *reply) length(last bool) int64 {
	if r.declared < 0 && last && (!r.head || r.written > 0) {
		return r.written
	}
	return r.declared
}

// short tells whether less was written than announced.
func (r *reply) short() bool { return r.written < r.declared && !r.head }

// close gives the buffers back.
func (r *reply) close() {
	r.over = true
	r.out.release()
	r.out = nil
}
