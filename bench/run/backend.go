package run

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/wire"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
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

// sockets is the size of one dashboard server's pool towards Elasticsearch, as Kibana has it.
const sockets = 800

// Backend is an Elasticsearch and the dashboard servers in front of it. One Kibana's pool of sockets is too small for all repeats at once:
// the full matrix holds more than 2,000 long polls. So each repeat has a dashboard server of its own, or several if it holds more
// than fits into one pool: queueing for sockets would be measured as the strategies' waste.
type Backend struct {
	network    Network
	elastic    *elastic.Server
	http       *wire.Server
	dashboards []*kibana.Server
	addresses  []string
	perRepeat  int
	trusted    *x509.CertPool
	serving    sync.WaitGroup
}

// Start brings the embedded servers up, with a dashboard server for each repeat. Close ends them.
func Start(c clock.Clock, n Network, s scenario.Scenario) (*Backend, error) {
	b := &Backend{network: n}
	if err := b.start(c, s); err != nil {
		b.Close()
		return nil, fmt.Errorf("start servers: %w", err)
	}
	return b, nil
}

func (b *Backend) start(c clock.Clock, s scenario.Scenario) error {
	listener, err := b.network.Listen()
	if err != nil {
		return err
	}
	b.elastic = elastic.New(elastic.Options{Clock: c})
	b.http = &wire.Server{Handler: b.elastic, ErrorLog: log.New(io.Discard, "", 0)}
	b.serving.Go(func() { _ = b.http.Serve(listener) }) // it ends with Close, and with nothing else
	certificate, trusted, err := kibana.Certificate()
	if err != nil {
		return err
	}
	b.trusted = trusted
	b.perRepeat = perRepeat(s)
	for range s.Repeats * b.perRepeat {
		if err := b.dashboard(c, s, listener.Addr().String(), certificate); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) dashboard(c clock.Clock, s scenario.Scenario, elasticsearch string, certificate tls.Certificate) error {
	o := kibana.Options{
		Clock: c, Elasticsearch: "http://" + elasticsearch, Sockets: sockets, DialContext: b.network.Dial,
	}
	if s.Bystanders != nil {
		o.StatusSize = s.Bystanders.Size
	}
	server, err := kibana.New(o)
	if err != nil {
		return err
	}
	listener, err := b.network.Listen()
	if err != nil {
		return err
	}
	b.dashboards = append(b.dashboards, server)
	b.addresses = append(b.addresses, listener.Addr().String())
	b.serving.Go(func() { _ = server.Serve(listener, certificate) }) // as above
	return nil
}

// Dashboards is the number of dashboard servers.
func (b *Backend) Dashboards() int { return len(b.dashboards) }

// Describe says, for the manifest, what the dashboards are played against.
func (b *Backend) Describe() record.Backend {
	return record.Backend{
		Kind: "embedded", Product: "Elasticsearch", Version: elastic.Version,
		DashboardServers: len(b.dashboards), SocketsPerServer: sockets,
		// The embedded server tells *ready* in whole microseconds.
		ReadyResolution:  1e-6,
		DelayImplementer: "server", AsyncSearch: true, ShardDelay: true, ElasticsearchHTTP: "http/1.1",
	}
}

// perRepeat is the number of dashboard servers that a repeat needs, from the requests that may be held at once if all its loads
// run together; a quarter is added for short polls.
func perRepeat(s scenario.Scenario) int {
	const long = time.Second
	var held int
	for _, st := range s.Strategies {
		if st.PollWait.Duration < long && !st.Sync && st.SubmitWait.Duration < long {
			continue
		}
		for _, protocol := range s.Protocols {
			slots := s.Browser.H2Streams
			if protocol == scenario.HTTP1 {
				slots = s.Browser.HTTP1Connections
			}
			for _, swept := range s.Sweep() {
				held += min(len(s.Panels(swept)), slots)
			}
		}
	}
	return max(1, (held*5/4+sockets-1)/sockets)
}

// page says how the page of a trial is opened: each repeat has its own dashboard servers, whose pages take turns.
func (b *Backend) page(o Options, t plan.Trial, epoch time.Time) browser.Options {
	return browser.Options{
		Clock: o.Clock, Epoch: epoch, Protocol: t.Protocol, Limits: o.Scenario.Browser,
		Address: b.addresses[(t.Repeat-1)*b.perRepeat+t.Trial%b.perRepeat], TLS: &tls.Config{RootCAs: b.trusted, CurvePreferences: []tls.CurveID{tls.X25519}}, Dial: b.network.Dial,
	}
}

// closing is how long requests under way may take to end once the servers close.
const closing = 2 * time.Second

// Close ends the servers. Searches still running are cancelled first, which answers who waits for them.
func (b *Backend) Close() error {
	if b.elastic != nil {
		_ = b.elastic.Close() // never fails
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	var errs []error
	for _, d := range b.dashboards {
		errs = append(errs, d.Close(ctx))
	}
	if b.http != nil {
		errs = append(errs, b.http.Close())
	}
	b.serving.Wait()
	return errors.Join(errs...)
}
