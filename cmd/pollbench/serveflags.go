package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"pollbench/bench/scenario"
	"pollbench/fixtures/edge"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// serveFlags are the command's flags as they were typed; [serveFlags.check] makes settings of them.
type serveFlags struct {
	flags             *pflag.FlagSet
	listen            string
	elasticsearchOnly bool
	elasticsearchURL  string
	dashboardURL      string
	dashboardCA       string
	allowRemote       bool
	wait              time.Duration
	elasticsearchPort int
	dashboardPort     int
	edgePort          int
	edge              string
	lastHop           hop
	elasticsearch     hop
	onDisconnect      string
	strict            bool
	seed              uint64
	caFile            string
	json              bool
}

// hop is the flags about the network between two of them.
type hop struct {
	prefix    string // of the flags' names
	rtt       time.Duration
	jitter    time.Duration
	bandwidth rate
	cut       float64
}

func (s *serveFlags) add(f *pflag.FlagSet) {
	s.flags, s.elasticsearch.prefix = f, "elasticsearch-"
	f.SortFlags = false
	f.BoolVar(&s.elasticsearchOnly, "elasticsearch-only", false, "start Elasticsearch and nothing else")
	f.StringVar(&s.elasticsearchURL, "elasticsearch", "", "`URL` of an Elasticsearch to ask, such as http://127.0.0.1:9200, instead of starting one")
	f.StringVar(&s.dashboardURL, "dashboard", "", "`URL` of a dashboard server, such as https://127.0.0.1:5601, for the edge to stand in front of, instead of starting one")
	f.StringVar(&s.dashboardCA, "dashboard-ca", "", "`FILE` with the CA certificate of that dashboard server (default those that the system trusts)")
	f.BoolVar(&s.allowRemote, "allow-remote", false, "let a server that is named by its URL be on another machine than this one")
	f.DurationVar(&s.wait, "wait", 10*time.Second, "`TIME` that a server named by its URL may take until it answers")
	f.StringVar(&s.listen, "listen", "127.0.0.1", "`ADDRESS` of this machine to listen on; another than a loopback address lets others in")
	f.IntVar(&s.elasticsearchPort, "elasticsearch-port", 0, "`PORT` of Elasticsearch; 0: any that is free")
	f.IntVar(&s.dashboardPort, "dashboard-port", 0, "`PORT` of the dashboard server; 0: any that is free")
	f.IntVar(&s.edgePort, "edge-port", 0, "`PORT` of the edge; 0: any that is free")
	f.StringVar(&s.edge, "edge", "", "`KIND` of a proxy in front of the dashboard server: "+edgeForms+" (default none)")
	s.lastHop.add(f, "on the last hop: to the edge, or to the dashboard server if there is no edge")
	s.elasticsearch.add(f, "between dashboard server and Elasticsearch")
	f.StringVar(&s.onDisconnect, "on-disconnect", "cancel", "`WHAT` becomes of a search whose client leaves: cancel or keep")
	f.BoolVar(&s.strict, "strict", false, "an Elasticsearch that refuses what a release 8.19 refuses")
	s.seed = 1
	f.Var((*seed)(&s.seed), "seed", "`SEED` of the networks' jitter and cuts")
	f.StringVar(&s.caFile, "ca-file", "", "`FILE` to write the CA certificate to; it stays (default a temporary one, removed at the end)")
	f.BoolVar(&s.json, "json", false, "one line of JSON with the addresses on standard output, and nothing else there")
}

func (h *hop) add(f *pflag.FlagSet, where string) {
	f.DurationVar(&h.rtt, h.prefix+"rtt", 0, "`TIME` of a round trip "+where)
	f.DurationVar(&h.jitter, h.prefix+"jitter", 0, "`TIME` by which each direction's delay varies there, either way")
	f.Var(&h.bandwidth, h.prefix+"bandwidth", "`RATE` each way there, such as 256KiB/s or 1MiB/s (default unlimited)")
	f.Float64Var(&h.cut, h.prefix+"cut", 0, "`PROBABILITY`, each second, that a connection there is cut: 0 to 1")
}

// settings are flags that have been checked.
type settings struct {
	serveFlags
	starts            starts
	address           netip.Addr
	elasticsearchPort uint16
	dashboardPort     uint16
	edgePort          uint16
	edge              scenario.Path
	lastHop           network.Conditions
	elasticsearch     network.Conditions
	onDisconnect      kibana.Disconnect
	dashboardRoots    *x509.CertPool // nil: those that the system trusts
}

