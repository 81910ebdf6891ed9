package run

import (
	"context"
	"fmt"
	"net"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/fixtures/elastic"
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
	site       *site.Site
	links      uint64 // between the servers, so far: each has its own seed
	entrances  map[string]*entrance
	dashboards int
}

// Start brings the embedded servers up. Close ends them.
func Start(c clock.Clock, n Network, s scenario.Scenario) (*Backend, error) {
	servers, err := site.New(site.Options{Clock: c})
	if err != nil {
		return nil, fmt.Errorf("start servers: %w", err)
	}
	b := &Backend{network: n, clock: c, site: servers, entrances: map[string]*entrance{}}
	if err := b.start(s); err != nil {
		_ = b.Close() // the error is why it did not start
		return nil, fmt.Errorf("start servers: %w", err)
	}
	return b, nil
}

func (b *Backend) start(s scenario.Scenario) error {
	listener, err := b.network.Listen()
	if err != nil {
		return err
	}
	b.site.Elasticsearch(listener, elastic.Options{})
	for _, path := range s.Paths() {
		e := &entrance{backend: b, path: path, edges: map[scenario.Protocol][]string{}}
		b.entrances[path.String()] = e
		if err := e.start(s); err != nil {
			return err
		}
	}
	return nil
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
			return min(sockets, len(s.Panels(s.Sweep()[0], 1))*s.Tabs.Number()*len(s.Sweep())*len(s.Variants())*s.Repeats)
		}
	}
	return 0
}

// Describe says, for the manifest, what the dashboards are played against.
func (b *Backend) Describe() record.Backend {
	return record.Backend{
		Kind: "embedded", Product: "Elasticsearch", Version: elastic.Version,
		DashboardServers: b.dashboards, SocketsPerServer: sockets,
		// The embedded server tells *ready* in whole microseconds.
		ReadyResolution:  1e-6,
		DelayImplementer: "server", AsyncSearch: true, ShardDelay: true, ElasticsearchHTTP: "http/1.1",
	}
}

// closing is how long requests under way may take to end once the servers close.
const closing = 2 * time.Second

// Close ends the servers.
func (b *Backend) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return b.site.Close(ctx)
}
