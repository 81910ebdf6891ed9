package browser

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"pollbench/bench/clock"
	"pollbench/bench/wire"
)

// http1Conn is one HTTP/1.1 connection.
type http1Conn struct {
	clock clock.Clock
	conn  *wire.Conn
	peer  peer
}

func (b *Browser) dialHTTP1(ctx context.Context) (connection, error) {
	conn, err := dial(ctx, b.options, "http/1.1")
	if err != nil {
		return nil, err
	}
	return &http1Conn{clock: b.options.Clock, conn: wire.New(conn), peer: newPeer(b.options)}, nil
}

// exchange returns when the answer has been read: the goroutine of who asks does all.
func (c *http1Conn) exchange(asked call, s *sending, done func(answer, stamps, error)) {
	var at stamps
	s.under(c.close) // nothing else ends an exchange of HTTP/1.1
	a, err := c.roundTrip(asked, &at)
	if err != nil {
		c.conn.Break()
	}
	done(a, at, err)
}

func (c *http1Conn) roundTrip(asked call, at *stamps) (answer, error) {
	r, err := c.peer.request(asked)
	if err != nil {
		return answer{}, err
	}
	if err := c.conn.Send(r); err != nil {
		return answer{}, fmt.Errorf("send: %w", err)
	}
	at.sent = c.clock.Now()
	if err := c.conn.Await(); err != nil {
		return answer{}, fmt.Errorf("await answer: %w", err)
	}
	at.firstByte = c.clock.Now()
	response, err := c.conn.Receive(r)
	if err != nil {
		return answer{}, fmt.Errorf("read answer: %w", err)
	}
	body, err := readAll(response)
	if err != nil {
		return answer{}, fmt.Errorf("read body: %w", err)
	}
	at.done = c.clock.Now()
	return answer{status: response.StatusCode, protocol: strings.ToLower(response.Proto), header: response.Header, body: body}, nil
}

// request makes the HTTP request.
func (p peer) request(c call) (*http.Request, error) {
	r, err := http.NewRequest(c.method, "https://"+p.authority+p.basePath+c.path, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	for _, h := range p.headers(c) {
		r.Header[h.canonical] = []string{h.value}
	}
	return r, nil
}

// readAll reads a body to its end, into one buffer of the announced size.
func readAll(r *http.Response) ([]byte, error) {
	defer r.Body.Close()
	if r.ContentLength < 0 {
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func (c *http1Conn) usable() bool  { return c.conn.Usable() }
func (c *http1Conn) leaving() bool { return false }       // with one request at a time there is none left
func (c *http1Conn) close()        { _ = c.conn.Close() } // nothing is lost with it: every answer has been read
