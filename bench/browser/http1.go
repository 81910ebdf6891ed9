package browser

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"pollbench/bench/clock"
)

// http1Conn is one HTTP/1.1 connection over TLS.
type http1Conn struct {
	n      int
	clock  clock.Clock
	conn   *tls.Conn
	read   *bufio.Reader
	write  *bufio.Writer
	broken atomic.Bool
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
	// A poll and the head of its answer fit into 1 KiB; a body is read past the buffer. A thousand pages have six of each.
	return &http1Conn{
		n: n, clock: o.Clock, conn: conn, read: bufio.NewReaderSize(conn, 1<<10), write: bufio.NewWriterSize(conn, 1<<10),
	}, nil
}

func (c *http1Conn) exchange(r *http.Request, at *stamps) (*http.Response, []byte, error) {
	// A connection has no context: when the request's ends, a deadline in the past makes reads and writes return.
	stop := context.AfterFunc(r.Context(), func() {
		c.broken.Store(true)
		_ = c.conn.SetDeadline(time.Unix(1, 0))
	})
	defer stop()
	response, body, err := c.roundTrip(r, at)
	if err != nil {
		c.broken.Store(true)
		if r.Context().Err() != nil {
			err = context.Cause(r.Context())
		}
		return nil, nil, err
	}
	if response.Close {
		c.broken.Store(true)
	}
	return response, body, nil
}

func (c *http1Conn) roundTrip(r *http.Request, at *stamps) (*http.Response, []byte, error) {
	if err := r.Write(c.write); err != nil {
		return nil, nil, fmt.Errorf("send: %w", err)
	}
	if err := c.write.Flush(); err != nil {
		return nil, nil, fmt.Errorf("send: %w", err)
	}
	at.sent = c.clock.Now()
	if _, err := c.read.Peek(1); err != nil {
		return nil, nil, fmt.Errorf("await answer: %w", err)
	}
	at.firstByte = c.clock.Now()
	response, err := http.ReadResponse(c.read, r)
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

func (c *http1Conn) usable() bool { return !c.broken.Load() }
func (c *http1Conn) number() int  { return c.n }
func (c *http1Conn) close()       { _ = c.conn.Close() } // nothing is lost with it: every answer has been read