// check reports every problem at once.
func (s *serveFlags) check() (settings, error) {
	set := settings{serveFlags: *s, lastHop: s.lastHop.conditions(), elasticsearch: s.elasticsearch.conditions()}
	var errs []error
	fail := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	var err error
	set.address, err = address(s.listen)
	fail(err)
	taken := map[int]string{}
	for _, p := range []struct {
		flag string
		port int
		to   *uint16
	}{
		{"--elasticsearch-port", s.elasticsearchPort, &set.elasticsearchPort},
		{"--dashboard-port", s.dashboardPort, &set.dashboardPort},
		{"--edge-port", s.edgePort, &set.edgePort},
	} {
		switch other, twice := taken[p.port]; {
		case p.port < 0 || p.port > 65535:
			fail(fmt.Errorf("%s %d: a port is from 0 (any that is free) to 65535", p.flag, p.port))
		case twice && p.port != 0:
			fail(fmt.Errorf("%s %d: %s has that port already", p.flag, p.port, other))
		}
		taken[p.port], *p.to = p.flag, uint16(p.port)
	}
	set.edge.Topology, err = parseEdge(s.edge)
	fail(err)
	if s.edge == "" && s.edgePort != 0 {
		fail(fmt.Errorf("--edge-port %d: there is no edge: choose one with --edge", s.edgePort))
	}
	fail(set.checkStarts())
	fail(s.lastHop.check())
	fail(s.elasticsearch.check())
	switch s.onDisconnect {
	case "cancel":
	case "keep":
		set.onDisconnect = kibana.Keep
	default:
		fail(fmt.Errorf("--on-disconnect %q: choose cancel or keep", s.onDisconnect))
	}
	return set, errors.Join(errs...)
}

func (h hop) check() error {
	var errs []error
	if h.rtt < 0 || h.rtt > scenario.MaxRTT {
		errs = append(errs, fmt.Errorf("--%srtt %v: a round trip takes 0s to %v", h.prefix, h.rtt, scenario.MaxRTT))
	} else if h.jitter < 0 || h.jitter > h.rtt/2 {
		errs = append(errs, fmt.Errorf("--%sjitter %v: take 0s to half of --%srtt, %v", h.prefix, h.jitter, h.prefix, h.rtt/2))
	}
	if !(h.cut >= 0 && h.cut <= 1) { // so that NaN is refused as well
		errs = append(errs, fmt.Errorf("--%scut %v: a probability is from 0 to 1", h.prefix, h.cut))
	}
	return errors.Join(errs...)
}

// address reads the address to listen on. Names are not looked up, since that would ask others.
func address(text string) (netip.Addr, error) {
	if text == "localhost" {
		text = "127.0.0.1"
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return a, fmt.Errorf("--listen %q: not an IP address such as 127.0.0.1 or ::1", text)
	}
	return a.Unmap(), nil
}

// certified are the hosts by which the servers may be reached, as far as they are not in every certificate. A container's name is that of its machine.
func (set settings) certified() []string {
	if !set.address.IsUnspecified() {
		return []string{set.address.String()}
	}
	var all []string
	found, _ := net.InterfaceAddrs() // without them the certificate is still good for the loopback addresses
	for _, a := range found {
		if n, ok := a.(*net.IPNet); ok {
			all = append(all, n.IP.String())
		}
	}
	if name, err := os.Hostname(); err == nil {
		all = append(all, name)
	}
	return all
}

const edgeForms = "edge-h2, edge-http1 or edge-idle-timeout=10s"

// parseEdge reads the kind of an edge; nothing means none.
func parseEdge(text string) (scenario.Topology, error) {
	if text == "" {
		return scenario.Topology{Kind: scenario.Direct}, nil
	}
	t, err := scenario.ParseTopology(text)
	if err == nil && t.Kind == scenario.Direct {
		err = errors.New("direct is without an edge")
	}
	if err != nil {
		return t, fmt.Errorf("--edge %q: choose %s (%w)", text, edgeForms, err)
	}
	return t, nil
}

// edgeOptions are those of the proxy in front of that dashboard server.
func (set settings) edgeOptions(b behind) edge.Options {
	carried := set.protocols()
	// An edge that speaks to the server what it is spoken to takes the better protocol: there is one port for both.
	o := edge.Options{Server: b.server, ServerTLS: b.trust, ToServer: set.edge.ServerProtocol(carried[0]).ALPN(), IdleTimeout: set.edge.IdleTimeout.Duration}
	for _, p := range carried {
		o.ToBrowser = append(o.ToBrowser, p.ALPN())
	}
	return o
}

// protocols are those that whoever connects to the last hop may speak, the better one first.
func (set settings) protocols() []scenario.Protocol {
	var carried []scenario.Protocol
	for _, p := range []scenario.Protocol{scenario.H2, scenario.HTTP1} {
		if set.edge.Carries(p) {
			carried = append(carried, p)
		}
	}
	return carried
}

// rate is a flag in bytes per second; 0 is no limit.
type rate int64

// Set implements pflag.Value.
func (r *rate) Set(text string) error {
	n, err := scenario.ParseRate(text)
	*r = rate(n)
	return err
}

// String implements pflag.Value.
func (r *rate) String() string {
	if *r == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*r), 10) + "B/s"
}

// Type implements pflag.Value.
func (r *rate) Type() string { return "rate" }
