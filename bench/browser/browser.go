// Package browser is the virtual browser: it plays dashboard pages as a real one would, and times each request.
//
// A browser is slots plus a protocol. On HTTP/1.1 it has six connections to a host and each carries one request at a time; on h2 it
// has one connection that carries as many requests as the lower of its own and the server's limit of streams; before the server has told its limit, no
// more than 100 are meant for it. A request queues for a slot, first in first out, and that wait is a recorded time. net/http's own connection pool would hide it, so the
// slots are ours, and under them are the single connections of package wire. Nothing in a browser has a goroutine while it waits, but for
// the HTTP/1.1 requests under way and the reader of each h2 connection.
//
// As in Chromium, each new h2 connection brings its own limit, also the first one of a cold page and one that replaces a broken one. Unlike Chromium, which
// sends its first 100 requests before the server's settings have come, ours waits for them: with a server that tells them only after the TLS handshake,
// a connection's first requests are later by one round trip. And a limit that the server changes in the middle of a connection is not followed.
//
// A [Browser] has the connections to one host, and all its tabs share them; [Browser.Load] plays a dashboard in each tab and returns the observation
// of them all.
//
// # Servers that are not ours
//
// A Kibana is sent the same requests as our dashboard server: what its version does not know in their bodies it passes over. So its version decides what a
// strategy really does there. This is from Kibana's public sources; none has been tried.
//
//	version         a poll                                           answers
//	early 8         the result; waits 100 ms, whatever it is asked   its own form
//	8.9 (about)     the result                                       its own form
//	8.14            the status, or with retrieveResults the result   its own form
//	8.17 (about)    the same                                         results streamed, the status in its own form
//	9.4 (about)     the result, never the status                     streamed
//
// Strategies that poll by status are such only from 8.14 to 9.3. Continuous polling before an early version would be many short polls, and is an error
// instead. Plain searches are answered in Kibana's own form by all.
//
// When a search started and was ready is read from Server-Timing where the answers have it, as with our own servers; else from what they tell in their
// bodies, see [Options].ServerClock.
package browser

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/serverclock"
)

