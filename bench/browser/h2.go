package browser

import (
	"context"
	"errors"

	"pollbench/bench/clock"
	"pollbench/bench/wire"
)

// h2Conn is one HTTP/2 connection over TLS.
type h2Conn struct {
	conn  *wire.H2
	clock clock.Clock
	peer  peer
	start func(func()) // a goroutine
}

func (b *Browser) dialH2(ctx context.Context) (connection, error) {
	o := b.options
	if o.TLS == nil {
		return nil, errors.New("browsers speak h2 over TLS only, and this address is without: use https:// if the server has it, else http1")
	}
	conn, err := dial(ctx, o, "h2")
	if err != nil {
		return nil, err
	}
	h2, err := wire.NewH2(ctx, conn, o.Clock.Now)
	if err != nil {
		return nil, err
	}
	return &h2Conn{conn: h2, clock: o.Clock, peer: newPeer(o), start: b.start}, nil
}

// exchange returns when the request has been sent. The answer comes on the goroutine that reads the connection, which must go on reading.
func (c *h2Conn) exchange(asked call, s *sending, done func(answer, stamps, error)) {
	r := wire.Request{Method: asked.method, Authority: c.peer.authority, Path: c.peer.basePath + asked.path, Body: asked.body}
	for _, h := range c.peer.headers(asked) {
		r.Header = append(r.Header, wire.Field{Name: h.lower, Value: h.value})
	}
	var at stamps
	sent := make(chan struct{})
	stream, err := c.conn.Send(r, func(a wire.Answer, err error) {
		c.start(func() {
			<-sent
			at.firstByte, at.done = a.FirstByte, a.Done
			if at.firstByte.Before(at.sent) {
				at.sent = at.firstByte // it came while we were still busy with having sent
			}
			done(answer{status: a.Status, protocol: "h2", header: a.Header, body: a.Body}, at, err)
		})
	})
	if err != nil {
		done(answer{}, at, err)
		return
	}
	defer close(sent)
	at.sent = c.clock.Now()
	s.under(func() { stream.Cancel(errDropped) })
}

// errDropped is what a request ends with that its page has lost interest in.
var errDropped = errors.New("dropped by the page")

// streams is the number of requests that the server allows at once.
func (c *h2Conn) streams() int { return c.conn.Streams() }

func (c *h2Conn) usable() bool  { return c.conn.Err() == nil }
func (c *h2Conn) leaving() bool { return c.conn.Leaving() }
func (c *h2Conn) close()        { _ = c.conn.Close() } // every answer has been read
