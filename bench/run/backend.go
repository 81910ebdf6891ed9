package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/serverclock"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
	"pollbench/fixtures/site"
)

// Network is where servers listen and clients dial: the loopback interface, or one in memory.
type Network interface {
	Listen() (net.Listener, error)
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Loopback is TCP on 127.0.0.1, on any free port.
func Loopback() Network { return loopback{} }

type loopback struct{ net.Dialer }

func (loopback) Listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

func (l loopback) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return l.DialContext(ctx, network, address)
}

// Backend is an Elasticsearch and, for each path between a browser and it, what the browser meets there.
type Backend struct {
	network    Network
	clock      clock.Clock
	target     Target
	site       *site.Site
	started    Elasticsearch // for this run; nil: none
	told       atomic.Bool   // why it has ended by itself
	server     Server        // Elasticsearch
	found      record.Backend
	offset     *serverclock.Offset // of its clock; nil: nothing is read by that
	passOver   []string            // instants in Server-Timing that are not by our clock
	atOnce     int                 // searches that the server executes; 0: any number
	asked      searches
	lent       bool   // an index of ours is in somebody else's Elasticsearch
	links      uint64 // between the servers, so far: each has its own seed
	entrances  map[string]*entrance
	dashboards int
}

// Start brings the servers up, or finds those that run already, and looks what they can do. Close ends what was started.
func Start(ctx context.Context, c clock.Clock, n Network, s scenario.Scenario, t Target) (*Backend, error) {
	servers, err := site.New(site.Options{Clock: c})
	if err != nil {
		return nil, fmt.Errorf("start servers: %w", err)
	}
	b := &Backend{network: n, clock: c, target: t, site: servers, entrances: map[string]*entrance{}}
	if err := browser.Guard(func() error { return b.start(ctx, s) }); err != nil {
		return nil, fmt.Errorf("start servers: %w", t.redactError(errors.Join(err, b.Close())))
	}
	return b, nil
}

func (b *Backend) start(ctx context.Context, s scenario.Scenario) error {
	if err := b.target.Plays(s); err != nil {
		return err
	}
	if !b.target.Dashboard.Given() || b.target.Elasticsearch.Given() {
		if err := b.elasticsearch(ctx, s); err != nil {
			return err
		}
	}
	if b.target.Dashboard.Given() {
		if err := b.dashboard(ctx, s); err != nil {
			return err
		}
	}
	if err := b.fits(s); err != nil {
		return err
	}
	for _, path := range s.Paths() {
		e := &entrance{backend: b, path: path, edges: map[scenario.Protocol][]string{}}
		b.entrances[path.String()] = e
		if err := e.start(s); err != nil {
			return err
		}
	}
	return nil
}

// AtOnce is how many searches the server executes at once; zero: any number. A plan for it has to fit.
func (b *Backend) AtOnce() int { return b.atOnce }

// Spacing is how far apart starts should be for this server, unless somebody knows better.
func (b *Backend) Spacing() time.Duration {
	if b.target.embedded() {
		return plan.DefaultSpacing
	}
	return plan.RealSpacing
}

// link is the network between two servers.
func (b *Backend) link(s scenario.Scenario, c scenario.Conditions) network.Dial {
	b.links++
	return b.site.Link(conditions(c), s.Seed+b.links).Dial(b.network.Dial)
}

// distant is how many connections may be needed at once between two servers, if any of them are far from each other.
func (b *Backend) distant(s scenario.Scenario) int {
	for _, n := range s.Networks {
		if n.BehindEdge.RTT.Duration > 0 || n.Elasticsearch.RTT.Duration > 0 {
			return min(kibana.DefaultSockets, plan.All(s))
		}
	}
	return 0
}

// Describe says, for the manifest, what the dashboards are played against.
func (b *Backend) Describe() record.Backend {
	d := b.found
	d.Kind = cmp.Or(b.target.Kind, "embedded")
	if d.DashboardServers = b.dashboards; b.dashboards > 0 {
		d.SocketsPerServer = kibana.DefaultSockets
	}
	return d
}

// closing is how long requests under way may take to end once the servers close.
const closing = 2 * time.Second

// Close ends what was started for the run, and takes back what was left on servers that go on: its searches, and its index. That may take a minute, and is told
// before anything else: who hears nothing after Ctrl-C presses it again.
func (b *Backend) Close() error {
	if left := b.left(); len(left) > 0 {
		b.target.say("deleting " + strings.Join(left, " and ") + " on the server: a second Ctrl-C would leave the rest there")
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	errs := []error{b.site.Close(ctx)}
	if b.started != nil {
		if err := b.started.Close(); !b.told.Load() {
			errs = append(errs, err)
		}
	}
	if len(b.left()) > 0 { // a last submit may have been answered meanwhile
		errs = append(errs, b.deleteSearches(), b.deleteIndex())
	}
	return b.target.redactError(errors.Join(errs...))
}

// why is told once that the Elasticsearch which was started has ended by itself.
func (b *Backend) why() error {
	b.told.Store(true)
	return fmt.Errorf("Elasticsearch has ended: %w", b.started.Close())
}

// ended is why the Elasticsearch that was started no longer answers; nil if it does, or none was started. Loads notice its end before the one does who watches it.
func (b *Backend) ended(ctx context.Context) error {
	if b.started == nil || ctx.Err() != nil {
		return nil
	}
	const soon = 3 * time.Second
	client := b.server.client(b.network)
	client.Timeout = soon
	defer client.CloseIdleConnections()
	answer, err := client.Get(b.server.URL)
	if err == nil {
		return answer.Body.Close()
	}
	wait, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	select {
	case <-b.started.Done():
		return b.why()
	case <-wait.Done():
		return fmt.Errorf("Elasticsearch no longer answers: %w", err)
	}
}

// failed tells, once, that the servers are no longer whole.
func (b *Backend) failed(ctx context.Context) <-chan error {
	told := make(chan error, 1)
	var ended <-chan struct{}
	if b.started != nil {
		ended = b.started.Done()
	}
	go func() {
		select {
		case err := <-b.site.Failed():
			told <- err
		case <-ended:
			told <- browser.Guard(b.why)
		case <-ctx.Done():
		}
	}()
	return told
}
