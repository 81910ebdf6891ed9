package wire

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"net"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// The peer may send this much of a request's body ahead of the handler, and this much in all ahead of us. What has arrived is out of the
	// connection's window at once, so that requests do not hold each other up.
	bodyWindow = 256 << 10
	connWindow = 1 << 20
)

// prefaced tells whether the connection begins with HTTP/2's preface. No request of HTTP/1 does, so that the first byte that differs decides
// and nothing is waited for that might not come.
func (c *served) prefaced() bool {
	c.limited.N = mostHead
	for n := 1; n <= len(preface); n++ {
		b, err := c.read.Peek(n)
		if err != nil || b[n-1] != preface[n-1] {
			return false
		}
	}
	return true
}

// servedH2 is the server's end of an HTTP/2 connection. Its goroutine reads; each handler has one of its own. As in [H2], the goroutine that
// reads never writes and never waits for somebody who does. What is to be sent is appended to a buffer, and the handler that appends also
// writes, together with whatever others append meanwhile.
type servedH2 struct {
	served *served

	// What follows belongs to the goroutine that reads.

	frames   *http2.Framer // reads only
	begun    bool          // the peer has sent its settings, which come first
	last     uint32        // the newest stream's id
	consumed int           // bytes of DATA that the peer's view of the connection's window does not have back yet

	// mu guards everything below, and the exchanges.
	mu      sync.Mutex
	changed sync.Cond // windows, bodies, what is to be sent, or the end
	encode  *hpack.Encoder
	block   bytes.Buffer // what encode writes to
	out     *buffer      // frames to be sent; nil for none
	writing bool         // a goroutine is writing what was in out, and will look again
	err     error        // why nothing can be sent any more
	streams map[uint32]*exchangeH2
	window  int // how many bytes of bodies the peer takes at present
	initial int // that, for a stream that begins
}

// multiplex serves a connection that speaks HTTP/2, from behind the preface to its end.
func (c *served) multiplex() {
	_, _ = c.read.Discard(len(preface)) // it has been peeked at
	c.limited.N = math.MaxInt64
	h := &servedH2{
		served: c, frames: http2.NewFramer(nil, c.read), streams: map[uint32]*exchangeH2{},
		window: initialWindow, initial: initialWindow,
	}
	h.changed.L = &h.mu
	h.encode = hpack.NewEncoder(&h.block)
	h.frames.SetReuseFrames()
	h.frames.SetMaxReadFrameSize(frameSize)
	h.frames.MaxHeaderListSize = mostHead
	h.frames.ReadMetaHeaders = hpack.NewDecoder(tableSize, nil)
	c.h2.Store(h)
	if c.server.closed.Load() {
		return // Close may have looked before it was to be found
	}
	h.greet()
	for h.goOn(h.step()) {
	}
}

// goOn deals with what was wrong with a frame, and tells whether the connection survives it.
func (h *servedH2) goOn(err error) bool {
	var stream http2.StreamError
	var connection http2.ConnectionError
	switch {
	case err == nil:
		return true
	case errors.As(err, &stream):
		h.refuse(stream.StreamID, errorCode(stream.Code))
		return true
	case errors.As(err, &connection):
		h.leave(errorCode(connection))
	case errors.Is(err, http2.ErrFrameTooLarge):
		h.leave(codeFrameSize)
	}
	return false
}

// greet tells the peer what it may do.
func (h *servedH2) greet() {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.queue()
	b.b = appendHead(b.b, frame{length: 3 * 6, kind: frameSettings})
	b.b = appendSetting(b.b, settingStreams, uint32(h.served.server.H2Streams))
	b.b = appendSetting(b.b, settingInitialWindow, bodyWindow)
	b.b = appendSetting(b.b, settingHeaderSize, mostHead)
	b.b = appendNumber(b.b, frameWindowUpdate, 0, connWindow-initialWindow)
	h.kick()
}

