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
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
	"pollbench/fixtures/site"
)

// closing is how long requests under way may take to end once a signal has come.
const closing = 2 * time.Second

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

Dashboard server and proxy speak TLS. Their certificate is new each time and good for a day: clients have to trust the file that is named.

The network flags shape two hops. --rtt, --jitter, --bandwidth and --cut: the last hop, between whoever connects and the edge, or the dashboard
server if there is no edge. --elasticsearch-rtt and so on: the hop between dashboard server and Elasticsearch; who asks Elasticsearch
itself is not concerned.`,
		Example: "  pollbench serve\n  pollbench serve --edge edge-http1 --rtt 100ms --dashboard-port 5601\n  pollbench serve --json --ca-file ca.pem",
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
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
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
	servers, err := site.New(site.Options{Clock: timer, Addresses: set.certified(), ErrorLog: s.log})
	if err != nil {
		return err
	}
	defer s.close(servers)
	if err := set.start(servers, listeners); err != nil {
		return err
	}
	at := addresses{
		Elasticsearch: "http://" + listeners.elasticsearch.reach(), Dashboard: "https://" + listeners.dashboard.reach(),
	}
	if set.edge.HasEdge() {
		at.Edge = "https://" + listeners.edge.reach()
	}
	s.log.Print("starting")
	if err := at.await(ctx, servers.Trust(), set.lastHop); err != nil {
		return err
	}
	// Only now: a file that is there already is not touched for servers that could not start.
	ca, err := writeCA(set.caFile, servers.CA())
	if err != nil {
		return err
	}
	defer ca.remove()
	at.CAFile = ca.path
	servers.Begin(timer.Now())
	if err := at.print(s.stdout, set); err != nil {
		return err
	}
	ca.keep = set.caFile != ""
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
func (set settings) start(servers *site.Site, l listeners) error {
	last := func(l net.Listener) net.Listener { return servers.Link(set.lastHop, set.seed).Listener(l) }
	servers.Elasticsearch(l.elasticsearch, elastic.Options{Strict: set.strict})
	var loopback net.Dialer
	dashboard := kibana.Options{
		OnDisconnect: set.onDisconnect,
		DialContext:  servers.Link(set.elasticsearch, set.seed+1).Dial(loopback.DialContext),
	}
	if !set.edge.HasEdge() {
		return servers.Dashboard(last(l.dashboard), dashboard)
	}
	if err := servers.Dashboard(l.dashboard, dashboard); err != nil {
		return err
	}
	return servers.Edge(last(l.edge), set.edgeOptions(l.dashboard.reach()))
}

func (s *serving) close(servers *site.Site) {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if err := servers.Close(ctx); err != nil {
		s.log.Printf("requests were dropped: %v", err)
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
		to      *listener
		name    string
		flag    string
		port    uint16
		skipped bool
	}{
		{&l.elasticsearch, "Elasticsearch", "--elasticsearch-port", set.elasticsearchPort, false},
		{&l.dashboard, "the dashboard server", "--dashboard-port", set.dashboardPort, false},
		{&l.edge, "the edge", "--edge-port", set.edgePort, !set.edge.HasEdge()},
	} {
		if b.skipped {
			continue
		}
		at := netip.AddrPortFrom(set.address, b.port)
		family := "tcp6"
		if set.address.Is4() {
			family = "tcp4" // else 0.0.0.0 would mean IPv6's addresses too
		}
		if b.to.Listener, err = net.Listen(family, at.String()); err != nil {
			l.close()
			return l, fmt.Errorf("listen for %s on %s: %w%s", b.name, at, cause(err), remedy(err, b.flag))
		}
	}
	return l, nil
}

// cause is what the system said, without the address that the message has already.
func cause(err error) error {
	var called *os.SyscallError
	if errors.As(err, &called) {
		return called.Err
	}
	return err
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
	path string // absolute
	keep bool
}

// writeCA writes it to a path, or to a temporary file if that is empty.
func writeCA(path string, pem []byte) (ca caFile, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write CA certificate: %w (choose where with --ca-file)", err)
		}
	}()
	var f *os.File
	if path == "" {
		f, err = os.CreateTemp("", "pollbench-ca-*.pem")
	} else {
		f, err = os.Create(path)
	}
	if err != nil {
		return ca, err
	}
	_, err = f.Write(pem)
	if err = errors.Join(err, f.Close()); err == nil {
		ca.path, err = filepath.Abs(f.Name())
	}
	if err != nil {
		return ca, errors.Join(err, os.Remove(f.Name()))
	}
	return ca, nil
}

func (ca *caFile) remove() {
	if !ca.keep {
		_ = os.Remove(ca.path) // somebody else may have done so
	}
}

// conditions are those of a hop, as given by flags.
func (h hop) conditions() network.Conditions {
	return network.Conditions{RTT: h.rtt, Jitter: h.jitter, Bandwidth: int64(h.bandwidth), Cut: h.cut}
}
