package browser

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"

	"pollbench/bench/clock"
)

// h2Conn is one HTTP/2 connection over TLS.
type h2Conn struct {
	n       int
	clock   clock.Clock
	conn    *http.ClientConn
	address string
}

func dialH2(ctx context.Context, o Options, n int) (*h2Conn, error) {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		Protocols:          protocols,
		TLSClientConfig:    o.TLS.Clone(),
		DialContext:        o.Dial,
		DisableCompression: true,
	}
	conn, err := transport.NewClientConn(ctx, "https", o.Address)
	if err != nil {
		return nil, err
	}
	return &h2Conn{n: n, clock: o.Clock, conn: conn, address: o.Address}, nil
}

// streams is the number of requests that the server allows at once.
func (c *h2Conn) streams() int { return c.conn.Available() + c.conn.InFlight() }

func (c *h2Conn) exchange(ctx context.Context, asked call, done func(answer, stamps, error)) {
	var at stamps
	a, err := c.roundTrip(ctx, asked, &at)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	done(a, at, err)
}

func (c *h2Conn) roundTrip(ctx context.Context, asked call, at *stamps) (answer, error) {
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { at.firstByte = c.clock.Now() }}
	r, err := request(httptrace.WithClientTrace(ctx, trace), c.address, asked)
	if err != nil {
		return answer{}, err
	}
	response, err := c.conn.RoundTrip(r)
	if err != nil {
		return answer{}, err
	}
	body, err := readAll(response)
	if err != nil {
		return answer{}, fmt.Errorf("read body: %w", err)
	}
	at.done = c.clock.Now()
	at.sent = at.firstByte
	return answer{response.StatusCode, "h2", response.Header, body}, nil
}

func (c *h2Conn) usable() bool { return c.conn.Err() == nil }
func (c *h2Conn) number() int  { return c.n }
func (c *h2Conn) close()       { _ = c.conn.Close() }

// host is the name that a certificate must have for the address.
func host(address string) string {
	if name, _, err := net.SplitHostPort(address); err == nil {
		return name
	}
	return address
}
