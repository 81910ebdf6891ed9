package wire

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
)

// exchangeH2 is one request over HTTP/2 and its answer. It is guarded by the connection's lock.
type exchangeH2 struct {
	h      *servedH2
	id     uint32
	cancel context.CancelFunc
	window int  // how many bytes of the answer's body the peer takes at present
	lost   bool // the stream has ended: nobody waits for an answer
	body   bodyH2
}

// lose ends the stream for the handler too, which is told by its context, and by what it reads and writes. It may go on for as long as it likes:
// there is no limit to how many do, no more than with connections of HTTP/1.1. The lock is held.
func (x *exchangeH2) lose() {
	x.end()
	x.cancel()
}

// end takes the stream off the connection. The lock is held.
func (x *exchangeH2) end() {
	if x.lost {
		return
	}
	x.lost = true
	delete(x.h.streams, x.id)
	if x.body.failed == nil {
		x.body.failed = io.ErrUnexpectedEOF
	}
	x.h.changed.Broadcast()
}

// headers begins a request, or ends the body of one with a trailer, which nobody reads.
func (h *servedH2) headers(f *http2.MetaHeadersFrame) error {
	id := f.StreamID
	if id <= h.last {
		return h.trailer(f)
	}
	if id%2 == 0 {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	h.last = id
	if f.Truncated {
		return http2.StreamError{StreamID: id, Code: http2.ErrCodeEnhanceYourCalm}
	}
	r, ok := h.request(f)
	if !ok {
		return http2.StreamError{StreamID: id, Code: http2.ErrCodeProtocol}
	}
	x := &exchangeH2{h: h, id: id}
	var ctx context.Context
	ctx, x.cancel = context.WithCancel(context.Background())
	if f.StreamEnded() {
		r.Body = http.NoBody
		x.body.failed = io.EOF
	} else {
		x.body.x, x.body.left = x, r.ContentLength
		x.body.expects = httpguts.HeaderValuesContainsToken(r.Header["Expect"], "100-continue")
		r.Body = &x.body
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.err != nil:
		x.cancel()
		return nil
	case len(h.streams) >= h.served.server.H2Streams:
		x.cancel()
		return http2.StreamError{StreamID: id, Code: http2.ErrCodeRefusedStream}
	}
	x.window = h.initial
	h.streams[id] = x
	go x.handle(r.WithContext(ctx))
	return nil
}

func (h *servedH2) trailer(f *http2.MetaHeadersFrame) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.streams[f.StreamID]
	switch {
	case f.StreamID%2 == 0:
		return http2.ConnectionError(http2.ErrCodeProtocol)
	case x == nil:
		return nil // its last frames were still under way
	case x.body.failed != nil || !f.StreamEnded():
		return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeProtocol}
	}
	return x.body.end()
}

// request makes a request of its fields, which the framer has checked for what it knows.
func (h *servedH2) request(f *http2.MetaHeadersFrame) (*http.Request, bool) {
	r := &http.Request{
		Method: f.PseudoValue("method"), Host: f.PseudoValue("authority"), RequestURI: f.PseudoValue("path"),
		Proto: "HTTP/2.0", ProtoMajor: 2, RemoteAddr: h.served.remote, Header: http.Header{}, ContentLength: -1,
	}
	for _, field := range f.RegularFields() {
		name := http.CanonicalHeaderKey(field.Name)
		switch name {
		case "Connection", "Proxy-Connection", "Transfer-Encoding", "Upgrade", "Keep-Alive":
			return nil, false
		}
		r.Header[name] = append(r.Header[name], field.Value)
	}
	if cookies := r.Header["Cookie"]; len(cookies) > 1 {
		r.Header["Cookie"] = []string{strings.Join(cookies, "; ")}
	}
	if r.Host == "" {
		r.Host = r.Header.Get("Host")
	}
	delete(r.Header, "Host")
	if length := r.Header["Content-Length"]; len(length) > 0 {
		n, err := strconv.ParseUint(length[0], 10, 63)
		if err != nil || len(length) > 1 || f.StreamEnded() && n > 0 {
			return nil, false
		}
		r.ContentLength = int64(n)
	} else if f.StreamEnded() {
		r.ContentLength = 0
	}
	var err error
	r.URL, err = url.ParseRequestURI(r.RequestURI)
	return r, err == nil && r.Method != "" && f.PseudoValue("scheme") != "" && httpguts.ValidHostHeader(r.Host)
}

// data takes a part of a request's body.
func (h *servedH2) data(f *http2.DataFrame) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	// Padding counts too.
	if h.consumed += int(f.Length); h.consumed >= connWindow/2 {
		b := h.queue()
		b.b = appendNumber(b.b, frameWindowUpdate, 0, uint32(h.consumed))
		h.consumed = 0
		h.kick()
	}
	x := h.streams[f.StreamID]
	if x == nil {
		return h.idle(f.StreamID)
	}
	b := &x.body
	if b.failed != nil {
		return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeStreamClosed}
	}
	n := len(f.Data())
	if b.held += int(f.Length); b.held > bodyWindow {
		return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeFlowControl}
	}
	if b.left >= 0 {
		if b.left -= int64(n); b.left < 0 {
			return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeProtocol}
		}
	}
	if !b.closed {
		b.arrived = append(b.arrived, f.Data()...)
	}
	h.changed.Broadcast()
	if f.StreamEnded() {
		return b.end()
	}
	b.open(int(f.Length)-n, h.kick)
	return nil
}

// bodyH2 is a request's body, as far as it has arrived.
type bodyH2 struct {
	x       *exchangeH2
	arrived []byte
	left    int64 // of a declared length; negative if there is none
	held    int   // bytes that the peer's window does not have back
	credit  int   // those of held that it is to get
	failed  error // why no more will arrive
	expects bool  // the peer asked to be told to proceed
	closed  bool
}

// end notes that all has arrived. The lock is held.
func (b *bodyH2) end() error {
	if b.left > 0 {
		return http2.StreamError{StreamID: b.x.id, Code: http2.ErrCodeProtocol}
	}
	b.failed = io.EOF
	b.x.h.changed.Broadcast()
	return nil
}

// Read waits for more.
func (b *bodyH2) Read(p []byte) (int, error) {
	h := b.x.h
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case b.closed:
			return 0, http.ErrBodyReadAfterClose
		case len(b.arrived) > 0:
			n := copy(p, b.arrived)
			b.arrived = b.arrived[n:]
			b.open(n, h.write)
			return n, nil
		case b.failed != nil:
			return 0, b.failed
		case b.expects:
			b.expects = false
			h.appendHeaders(b.x.id, http.StatusContinue, nil, false)
			h.write()
			continue
		}
		h.changed.Wait()
	}
}

// open gives window back, by send once half of it has been used. The lock is held.
func (b *bodyH2) open(n int, send func()) {
	b.credit += n
	if b.failed != nil || b.credit < bodyWindow/2 {
		return
	}
	h := b.x.h
	out := h.queue()
	out.b = appendNumber(out.b, frameWindowUpdate, b.x.id, uint32(b.credit))
	b.held, b.credit = b.held-b.credit, 0
	send()
}

// Close keeps the body from being read any more.
func (b *bodyH2) Close() error {
	b.x.h.mu.Lock()
	defer b.x.h.mu.Unlock()
	b.closed, b.arrived = true, nil
	return nil
}
