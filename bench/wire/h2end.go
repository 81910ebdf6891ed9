package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
)

func (c *H2) resetBy(f frame) error {
	p, err := c.payload(f, 4, false)
	if err != nil {
		return err
	}
	s, err := c.stream(f)
	if s == nil {
		return err
	}
	code := errorCode(binary.BigEndian.Uint32(p))
	err = fmt.Errorf("h2: server reset the request: %v", code)
	if code == codeRefused {
		err = fmt.Errorf("%w: %w", err, ErrUnprocessed)
	}
	c.end(s, err)
	return nil
}

func (c *H2) goAway(f frame) error {
	if f.length < 8 || f.stream != 0 {
		return violates(codeFrameSize, "GOAWAY with %d bytes for stream %d", f.length, f.stream)
	}
	p, err := c.peek(f.length)
	if err != nil {
		return err
	}
	last := binary.BigEndian.Uint32(p) & mostWindow
	err = fmt.Errorf("h2: server goes away: %v", errorCode(binary.BigEndian.Uint32(p[4:])))
	if len(p) > 8 {
		err = fmt.Errorf("%w: %.200q", err, p[8:])
	}
	c.mu.Lock()
	if c.err == nil {
		c.err, c.drained = err, true
	}
	var left []*Stream
	for id, s := range c.streams {
		if id > last {
			left = append(left, s)
		}
	}
	c.mu.Unlock()
	slices.SortFunc(left, func(a, b *Stream) int { return int(a.id) - int(b.id) })
	for _, s := range left {
		c.end(s, fmt.Errorf("%w: %w", err, ErrUnprocessed))
	}
	return nil
}

// end fails a request.
func (c *H2) end(s *Stream, err error) {
	c.mu.Lock()
	mine := c.forget(s)
	c.mu.Unlock()
	if mine {
		s.answered(Answer{}, err)
	}
}

// reject fails a request because of something in its answer, and tells the server.
func (c *H2) reject(s *Stream, code errorCode, reason string) error {
	c.mu.Lock()
	mine := c.forget(s)
	var err error
	if mine {
		c.reset(s.id, code)
		err = c.kick()
	}
	c.mu.Unlock()
	if mine {
		s.answered(Answer{}, fmt.Errorf("h2: bad answer: %s", reason))
	}
	return err
}
