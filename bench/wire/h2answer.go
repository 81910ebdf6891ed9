package wire

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/net/http2/hpack"
)

// mostTrusted is how much memory an announced length of a body gets at once. The rest is added as the bytes arrive.
const mostTrusted = 1 << 20

// block is a header block that has begun.
type block struct {
	stream uint32
	end    bool // the answer ends with it
	at     time.Time
	size   int // of its fields so far, as the protocol counts
}

func (c *H2) headers(f frame) error {
	if _, err := c.stream(f); err != nil {
		return err
	}
	p, err := c.peek(f.length)
	if err != nil {
		return err
	}
	at := c.now()
	if p, err = unpad(f, p); err != nil {
		return err
	}
	c.block = block{stream: f.stream, end: f.flags&flagEndStream != 0, at: at}
	return c.fragment(f, p)
}

func (c *H2) continuation(f frame) error {
	if c.block.stream == 0 {
		return violates(codeProtocol, "CONTINUATION of nothing")
	}
	p, err := c.peek(f.length)
	if err != nil {
		return err
	}
	return c.fragment(f, p)
}

// fragment decodes a part of a header block. That has to be done even if the stream has ended, because the table of fields is the connection's.
func (c *H2) fragment(f frame, p []byte) error {
	if _, err := c.decode.Write(p); err != nil {
		return violates(codeCompression, "header block: %v", err)
	}
	if c.block.size > mostHeader {
		return violates(codeCalm, "header of more than %d bytes", mostHeader)
	}
	if f.flags&flagEndHeaders == 0 {
		return nil
	}
	if err := c.decode.Close(); err != nil {
		return violates(codeCompression, "header block: %v", err)
	}
	done, fields := c.block, c.fields
	c.block = block{}
	defer func() {
		clear(fields)
		c.fields = fields[:0]
	}()
	s, err := c.stream(f)
	if s == nil {
		return err
	}
	return c.head(s, done, fields)
}

// field takes a decoded field.
func (c *H2) field(f hpack.HeaderField) {
	c.block.size += int(f.Size())
	if c.block.size <= mostHeader {
		c.fields = append(c.fields, f)
	}
}

// head takes the header of an answer, or its trailer.
func (c *H2) head(s *Stream, b block, fields []hpack.HeaderField) error {
	if s.answer.Status != 0 {
		if !b.end {
			return c.reject(s, codeProtocol, "header after the header")
		}
		return c.finish(s)
	}
	status, regular, err := pseudo(fields)
	if err != nil {
		return c.reject(s, codeProtocol, err.Error())
	}
	if status < 200 {
		if b.end {
			return c.reject(s, codeProtocol, fmt.Sprintf("ends with status %d", status))
		}
		return nil // the answer proper follows
	}
	header, length, err := regularFields(regular)
	if err != nil {
		return c.reject(s, codeProtocol, err.Error())
	}
	if s.head || status == http.StatusNotModified {
		length = -1 // it is that of a body that is not sent
	}
	s.answer = Answer{Status: status, Header: header, FirstByte: b.at}
	s.length = length
	if b.end {
		return c.finish(s)
	}
	return nil
}

// pseudo takes the status, which is the one field with a colon in an answer, off the others.
func pseudo(fields []hpack.HeaderField) (int, []hpack.HeaderField, error) {
	if len(fields) == 0 || fields[0].Name != ":status" {
		return 0, nil, fmt.Errorf("header does not begin with its status")
	}
	status, err := strconv.ParseUint(fields[0].Value, 10, 16)
	if err != nil || len(fields[0].Value) != 3 || status < 100 {
		return 0, nil, fmt.Errorf("status %q", fields[0].Value)
	}
	return int(status), fields[1:], nil
}

// regularFields returns the header and the length that it announces for the body, or -1.
func regularFields(fields []hpack.HeaderField) (http.Header, int64, error) {
	header := make(http.Header, len(fields))
	values := make([]string, len(fields)) // one allocation for all
	length := int64(-1)
	for i, f := range fields {
		for j := range len(f.Name) {
			if b := f.Name[j]; b == ':' || b >= 'A' && b <= 'Z' {
				return nil, 0, fmt.Errorf("header field %q", f.Name)
			}
		}
		if f.Name == "content-length" {
			n, err := strconv.ParseUint(f.Value, 10, 63)
			if err != nil || length >= 0 && length != int64(n) {
				return nil, 0, fmt.Errorf("content-length %q", f.Value)
			}
			length = int64(n)
		}
		key := http.CanonicalHeaderKey(f.Name)
		if before := header[key]; before != nil {
			header[key] = append(before, f.Value)
			continue
		}
		values[i] = f.Value
		header[key] = values[i : i+1 : i+1]
	}
	return header, length, nil
}

func (c *H2) data(f frame) error {
	s, err := c.stream(f)
	if err != nil {
		return err
	}
	n, pad := f.length, 0
	if f.flags&flagPadded != 0 {
		if f.length == 0 {
			return violates(codeFrameSize, "padded frame without the length of its padding")
		}
		b, err := c.peek(1)
		if err != nil {
			return err
		}
		pad = int(b[0])
		n -= 1 + pad
		if n < 0 {
			return violates(codeProtocol, "padding of %d bytes in a frame of %d", pad, f.length)
		}
	}
	if err := c.credit(0, &c.consumed, f.length, receiveConnection); err != nil {
		return err
	}
	switch {
	case s == nil:
		return c.discard(n + pad)
	case s.answer.Status == 0:
		err = c.reject(s, codeProtocol, "body before the header")
	case s.length >= 0 && int64(len(s.answer.Body)+n) > s.length || s.head && n > 0:
		err = c.reject(s, codeProtocol, "body longer than announced")
	default:
		return c.body(s, f, n, pad)
	}
	if err != nil {
		return err
	}
	return c.discard(n + pad)
}

// body reads a part of an answer's body straight to where it stays.
func (c *H2) body(s *Stream, f frame, n, pad int) error {
	if err := c.discard(0); err != nil {
		return err
	}
	body := s.answer.Body
	if body == nil && s.length > 0 {
		body = make([]byte, 0, min(s.length, mostTrusted))
	}
	body = slices.Grow(body, n)[:len(body)+n]
	if _, err := io.ReadFull(c.read, body[len(body)-n:]); err != nil {
		return err
	}
	s.answer.Body = body
	if err := c.discard(pad); err != nil {
		return err
	}
	if f.flags&flagEndStream != 0 {
		return c.finish(s)
	}
	return c.credit(s.id, &s.consumed, f.length, receiveStream)
}

// credit opens a window again once half of it has been used.
func (c *H2) credit(stream uint32, consumed *int, n, window int) error {
	*consumed += n
	if *consumed < window/2 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.queue()
	b.b = appendNumber(b.b, frameWindowUpdate, stream, uint32(*consumed))
	*consumed = 0
	return c.kick()
}

// finish hands over an answer that is complete.
func (c *H2) finish(s *Stream) error {
	if s.length >= 0 && int64(len(s.answer.Body)) != s.length {
		return c.reject(s, codeProtocol, fmt.Sprintf("body ends after %d of %d bytes", len(s.answer.Body), s.length))
	}
	s.answer.Done = c.now()
	c.mu.Lock()
	var err error
	unsent := len(s.unsent) > 0
	mine := c.forget(s)
	if mine && unsent {
		// It did not need the rest of the body to answer.
		c.reset(s.id, codeCancel)
		err = c.kick()
	}
	c.mu.Unlock()
	if mine {
		answer := s.answer
		s.answer = Answer{} // whoever keeps the stream does not keep the body
		s.answered(answer, nil)
	}
	return err
}
