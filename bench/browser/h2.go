package browser

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"pollbench/bench/clock"
	"pollbench/bench/wire"
)

// h2Conn is one HTTP/2 connection over TLS.
type h2Conn struct {
	conn    *wire.H2
	clock   clock.Clock
	address string
}

func dialH2(ctx context.Context, o Options) (connection, error) {
	conn, err := dialTLS(ctx, o, "h2")
	if err != nil {
		return nil, err
	}
	h2, err := wire.NewH2(ctx, conn, o.Clock.Now)
	if err != nil {
		return nil, err
	}
	return &h2Conn{conn: h2, clock: o.Clock, address: o.Address}, nil
}

// exchange returns when the request has been sent. The answer comes on the goroutine that reads the connection, which must go on reading.
func (c *h2Conn) exchange(asked call, s *sending, done func(answer, stamps, error)) {
	r := wire.Request{Method: asked.method, Authority: c.address, Path: asked.path, Body: asked.body}
	for _, h := range asked.headers() {
		r.Header = append(r.Header, wire.Field{Name: h.lower, Value: h.value})
	}
	var at stamps
	sent := make(chan struct{})
	stream, err := c.conn.Send(r, func(a wire.Answer, err error) {
		go func() {
			<-sent
			at.firstByte, at.done = a.FirstByte, a.Done
			if at.firstByte.Before(at.sent) {
				at.sent = at.firstByte // it came while we were still busy with having sent
			}
			done(answer{status: a.Status, protocol: "h2", header: a.Header, body: a.Body}, at, err)
		}()
	})
	if err != nil {
		done(answer{}, at, err)
		return
	}
	at.sent = c.clock.Now()
	s.under(func() { stream.Cancel(errDropped) })
	close(sent)
}

// errDropped is what a request ends with that its page has lost interest in.
var errDropped = errors.New("dropped by the page")

// streams is the number of requests that the server allows at once.
func (c *h2Conn) streams() int { return c.conn.Streams() }

func (c *h2Conn) usable() bool { return c.conn.Err() == nil }
func (c *h2Conn) close()       { _ = c.conn.Close() } // every answer has been read

// dialTLS opens a connection that speaks that protocol and no other.
func dialTLS(ctx context.Context, o Options, protocol string) (*tls.Conn, error) {
	raw, err := o.Dial(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	config := o.TLS.Clone()
	config.NextProtos = []string{protocol}
	if config.ServerName == "" {
		config.ServerName = host(o.Address)
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return conn, nil
}

// host is the name that a certificate must have for the address.
func host(address string) string {
	if name, _, err := net.SplitHostPort(address); err == nil {
		return name
	}
	return address
}
