package run

import (
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/plan"
	"pollbench/bench/scenario"
	"pollbench/fixtures/edge"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// entrance is what a browser meets on one path: dashboard servers, and the proxies in front of them. One Kibana's
// pool of sockets is too small for all loads at once: the full matrix holds more than 2,000 long polls. So there are as many dashboard servers as
// that takes, and trials take turns: queueing for sockets would be measured as the strategies' waste.
type entrance struct {
	backend    *Backend
	path       scenario.Path
	dashboards []string                       // addresses of the dashboard servers
	edges      map[scenario.Protocol][]string // addresses of the proxies, by what the browser speaks: one in front of each dashboard server
}

func (e *entrance) start(s scenario.Scenario) error {
	if server := e.backend.target.Dashboard; server.Given() {
		e.dashboards = []string{server.address()}
		return nil
	}
	for range servers(s, e.path, e.backend.atOnce) {
		if err := e.dashboard(s); err != nil {
			return err
		}
	}
	if !e.path.HasEdge() {
		return nil
	}
	for _, protocol := range s.Protocols {
		if !e.path.Carries(protocol) {
			continue
		}
		for _, server := range e.dashboards {
			if err := e.edge(s, protocol, server); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *entrance) dashboard(s scenario.Scenario) error {
	o := kibana.Options{DialContext: e.backend.link(s, e.path.Network.Elasticsearch)}
	if s.Bystanders != nil {
		o.StatusSize = s.Bystanders.Size
	}
	if s.KeepOnDisconnect {
		o.OnDisconnect = kibana.Keep
	}
	e.backend.asks(&o)
	listener, err := e.backend.network.Listen()
	if err != nil {
		return err
	}
	e.dashboards = append(e.dashboards, listener.Addr().String())
	e.backend.dashboards++
	return e.backend.site.Dashboard(listener, o)
}

// edge starts a proxy in front of a dashboard server.
func (e *entrance) edge(s scenario.Scenario, browser scenario.Protocol, server string) error {
	listener, err := e.backend.network.Listen()
	if err != nil {
		return err
	}
	e.edges[browser] = append(e.edges[browser], listener.Addr().String())
	return e.backend.site.Edge(listener, edge.Options{
		Server: server, ToBrowser: []string{browser.ALPN()}, ToServer: e.path.ServerProtocol(browser).ALPN(),
		IdleTimeout: e.path.IdleTimeout.Duration, Dial: e.backend.link(s, e.path.Network.BehindEdge),
	})
}

// open makes the browser of a trial, and the network of its last hop, which the caller has to close.
func (e *entrance) open(o Options, t plan.Trial, epoch time.Time) (*browser.Browser, *network.Link) {
	addresses := e.dashboards
	if e.path.HasEdge() {
		addresses = e.edges[t.Protocol]
	}
	last := network.NewLink(o.Clock, conditions(e.path.Network.LastHop), o.Plan.Seed+uint64(t.Trial))
	b := browser.Options{
		Clock: o.Clock, Epoch: epoch, Protocol: t.Protocol, Limits: o.Scenario.Browser, ServerClock: e.backend.offset,
		Address: addresses[t.Trial%len(addresses)], TLS: e.backend.site.Trust(), Dial: last.Dial(e.backend.network.Dial),
	}
	if !e.backend.target.ours() {
		b.Identified = e.backend.asked.add
	}
	b.PassOver = e.backend.passOver
	if e.backend.target.Dashboard.Given() {
		e.backend.target.Dashboard.opens(&b)
	}
	return browser.New(b), last
}

// servers is the number of dashboard servers that a path needs, from the requests that may be held at once if all its loads
// run together, or no more searches than Elasticsearch executes at once, if that is not 0; a quarter is added for short polls.
func servers(s scenario.Scenario, path scenario.Path, atOnce int) int {
	const long = time.Second
	var held int
	for _, v := range s.Variants() {
		st, _ := s.Strategy(v.Strategy)
		if st.Choice != nil {
			st = st.Choice.Multiplexed
		}
		if v.Path.String() != path.String() || st.PollWait.Duration < long && !st.Sync && st.SubmitWait.Duration < long {
			continue
		}
		slots := s.Browser.H2Streams
		if v.Protocol == scenario.HTTP1 {
			slots = s.Browser.HTTP1Connections
		}
		for _, swept := range s.Sweep() {
			held += s.Repeats * min(s.Tabs.Number()*len(s.Panels(swept, 1)), slots)
		}
	}
	if atOnce > 0 {
		held = min(held, atOnce)
	}
	return max(1, (held*5/4+kibana.DefaultSockets-1)/kibana.DefaultSockets)
}

// conditions are the scenario's, for the network.
func conditions(c scenario.Conditions) network.Conditions {
	n := network.Conditions{RTT: c.RTT.Duration, Jitter: c.Jitter.Duration, Bandwidth: int64(c.Bandwidth), Cut: c.Cut}
	for _, after := range c.Cuts {
		n.Cuts = append(n.Cuts, after.Duration)
	}
	return n
}
