package browser

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	"pollbench/bench/clock"
	"pollbench/bench/wire"
)

// http1Conn is one HTTP/1.1 connection over TLS.
type http1Conn struct {
	n     int
	clock clock.Clock
	conn  *wire.Conn
}

func dialHTTP1(ctx context.Context, o Options, n int) (*http1Conn, error) {
	raw, err := o.Dial(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	config := o.TLS.Clone()
	config.NextProtos = []string{"http/1.1"}
	if config.ServerName == "" {
		config.ServerName = host(o.Address)
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return &http1Conn{n: n, clock: o.Clock, conn: wire.New(conn)}, nil
}

func (c *http1Conn) exchange(r *http.Request, at *stamps) (*http.Response, []byte, error) {
	stop := c.conn.Watch(r.Context())
	defer stop()
	response, body, err := c.roundTrip(r, at)
	if err != nil {
		c.conn.Break()
		if r.Context().Err() != nil {
			err = context.Cause(r.Context())
		}
		return nil, nil, err
	}
	return response, body, nil
}

func (c *http1Conn) roundTrip(r *http.Request, at *stamps) (*http.Response, []byte, error) {
	if err := c.conn.Send(r); err != nil {
		return nil, nil, fmt.Errorf("send: %w", err)
	}
	at.sent = c.clock.Now()
	if err := c.conn.Await(); err != nil {
		return nil, nil, fmt.Errorf("await answer: %w", err)
	}
	at.firstByte = c.clock.Now()
	response, err := c.conn.Receive(r)
	if err != nil {
		return nil, nil, fmt.Errorf("read answer: %w", err)
	}
	body, err := readAll(response)
	if err != nil {
		return nil, nil, fmt.Errorf("read body: %w", err)
	}
	at.done = c.clock.Now()
	return response, body, nil
}

func (c *http1Conn) usable() bool { return c.conn.Usable() }
func (c *http1Conn) number() int  { return c.n }
func (c *http1Conn) close()       { _ = c.conn.Close() } // nothing is lost with it: every answer has been read
