package browser

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"pollbench/bench/clock"
)

// h2Conn is one HTTP/2 connection over TLS.
type h2Conn struct {
	n         int
	clock     clock.Clock
	conn      *http.ClientConn
	transport *http.Transport
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
	return &h2Conn{n: n, clock: o.Clock, conn: conn, transport: transport}, nil
}

// streams is the number of requests that the server allows at once.
func (c *h2Conn) streams() int { return c.conn.Available() + c.conn.InFlight() }

func (c *h2Conn) exchange(r *http.Request, at *stamps) (*http.Response, []byte, error) {
	// WroteRequest is called by the goroutine that writes, perhaps after the answer has been read.
	var sent atomic.Pointer[time.Time]
	trace := &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) {
			now := c.clock.Now()
			sent.Store(&now)
		},
		GotFirstResponseByte: func() { at.firstByte = c.clock.Now() },
	}
	response, err := c.conn.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil {
		if r.Context().Err() != nil {
			err = context.Cause(r.Context())
		}
		return nil, nil, err
	}
	body, err := readAll(response)
	if err != nil {
		return nil, nil, fmt.Errorf("read body: %w", err)
	}
	at.done = c.clock.Now()
	at.sent = at.firstByte
	if t := sent.Load(); t != nil && t.Before(at.firstByte) {
		at.sent = *t
	}
	return response, body, nil
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
