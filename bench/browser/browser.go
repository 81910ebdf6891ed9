// Package browser is the virtual browser: it plays a dashboard page as a real one would, and times each request.
//
// A browser is slots plus a protocol. On HTTP/1.1 it has six connections to a host and each carries one request at a time; on h2 it
// has one connection that carries as many requests as the lower of its own and the server's limit of streams. A request queues for a slot,
// first in first out, and that wait is a recorded time. net/http's own connection pool would hide it, so the
// slots are ours, and under them are the single connections of package wire. Nothing on a page has a goroutine while it waits, but for
// the HTTP/1.1 requests under way and the reader of each h2 connection.
//
// A [Page] is one dashboard page with its own connections; [Page.Load] plays the dashboard and returns the observation of it.
package browser

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// Options say what a page is opened with.
type Options struct {
	Clock    clock.Clock
	Epoch    time.Time // of the run: recorded times count from it
	Protocol scenario.Protocol
	Limits   scenario.Browser
	Address  string      // host and port of the dashboard server
	TLS      *tls.Config // trusted roots; the protocol is added here
	// Dial opens a network connection; nil means TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Page is one open page. It must be closed.
type Page struct {
	options Options
	slots   *slots

	mu     sync.Mutex
	conns  []connection // by slot on HTTP/1.1, a single one on h2; nil: not connected
	opened int          // connections so far, those that replaced a broken one included
}

// connection carries exchanges; an HTTP/1.1 one, one at a time.
type connection interface {
	// exchange sends the request and calls done once, with the whole answer or an error, and with what it saw on the way. It may call done
	// before it returns or later, from another goroutine. Closing the connection ends the exchange.
	exchange(c call, done func(answer, stamps, error))
	usable() bool
	close()
	number() int // the page's first is 1
}

// stamps are the instants of one exchange.
type stamps struct{ sent, firstByte, done time.Time }

// New makes a page that has no connection yet.
func New(o Options) *Page {
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	p := &Page{options: o}
	switch o.Protocol {
	case scenario.HTTP1:
		p.conns = make([]connection, o.Limits.HTTP1Connections)
		p.slots = newSlots(o.Limits.HTTP1Connections)
	default:
		p.conns = make([]connection, 1)
		p.slots = newSlots(o.Limits.H2Streams)
	}
	return p
}

// Connect opens all the connections that the page may have and sends a request on each, as on a page that has long been in
// use. On h2 the answer also brings the server's limit of streams, which holds from then on if it is the lower one.
func (p *Page) Connect(ctx context.Context) error {
	for i := range p.conns {
		c, err := p.connection(ctx, i)
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, c.close)
		opened := make(chan error, 1)
		c.exchange(call{method: http.MethodGet, path: statusPath}, func(a answer, _ stamps, err error) {
			if err == nil && a.status != http.StatusOK {
				err = fmt.Errorf("GET %s: status %d", statusPath, a.status)
			}
			opened <- err
		})
		err = <-opened
		stop()
		if err != nil {
			return fmt.Errorf("open page: %w", err)
		}
		if h2, ok := c.(*h2Conn); ok {
			p.slots.limit(h2.streams())
		}
	}
	return nil
}

// Close ends the page's connections.
func (p *Page) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range p.conns {
		if c != nil {
			c.close()
			p.conns[i] = nil
		}
	}
}

// Opened is the number of connections that the page has opened so far.
func (p *Page) Opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}

// connection returns the one that the slot stands for, opening it if there is none or it has broken. Two requests on
// h2 share it, so the lock is held while it opens: the second waits for the first's connection, as in a browser.
func (p *Page) connection(ctx context.Context, slot int) (connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slot % len(p.conns)
	if c := p.conns[i]; c != nil {
		if c.usable() {
			return c, nil
		}
		c.close()
		p.conns[i] = nil
	}
	var c connection
	var err error
	if p.options.Protocol == scenario.HTTP1 {
		c, err = dialHTTP1(ctx, p.options, p.opened+1)
	} else {
		c, err = dialH2(ctx, p.options, p.opened+1)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s over %s: %w", p.options.Address, p.options.Protocol, err)
	}
	p.opened++
	p.conns[i] = c
	return c, nil
}

// since converts an instant to the run's time; a zero one stays zero.
func (p *Page) since(t time.Time) record.Time {
	if t.IsZero() {
		return 0
	}
	return record.Time(t.Sub(p.options.Epoch) / time.Microsecond)
}
