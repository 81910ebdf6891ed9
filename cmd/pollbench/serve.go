package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pollbench/bench/clock"
	"pollbench/fixtures/documents"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
	"pollbench/fixtures/reach"
	"pollbench/fixtures/site"
)

// closing is how long requests under way may take to end once a signal has come. Whoever stops a container should not have to wait for more than a
// second.
const closing = 900 * time.Millisecond

// serving is one call of the serve command.
type serving struct {
	serveFlags
	stdout io.Writer
	log    *log.Logger
}

func newServe() *cobra.Command {
	s := &serving{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the servers and leave them to you: curl, a browser, a load generator",
		Long: `Start the embedded Elasticsearch, a dashboard server in front of it and, with --edge, a proxy in front of that, on the loopback interface. Once
all of them answer, print their addresses and commands to try; then run until Ctrl-C or SIGTERM. A second one ends the program at once.

Dashboard server and proxy speak TLS. Their certificate is new each time and good for 30 days: clients have to trust the file that is named. When they
listen for other machines too, it is also good for this one's name.

Each of them can be a process, or a container, of its own: --elasticsearch-only starts the first alone, --elasticsearch URL the dashboard server in
front of any Elasticsearch, --dashboard URL with --edge a proxy in front of any dashboard server. In the Elasticsearch that is named, the index
"` + documents.Index + `", which dashboards search, is made if it is not there.

The network flags shape two hops. --rtt, --jitter, --bandwidth and --cut: the last hop, between whoever connects and the edge, or the dashboard
server if there is no edge. --elasticsearch-rtt and so on: the hop between dashboard server and Elasticsearch; who asks Elasticsearch
itself is not concerned.`,
		Example: "  pollbench serve\n  pollbench serve --edge edge-http1 --rtt 100ms --dashboard-port 5601\n  pollbench serve --json --ca-file ca.pem\n  pollbench serve --elasticsearch http://127.0.0.1:9200 --edge edge-h2",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.stdout, s.log = cmd.OutOrStdout(), log.New(cmd.ErrOrStderr(), "", log.Ltime)
			return s.run(cmd.Context())
		},
	}
	s.add(cmd.Flags())
	return cmd
}

func (s *serving) run(ctx context.Context) error {
	set, err := s.check()
	if err != nil {
		return usage(err)
	}
	signal.Ignore(syscall.SIGPIPE) // whoever read the addresses may be gone: that is an error to end with, not a way to die
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the program as it would any other
	if err := s.serve(ctx, set); err != nil && ctx.Err() == nil {
		return err
	}
	// Whatever a signal cut short is no failure: ending is what was asked for.
	return nil
}

// serve runs the servers until the context ends. Nothing of them is left behind, whatever happens.
func (s *serving) serve(ctx context.Context, set settings) error {
	if !set.address.IsLoopback() {
		s.log.Printf("warning: %s is no loopback address: anybody who reaches it may use these servers", set.address)
	}
	listeners, err := set.bind()
	if err != nil {
		return err
	}
	defer listeners.close()
	timer, err := clock.New()
	if err != nil {
		return err
	}
	defer timer.Close()
	servers, err := site.New(site.Options{Clock: timer, Hosts: set.certified(), ErrorLog: s.log})
	if err != nil {
		return err
	}
	defer s.close(servers)
	named, err := s.awaitNamed(ctx, set)
	if err != nil {
		return err
	}
	if err := set.start(servers, listeners, named); err != nil {
		return err
	}
	at := listeners.addresses()
	s.log.Print("starting")
	if err := at.await(ctx, servers.Trust(), set.lastHop); err != nil {
		return err
	}
	// Only now: a file that is there already is not touched for servers that could not start.
	if at.browser() != "" {
		ca, err := writeCA(set.caFile, servers.CA())
		if err != nil {
			return err
		}
		defer ca.remove()
		at.CAFile = ca.path
	}
	servers.Begin(timer.Now())
	if err := at.print(s.stdout, set); err != nil {
		return err
	}
	s.log.Print("all servers answer; Ctrl-C ends them")
	select {
	case <-ctx.Done():
		s.log.Print("ending")
		return nil
	case err := <-servers.Failed():
		return err
	}
}

