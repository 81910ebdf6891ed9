package wire

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/http2/hpack"
)

// queue returns the buffer to append frames to. The lock is held.
func (h *servedH2) queue() *buffer {
	if h.out == nil {
		h.out = buffers.Get().(*buffer)
	}
	return h.out
}

// write writes what has been appended, unless somebody is at it. The lock is held, before and after, but not meanwhile.
func (h *servedH2) write() {
	if h.writing {
		return
	}
	h.writing = true
	for h.out != nil {
		b := h.out
		h.out = nil
		h.mu.Unlock()
		_, err := h.served.conn.Write(b.b)
		b.release()
		h.mu.Lock()
		if err != nil {
			h.out = nil
			_ = h.served.conn.Close() // the reader notices
			h.stop(err)
			break
		}
		h.changed.Broadcast()
	}
	h.writing = false
	h.changed.Broadcast()
}

// kick is write for the goroutine that reads: it does not write. The lock is held.
func (h *servedH2) kick() {
	switch {
	case h.out == nil:
	case !h.writing:
		go func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.write()
		}()
	case len(h.out.b) > mostUnread:
		// The peer does not read what it asks for.
		_ = h.served.conn.Close()
	}
}

// cut ends the connection behind everything that has been appended.
func (h *servedH2) cut() {
	h.drain()
	_ = h.served.conn.Close()
}

// drain writes what has been appended, behind which nothing more will be sent. A peer that does not read is not waited for.
func (h *servedH2) drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.served.conn.SetWriteDeadline(time.Now().Add(lingerTime))
	h.stop(net.ErrClosed)
	for h.writing || h.out != nil {
		if h.writing {
			h.changed.Wait()
			continue
		}
		h.write()
	}
}

func (h *servedH2) appendReset(stream uint32, code errorCode) {
	b := h.queue()
	b.b = appendNumber(b.b, frameReset, stream, uint32(code))
}

// appendHeaders adds the head of an answer; last if it is all of it. The lock is held.
func (h *servedH2) appendHeaders(stream uint32, status int, fields []Field, last bool) {
	h.block.Reset()
	h.put(Field{":status", strconv.Itoa(status)})
	for _, f := range fields {
		h.put(f)
	}
	kind, rest := byte(frameHeaders), h.block.Bytes()
	b := h.queue()
	for {
		f := frame{length: min(len(rest), frameSize), kind: kind, stream: stream}
		if last && kind == frameHeaders {
			f.flags |= flagEndStream
		}
		if f.length == len(rest) {
			f.flags |= flagEndHeaders
		}
		b.b = append(appendHead(b.b, f), rest[:f.length]...)
		if rest = rest[f.length:]; len(rest) == 0 {
			return
		}
		kind = frameContinuation
	}
}

// put encodes a field. What seldom comes again is not entered in the table, where it would only drive the others out.
func (h *servedH2) put(f Field) {
	unique := f.Name == "content-length" || f.Name == "server-timing" || f.Name == "location" || len(f.Value) > 64
	// A bytes.Buffer always takes it.
	_ = h.encode.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value, Sensitive: unique})
}

// appendData adds a part of an answer's body as the peer's windows allow it, and waits where they do not; last if the answer ends with it. The
// lock is held, before and after, but not meanwhile.
func (h *servedH2) appendData(x *exchangeH2, p []byte, last bool) error {
	for {
		if x.lost {
			return http.ErrAbortHandler
		}
		// The peer may have made a window smaller than what has been sent: RFC 9113, section 6.9.2.
		n := max(min(len(p), x.window, h.window, frameSize), 0)
		full := h.out != nil && len(h.out.b) >= mostBuffered
		if full || n == 0 && len(p) > 0 {
			if h.out == nil || h.writing {
				h.changed.Wait()
			} else {
				h.write()
			}
			continue
		}
		f := frame{length: n, kind: frameData, stream: x.id}
		if last && n == len(p) {
			f.flags = flagEndStream
		}
		b := h.queue()
		b.b = append(appendHead(b.b, f), p[:n]...)
		x.window, h.window = x.window-n, h.window-n
		if p = p[n:]; len(p) == 0 {
			return nil
		}
	}
}
