package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"
)

// loop reads until the connection ends, and then tells everybody who waits.
func (c *H2) loop() {
	var err error
	for err == nil {
		err = c.step()
	}
	c.mu.Lock()
	if !c.drained || len(c.streams) > 0 {
		c.broken(fmt.Errorf("h2: connection lost: %w", err))
	}
	cause := c.err
	waiting := c.streams
	c.streams, c.blocked = nil, nil
	c.mu.Unlock()

	for _, id := range slices.Sorted(maps.Keys(waiting)) {
		waiting[id].answered(Answer{}, cause)
	}
	c.hangUp(err)
}

// hangUp closes the connection. A server that has broken the rules is told so, after what others are just writing: a courtesy, and not worth waiting for
// a server that does not read.
func (c *H2) hangUp(err error) {
	var v violation
	if !errors.As(err, &v) {
		_ = c.conn.Close()
		return
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second))
	c.mu.Lock()
	c.finished = true
	b := c.queue()
	b.b = appendGoAway(b.b, 0, v.code)
	c.flush()
}

// step reads one frame and does what it asks for.
func (c *H2) step() error {
	f, err := c.readHead()
	if err != nil {
		return err
	}
	if c.block.stream != 0 && (f.kind != frameContinuation || f.stream != c.block.stream) {
		return violates(codeProtocol, "frame of type %d inside the header block of stream %d", f.kind, c.block.stream)
	}
	switch f.kind {
	case frameData:
		err = c.data(f)
	case frameHeaders:
		err = c.headers(f)
	case frameContinuation:
		err = c.continuation(f)
	case frameReset:
		err = c.resetBy(f)
	case frameSettings:
		err = c.settings(f)
	case framePing:
		err = c.ping(f)
	case frameGoAway:
		err = c.goAway(f)
	case frameWindowUpdate:
		err = c.windowUpdate(f)
	case framePushPromise:
		err = violates(codeProtocol, "PUSH_PROMISE, which was declined")
	default: // priorities say nothing to a client; unknown frames are to be ignored
		err = c.discard(f.length)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over() {
		return io.EOF
	}
	return nil
}

func (c *H2) readHead() (frame, error) {
	b, err := c.peek(headSize)
	if err != nil {
		return frame{}, err
	}
	f := parseHead(b)
	if f.length > frameSize {
		return f, violates(codeFrameSize, "frame of %d bytes", f.length)
	}
	return f, nil
}

// peek returns the next n bytes, which stay as they are until the next call.
func (c *H2) peek(n int) ([]byte, error) {
	if err := c.discard(0); err != nil {
		return nil, err
	}
	if n > c.read.Size() {
		b := make([]byte, n)
		_, err := io.ReadFull(c.read, b)
		return b, err
	}
	b, err := c.read.Peek(n)
	if len(b) > 0 && err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		c.peeked = n
	}
	return b, err
}

// discard passes by what was peeked at, and n more bytes.
func (c *H2) discard(n int) error {
	n, c.peeked = n+c.peeked, 0
	if n == 0 {
		return nil
	}
	_, err := c.read.Discard(n)
	return err
}

// payload is peek for a frame that must have one size.
func (c *H2) payload(f frame, size int, connection bool) ([]byte, error) {
	if f.length != size {
		return nil, violates(codeFrameSize, "frame of type %d with %d bytes", f.kind, f.length)
	}
	if connection != (f.stream == 0) {
		return nil, violates(codeProtocol, "frame of type %d for stream %d", f.kind, f.stream)
	}
	return c.peek(size)
}

// stream finds a stream. It is nil for one that has ended, whose last frames may still be under way.
func (c *H2) stream(f frame) (*Stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.stream%2 == 0 || f.stream >= c.next {
		return nil, violates(codeProtocol, "frame of type %d for stream %d, which is not open", f.kind, f.stream)
	}
	return c.streams[f.stream], nil
}

func (c *H2) ping(f frame) error {
	p, err := c.payload(f, 8, true)
	if err != nil || f.flags&flagAck != 0 {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.queue()
	b.b = append(appendHead(b.b, frame{length: 8, kind: framePing, flags: flagAck}), p...)
	return c.kick()
}

func (c *H2) settings(f frame) error {
	if f.stream != 0 {
		return violates(codeProtocol, "SETTINGS for stream %d", f.stream)
	}
	if f.length%6 != 0 || f.flags&flagAck != 0 && f.length != 0 {
		return violates(codeFrameSize, "SETTINGS with %d bytes", f.length)
	}
	if f.flags&flagAck != 0 {
		return nil
	}
	p, err := c.peek(f.length)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; len(p) > 0; p = p[6:] {
		if err := c.set(binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])); err != nil {
			return err
		}
	}
	b := c.queue()
	b.b = appendHead(b.b, frame{kind: frameSettings, flags: flagAck})
	c.pump()
	return c.kick()
}

// set applies one setting. What the server says about push is for servers, and ignored as some say it nevertheless; its largest frame and
// its largest header are no matter here. The lock is held.
func (c *H2) set(id uint16, value uint32) error {
	switch id {
	case settingTableSize:
		c.encode.SetMaxDynamicTableSize(value)
	case settingStreams:
		c.most = int(min(value, math.MaxInt32))
	case settingInitialWindow:
		if value > mostWindow {
			return violates(codeFlowControl, "initial window of %d bytes", value)
		}
		change := int(value) - c.initial
		c.initial = int(value)
		for _, s := range c.streams {
			s.window += change
			if s.window > mostWindow {
				return violates(codeFlowControl, "window of stream %d beyond %d bytes", s.id, mostWindow)
			}
		}
	case settingFrameSize:
		if value < frameSize || value >= 1<<24 {
			return violates(codeProtocol, "frame size of %d bytes", value)
		}
	}
	return nil
}

func (c *H2) windowUpdate(f frame) error {
	p, err := c.payload(f, 4, f.stream == 0)
	if err != nil {
		return err
	}
	more := int(binary.BigEndian.Uint32(p) & mostWindow)
	if f.stream == 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.window += more
		if more == 0 {
			return violates(codeProtocol, "window opened by nothing")
		}
		if c.window > mostWindow {
			return violates(codeFlowControl, "window beyond %d bytes", mostWindow)
		}
		c.pump()
		return c.kick()
	}
	s, err := c.stream(f)
	if s == nil {
		return err
	}
	c.mu.Lock()
	s.window += more
	bad := more == 0 || s.window > mostWindow
	c.pump()
	err = c.kick()
	c.mu.Unlock()
	if bad {
		return c.reject(s, codeFlowControl, fmt.Sprintf("window opened by %d bytes", more))
	}
	return err
}