// step reads one frame and does what it asks for.
func (h *servedH2) step() error {
	head, err := h.frames.ReadFrameHeader()
	if err != nil {
		return err
	}
	if !h.begun && head.Type != http2.FrameSettings {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	h.begun = true
	f, err := h.frames.ReadFrameForHeader(head)
	if err != nil {
		return h.spoilt(head, err)
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		return h.headers(f)
	case *http2.DataFrame:
		return h.data(f)
	case *http2.RSTStreamFrame:
		return h.reset(f)
	case *http2.SettingsFrame:
		return h.settings(f)
	case *http2.PingFrame:
		h.ping(f)
	case *http2.WindowUpdateFrame:
		return h.windowUpdate(f)
	case *http2.PushPromiseFrame:
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil // priorities, the peer's farewell and unknown frames change nothing
}

// spoilt is what a frame that cannot be taken leads to. A bad head begins its stream all the same; nothing else does, be it bad or good.
func (h *servedH2) spoilt(head http2.FrameHeader, err error) error {
	if !errors.As(err, new(http2.StreamError)) {
		return err
	}
	if head.Type == http2.FrameHeaders && head.StreamID%2 == 1 {
		h.last = max(h.last, head.StreamID)
	}
	return cmp.Or(h.idle(head.StreamID), err)
}

// idle is the error of a frame for a stream that has not begun.
func (h *servedH2) idle(stream uint32) error {
	if stream > h.last || stream%2 == 0 {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil
}

func (h *servedH2) reset(f *http2.RSTStreamFrame) error {
	if err := h.idle(f.StreamID); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.streams[f.StreamID]; x != nil {
		x.lose()
	}
	return nil
}

func (h *servedH2) ping(f *http2.PingFrame) {
	if f.IsAck() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.queue()
	b.b = append(appendHead(b.b, frame{length: 8, kind: framePing, flags: flagAck}), f.Data[:]...)
	h.kick()
}

func (h *servedH2) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	err := f.ForeachSetting(func(s http2.Setting) error {
		if err := s.Valid(); err != nil {
			return err
		}
		switch s.ID {
		case http2.SettingHeaderTableSize:
			h.encode.SetMaxDynamicTableSize(min(s.Val, tableSize))
		case http2.SettingInitialWindowSize:
			change := int(s.Val) - h.initial
			h.initial = int(s.Val)
			for _, x := range h.streams {
				if x.window += change; x.window > mostWindow {
					return http2.ConnectionError(http2.ErrCodeFlowControl)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b := h.queue()
	b.b = appendHead(b.b, frame{kind: frameSettings, flags: flagAck})
	h.changed.Broadcast()
	h.kick()
	return nil
}

func (h *servedH2) windowUpdate(f *http2.WindowUpdateFrame) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.StreamID == 0 {
		if h.window += int(f.Increment); h.window > mostWindow {
			return http2.ConnectionError(http2.ErrCodeFlowControl)
		}
	} else if x := h.streams[f.StreamID]; x != nil {
		if x.window += int(f.Increment); x.window > mostWindow {
			return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeFlowControl}
		}
	} else if err := h.idle(f.StreamID); err != nil {
		return err
	}
	h.changed.Broadcast()
	return nil
}

// refuse ends a stream because of what the peer did, and tells it.
func (h *servedH2) refuse(stream uint32, code errorCode) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.streams[stream]; x != nil {
		x.lose()
	}
	h.appendReset(stream, code)
	h.kick()
}

// leave ends the connection because of what the peer did, and tells it. The goroutine that reads has nothing else to do any more, and sees to it
// that the peer can read that.
func (h *servedH2) leave(code errorCode) {
	h.mu.Lock()
	b := h.queue()
	b.b = appendGoAway(b.b, h.last, code)
	h.mu.Unlock()
	h.drain()
	h.served.linger()
}

// abort ends the contexts of all requests. The connection has been closed.
func (h *servedH2) abort() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop(net.ErrClosed)
}

// stop keeps anything from being sent any more. The lock is held.
func (h *servedH2) stop(why error) {
	if h.err == nil {
		h.err = why
	}
	for _, x := range h.streams {
		x.lose()
	}
	h.changed.Broadcast()
}