// Options say what a browser is opened with.
type Options struct {
	Clock    clock.Clock
	Epoch    time.Time // of the run: recorded times count from it
	Protocol scenario.Protocol
	Limits   scenario.Browser
	Address  string // host and port of the dashboard server, or of the proxy in front of it
	// Host is the name that the server goes by, with a port unless it is the usual one: for its certificate and the requests' authority. Empty means Address's.
	Host string
	// TLS has the trusted roots; the protocol is added here. nil means plain text, over which browsers speak HTTP/1.1 only.
	TLS *tls.Config
	// BasePath stands before all paths, such as /s/space or Kibana's server.basePath; escaped, and without a slash at its end.
	BasePath string
	// Authorization is the value of that header, such as "ApiKey …"; empty sends none. It is a secret, and goes to the server and nowhere else.
	Authorization string
	// ServerClock is where Elasticsearch's clock stands, see [Browser.ClockExchange]. It is needed where answers tell their search's instants on that clock
	// and not in Server-Timing; nil makes them an error.
	ServerClock *serverclock.Offset
	// PassOver names the instants in Server-Timing that servers tell by the clock of another machine.
	PassOver []string
	// Identified, if set, is told the id of each async search that has one. It must return at once.
	Identified func(id string)
	// Dial opens a network connection; nil means TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Browser is one open browser. It must be closed.
type Browser struct {
	*goroutines
	options Options
	slots   *slots

	places []place      // by slot on HTTP/1.1, a single one on h2
	opened atomic.Int64 // connections so far, those that replaced a broken one included
}

// place is where a connection stands. Its lock is held while the connection opens: of two requests on h2 the second waits for the
// first's connection, as in a real browser, while HTTP/1.1's connections open side by side.
type place struct {
	mu      sync.Mutex
	open    *open        // nil: not connected
	leaving []connection // that take no more requests, and end by themselves with their last one
}

// open is an open connection.
type open struct {
	conn   connection
	number int         // the browser's first is 1
	used   atomic.Bool // something has been answered over it
}

// connection carries exchanges; an HTTP/1.1 one, one at a time.
type connection interface {
	// exchange sends the request and calls done once, with the whole answer or an error, and with what it saw on the way. It may call done
	// before it returns or later, from another goroutine. Closing the connection ends the exchange.
	// The sending is told how the exchange alone can be ended.
	exchange(c call, s *sending, done func(answer, stamps, error))
	usable() bool
	// leaving tells whether it is no longer usable because the server wants no more requests on it; those under way are answered all the same.
	leaving() bool
	close()
}

// stamps are the instants of one exchange.
type stamps struct{ sent, firstByte, done time.Time }

// streamsUntold is what Chromium takes for a server's limit of streams until it has been told.
const streamsUntold = 100

// New makes a browser that has no connection yet.
func New(o Options) *Browser {
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	b := &Browser{goroutines: &goroutines{broken: make(chan struct{})}, options: o}
	places, slots, most := 1, o.Limits.H2Streams, streamsUntold
	if o.Protocol == scenario.HTTP1 {
		places, slots, most = o.Limits.HTTP1Connections, o.Limits.HTTP1Connections, o.Limits.HTTP1Connections
	}
	b.places, b.slots = make([]place, places), newSlots(slots, most, b.start)
	return b
}

// Connect opens all the connections that the browser may have and sends a request on each, as in one that has long been in
// use. Any answer shows that a connection works, also one that wants rights for the status, but for a server's own trouble (5xx).
func (b *Browser) Connect(ctx context.Context) error {
	errs := make([]error, len(b.places))
	var opening sync.WaitGroup
	for i := range b.places {
		opening.Go(func() { errs[i] = Guard(func() error { return b.connect(ctx, i) }) })
	}
	opening.Wait()
	return cmp.Or(errs...)
}

// connect opens one of them and tries it out.
func (b *Browser) connect(ctx context.Context, i int) error {
	o, err := b.connection(ctx, i)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { b.guard(o.conn.close) })()
	tried := make(chan error, 1)
	o.conn.exchange(call{method: http.MethodGet, path: statusPath}, &sending{}, func(a answer, _ stamps, err error) {
		if err == nil && a.status >= http.StatusInternalServerError {
			err = fmt.Errorf("GET %s: status %d: %s", statusPath, a.status, beginning(a.body))
		}
		tried <- err
	})
	told, err := await(b.goroutines, tried)
	if err = cmp.Or(told, err); err != nil {
		return fmt.Errorf("open page: %w", b.otherProtocol(err))
	}
	o.used.Store(true)
	return nil
}

// Close ends the connections.
func (b *Browser) Close() {
	for i := range b.places {
		b.places[i].close()
	}
}

func (p *place) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil {
		p.open.conn.close()
		p.open = nil
	}
	for _, c := range p.leaving {
		c.close()
	}
	p.leaving = nil
}

// connection returns the one that the slot stands for, opening it if there is none, it has broken or its server wants another one. In that case its requests
// go on: a long poll would end with it, and in the server its search.
func (b *Browser) connection(ctx context.Context, slot int) (*open, error) {
	p := &b.places[slot%len(b.places)]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil {
		if p.open.conn.usable() {
			return p.open, nil
		}
		if p.open.conn.leaving() {
			p.leaving = append(p.leaving, p.open.conn)
		} else {
			p.open.conn.close()
		}
		p.open = nil
	}
	dialProtocol := b.dialH2
	if b.options.Protocol == scenario.HTTP1 {
		dialProtocol = b.dialHTTP1
	}
	c, err := dialProtocol(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s over %s: %w", b.options.Address, b.options.Protocol, err)
	}
	p.open = &open{conn: c, number: int(b.opened.Add(1))}
	if h2, ok := c.(*h2Conn); ok {
		n := h2.streams()
		if n == 0 { // all requests would be in line for ever
			p.open = nil
			c.close()
			return nil, fmt.Errorf("connect to %s over h2: the server allows no request on its connections (SETTINGS_MAX_CONCURRENT_STREAMS 0)", b.options.Address)
		}
		b.slots.limit(n)
	}
	return p.open, nil
}

// since converts an instant to the run's time; a zero one stays zero.
func (b *Browser) since(t time.Time) record.Time {
	if t.IsZero() {
		return 0
	}
	return record.Time(t.Sub(b.options.Epoch) / time.Microsecond)
}