// start starts what was asked for. What a browser connects to is behind the last hop's network.
func (set settings) start(servers *site.Site, l listeners, b behind) error {
	if set.starts.elasticsearch {
		servers.Elasticsearch(l.elasticsearch, elastic.Options{Strict: set.strict})
	}
	last := func(l net.Listener) net.Listener { return servers.Link(set.lastHop, set.seed).Listener(l) }
	if set.starts.dashboard {
		var direct net.Dialer
		listener := net.Listener(l.dashboard)
		if !set.starts.edge {
			listener = last(listener)
		}
		err := servers.Dashboard(listener, kibana.Options{
			Elasticsearch: set.elasticsearchURL, OnDisconnect: set.onDisconnect,
			DialContext: servers.Link(set.elasticsearch, set.seed+1).Dial(direct.DialContext),
		})
		if err != nil {
			return err
		}
		b.server = l.dashboard.reach()
	}
	if set.starts.edge {
		return servers.Edge(last(l.edge), set.edgeOptions(b))
	}
	return nil
}

func (s *serving) close(servers *site.Site) {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if err := servers.Close(ctx); err != nil {
		s.log.Printf("what was still open was cut: %v", err)
	}
}

// listeners are bound before anything starts: a port that is taken is told at once.
type listeners struct{ elasticsearch, dashboard, edge listener }

type listener struct{ net.Listener }

// reach is the address to connect to. One that stands for all of the machine's is reached at its loopback address.
func (l listener) reach() string {
	at := l.Addr().(*net.TCPAddr).AddrPort()
	switch at.Addr().Unmap() {
	case netip.IPv4Unspecified():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	case netip.IPv6Unspecified():
		return netip.AddrPortFrom(netip.IPv6Loopback(), at.Port()).String()
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()).String()
}

func (set settings) bind() (l listeners, err error) {
	for _, b := range []struct {
		to     *listener
		name   string
		flag   string
		port   uint16
		starts bool
	}{
		{&l.elasticsearch, "Elasticsearch", "--elasticsearch-port", set.elasticsearchPort, set.starts.elasticsearch},
		{&l.dashboard, "the dashboard server", "--dashboard-port", set.dashboardPort, set.starts.dashboard},
		{&l.edge, "the edge", "--edge-port", set.edgePort, set.starts.edge},
	} {
		if !b.starts {
			continue
		}
		at := netip.AddrPortFrom(set.address, b.port)
		family := "tcp6"
		if set.address.Is4() {
			family = "tcp4" // else 0.0.0.0 would mean IPv6's addresses too
		}
		if b.to.Listener, err = net.Listen(family, at.String()); err != nil {
			l.close()
			return l, fmt.Errorf("listen for %s on %s: %w%s", b.name, at, reach.Cause(err), remedy(err, b.flag))
		}
	}
	return l, nil
}

// addresses are those of the servers that have a listener.
func (l listeners) addresses() (a addresses) {
	for _, s := range []struct {
		at     listener
		scheme string
		to     *string
	}{{l.elasticsearch, "http://", &a.Elasticsearch}, {l.dashboard, "https://", &a.Dashboard}, {l.edge, "https://", &a.Edge}} {
		if s.at.Listener != nil {
			*s.to = s.scheme + s.at.reach()
		}
	}
	return a
}

func remedy(err error, flag string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf(": end what listens there, or choose another port with %s (0: any that is free)", flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf(": choose a port of 1024 or more with %s (0: any that is free)", flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return ": --listen takes an address that this machine has"
	}
	return ""
}

// close closes those that no server has taken over; a second time does nothing.
func (l listeners) close() {
	for _, l := range []listener{l.elasticsearch, l.dashboard, l.edge} {
		if l.Listener != nil {
			_ = l.Close()
		}
	}
}

// caFile is where the certificate is that clients have to trust.
type caFile struct {
	path      string // absolute
	temporary bool
}

// writeCA writes it to a path, or to a temporary file if that is empty. What somebody else named is never removed.
func writeCA(path string, pem []byte) (ca caFile, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write CA certificate: %w (choose where with --ca-file)", err)
		}
	}()
	if path != "" {
		if ca.path, err = filepath.Abs(path); err != nil {
			return ca, err
		}
		return ca, os.WriteFile(path, pem, 0o644)
	}
	f, err := os.CreateTemp("", "pollbench-ca-*.pem")
	if err != nil {
		return ca, err
	}
	ca = caFile{f.Name(), true}
	_, err = f.Write(pem)
	if err = errors.Join(err, f.Close()); err != nil {
		ca.remove()
	}
	return ca, err
}

func (ca caFile) remove() {
	if ca.temporary {
		_ = os.Remove(ca.path) // somebody else may have done so
	}
}

// conditions are those of a hop, as given by flags.
func (h hop) conditions() network.Conditions {
	return network.Conditions{RTT: h.rtt, Jitter: h.jitter, Bandwidth: int64(h.bandwidth), Cut: h.cut}
}
