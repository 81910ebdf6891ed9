package scenario

import "testing"

var (
	direct   = Path{Topology: Topology{Kind: Direct}}
	edgeH2   = Path{Topology: Topology{Kind: EdgeH2}}
	edgeH1   = Path{Topology: Topology{Kind: EdgeHTTP1}}
	edgeIdle = Path{Topology: Topology{Kind: EdgeIdleTimeout, IdleTimeout: seconds(10)}}
)

// The protocols are those that the names of the topologies say, as Decode's documentation explains them.
func TestProtocolsOfAPath(t *testing.T) {
	for _, c := range []struct {
		path                    Path
		name                    string
		edge                    bool
		carriesHTTP1, carriesH2 bool
		serverOfHTTP1, ofH2     Protocol // only where it is carried
	}{
		{direct, "direct", false, true, true, HTTP1, H2},
		{edgeH2, "edge-h2", true, false, true, "", HTTP1},
		{edgeH1, "edge-http1", true, true, false, H2, ""},
		{edgeIdle, "edge-idle-timeout-10s", true, true, true, HTTP1, H2},
	} {
		equal(t, c.path.String(), c.name)
		equal(t, c.path.HasEdge(), c.edge)
		equal(t, []bool{c.path.Carries(HTTP1), c.path.Carries(H2)}, []bool{c.carriesHTTP1, c.carriesH2})
		if c.carriesHTTP1 {
			equal(t, c.path.ServerProtocol(HTTP1), c.serverOfHTTP1)
		}
		if c.carriesH2 {
			equal(t, c.path.ServerProtocol(H2), c.ofH2)
		}
	}
}

const crossing = head + `topology: [direct, edge-h2]
network: [perfect, {name: slow, last_hop: {rtt: 100ms}}]
strategies: [auto, sync]
`

func TestPaths(t *testing.T) {
	var names []string
	s := decode(t, crossing)
	for _, p := range s.Paths() {
		names = append(names, p.String())
		found, ok := s.Path(p.String())
		equal(t, found, p)
		equal(t, ok, true)
	}
	equal(t, names, []string{"direct", "direct+slow", "edge-h2", "edge-h2+slow"})
	first, ok := s.Path("")
	equal(t, first.String(), "direct")
	equal(t, ok, true)
	if _, ok := s.Path("edge-http1"); ok {
		t.Error("there is a path that the scenario does not have")
	}
	equal(t, decode(t, head).Paths(), []Path{{Topology{Kind: Direct}, Network{Name: PerfectNetwork}}})
	equal(t, decode(t, head+"network: {name: slow, elasticsearch: {rtt: 1ms}}").Paths()[0].String(), "direct+slow")
}

func TestVariants(t *testing.T) {
	s := decode(t, crossing)
	var got []string
	for _, v := range s.Variants() {
		got = append(got, v.Strategy+" "+string(v.Protocol)+" "+v.Path.String())
	}
	equal(t, got, []string{
		"auto http1 direct", "sync http1 direct", "auto h2 direct", "sync h2 direct",
		"auto http1 direct+slow", "sync http1 direct+slow", "auto h2 direct+slow", "sync h2 direct+slow",
		"auto h2 edge-h2", "sync h2 edge-h2", "auto h2 edge-h2+slow", "sync h2 edge-h2+slow", // HTTP/1.1 does not get through
	})
	equal(t, s.countVariants(), len(got))
	equal(t, s.countPaths(), len(s.Paths()))
}

// A topology found by its name is the one that has it.
func TestTopologiesHaveNames(t *testing.T) {
	for _, p := range []Path{direct, edgeH2, edgeH1, edgeIdle, {Topology: Topology{Kind: EdgeIdleTimeout, IdleTimeout: seconds(1.5)}}} {
		got, err := ParseTopology(p.Topology.String())
		if err != nil {
			t.Error(err)
		}
		equal(t, got, p.Topology)
	}
}
