package scenario

import (
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"pollbench/bench/clock"
	"pollbench/bench/strategy"
)

// Decode reads a scenario from YAML. This is every field; what has a default may be left out:
//
//	name: sawtooth                # letters, digits, - _ and ., as in every name here; it begins with a letter or digit
//	description: one or two lines # default none
//	dashboard:
//	  panels:                     # groups of equal panels, in the order in which the page asks for them
//	    - name: slow              # a single group needs none and is called panels
//	      count: 10               # 1 to 1000, and so for all groups together
//	      delay: 10s              # of each panel's search: over 0, at most 600s
//	      fault: unavailable      # what goes wrong with each search, see below; default nothing
//	    - name: swept
//	      count: 4
//	      delay: {sweep: 1s..23s} # each value is a cell of its own; in one group only
//	    - name: drawn             # a delay of its own for each panel and repeat, see below
//	      count: 4
//	      delay: {lognormal: {p50: 2s, p95: 12s}}
//	  payload: 2KiB               # size of each search's result, 0 to 2MiB; this is the default
//	bystanders:                   # small requests during the load; off means none
//	  every: 500ms                # default; 10ms to 600s
//	  size: 200B                  # default; 44B to 2MiB
//	strategies:                   # default [traditional, continuous]
//	  - traditional               # one of strategy.Names, or a definition of one's own:
//	  - name: mine                # none of the shipped names
//	    submit_wait: 200ms        # how long the submit may be held: 0s (default) to 600s
//	    poll_wait: 0s             # how long each poll may be held: 0s (default) to 600s
//	    poll: result              # default; or status, which is never held
//	    at_once: false            # default; true sends the first poll without a sleep
//	    tiers:                    # default none: no sleep before a poll
//	      - {under: 1.5s, sleep: 300ms}  # while less than 1.5 s have passed
//	      - {sleep: 5s}           # otherwise; only the last tier may lack under
//	    retry: none               # default; or up to 100 failed polls of a search that are asked again
//	  - {name: patient, like: continuous, retry: 3} # begins with the values of a shipped one; of auto's, only retry can change
//	  - {name: plain, sync: true} # one plain search, held to its end; no other field
//	base: traditional             # what the others are compared with; default traditional if it is there, else the first
//	protocols: [http1, h2]        # what the browser speaks; default those that the topologies carry
//	topology: direct              # default; or a list: what stands between browser and dashboard server, see below
//	network: perfect              # default; or a list: the state of the network, see below
//	repeats: 7                    # default; 1 to 1000
//	seed: 1                       # default
//	browser:                      # limits of the browser's connections to a host
//	  http1_connections: 6        # default; 1 to 256
//	  h2_streams: 256             # default; 1 to 1000
//	tabs:                         # dashboards that one browser loads; default one. A bare number is a count
//	  count: 3                    # 1 to 100
//	  every: 0s                   # default; between the starts of two tabs, the last starting 600s after the first at the latest
//	  hide: 3s                    # after its start a tab is hidden, but for the last: over 0, at most 600s; default never
//	search_timeout: 30s           # Kibana's search:timeout: over 0, at most 3600s; default none
//	on_disconnect: cancel         # default; or keep: what becomes of a search when the browser's request for it breaks off
//	search_pool: 4                # searches that the server executes at once, 1 to 10000, while others queue; default as many as it takes, none queues
//	cold: false                   # default; true counts the page's connecting into the load
//
// A delay is drawn from one of these. Drawn delays are whole milliseconds, and the same for everything that is compared.
//
//	{lognormal: {p50: 2s, p95: 12s}}       # half of the delays are below p50, 95 in 100 below p95
//	{empirical: delays.csv}                # one of the delays in a file, each as likely as the other
//	{mix: [{weight: 7, delay: 500ms}, {weight: 3, delay: {lognormal: {p50: 4s, p95: 20s}}}]} # by weight, over 0 to 1,000,000
//
// The file of delays is CSV and beside the scenario file or below. Its first column has a delay a line, as 1.5s or as a plain number of
// seconds; blank lines, lines that begin with # and a heading are skipped. Decimals have a point; where a second column could be taken for them,
// the columns need a heading. It has 1 to 100,000 delays, and is in UTF-8.
//
// A fault is the bare word of a kind or a mapping:
//
//	kind: unavailable   # failure, too_many_requests, unavailable, cut, truncated, malformed or slow, see [FaultKind]
//	on: [1]             # default; at which requests about the search it happens, the submit being 0: 0 to 1000. Not for failure
//	retry_after: 1s     # of too_many_requests and unavailable: 1s to 600s, whole seconds; default 1s of the former, not said of the latter
//	over: 1s            # of slow, default: how long the body takes, over 0 to 600s
//	failed: 1           # of failure, with of: so many shards fail, out of
//	of: 3               # so many, at most 1000; default the whole search
//
// A topology is direct, edge-h2 or edge-http1 (a proxy that speaks h2 or HTTP/1.1 to the browser, and the other to the server; it carries only
// that protocol) or {edge-idle-timeout: 10s} (a proxy that ends a request whose answer has not begun by then, 1ms to 600s).
//
// A network is the word perfect or a mapping. It gives at least one of three hops at least one condition:
//
//	name: slow          # each network has its own
//	last_hop:           # between the browser and whatever it is connected to
//	  rtt: 100ms        # 0s to 10s
//	  jitter: 5ms       # each direction's delay varies by up to this: 0s to half of the rtt
//	  bandwidth: 256KiB/s # each way; at least 1KiB/s
//	  cut: 0.01         # 0 to 1: probability, per connection and second of its age, that it is cut
//	  cuts: [5s, 12s]   # when every connection is cut, after the load's start: over 0 to 600s, rising
//	behind_edge: {}     # between a proxy and the dashboard server
//	elasticsearch: {}   # between the dashboard server and Elasticsearch
//
// What competes runs on every topology under every network: at most 100 such paths.
//
// A sweep is a list in [ParseDelays]' form, as one text ("1s, 2s, 5s..10s/0.5s") or as YAML ([1s, 5s..10s/500ms]). No delay comes twice.
// Durations are Go's: 1.5s, 500ms, 1m30s. A size is in B, KiB or MiB; without a unit it is in bytes. A strategy of one's own must pause
// at least 1 ms between polls, asleep or held. Sweep values × variants × repeats × panels × tabs are at most [MaxLoad], variants being what
// [Scenario.Variants] lists.
//
// The file is one YAML document in UTF-8 of at most 32 KiB, without anchors, aliases, merge keys and tags.
//
// The error is of type [Problems] and holds everything that is wrong, by position. A file that is not YAML has one problem:
// beyond it there is nothing to read. The name is the file's name in those problems. What else the scenario needs is read by files; nothing is opened here.
func Decode(name string, source []byte, files Files) (Scenario, error) {
	d := &decoder{collector{file: name, places: map[string]place{"": {1, 1}}}, files}
	s := defaults()
	if root := d.document(source); root != nil {
		d.scenario(&s, root)
		d.judge(s)
	}
	if err := d.err(); err != nil {
		return Scenario{}, err
	}
	s.dropDefaults()
	return s, nil
}

// Files reads a file that a scenario names, given as a slash-separated path from the scenario file's folder, downwards only. With nil, such
// a scenario is refused.
type Files func(name string) ([]byte, error)

// defaults is a scenario that lacks only what has no default.
func defaults() Scenario {
	return Scenario{
		Payload:    2 << 10,
		Bystanders: bystanders(),
		Strategies: []strategy.Strategy{shipped("traditional"), shipped("continuous")},
		Protocols:  Protocols(),
		Repeats:    7, // six are the fewest whose range holds the median in 95 of 100 cases (1 − 2/2⁶ = 97 %), and one may fail
		Seed:       1,
		Browser:    Browser{HTTP1Connections: 6, H2Streams: 256}, // Chromium's
	}
}

// dropDefaults removes what only spells out a default of the fields that may be absent, so that it does not change the [Scenario.Hash].
func (s *Scenario) dropDefaults() {
	if len(s.Topologies) == 1 && s.Topologies[0].Kind == Direct {
		s.Topologies = nil
	}
	if len(s.Networks) == 1 && s.Networks[0].Name == PerfectNetwork {
		s.Networks = nil
	}
	if s.Tabs.Number() == 1 {
		s.Tabs = Tabs{}
	}
}

func bystanders() *Bystanders {
	return &Bystanders{Every: clock.Seconds{Duration: 500 * time.Millisecond}, Size: 200}
}

func shipped(name string) strategy.Strategy {
	s, _ := strategy.Named(name)
	return s
}

func (d *decoder) scenario(s *Scenario, root ast.Node) {
	d.places[""] = start(root)
	d.mapping("", root, []field{
		{"name", required, value(d, &s.Name, text)},
		{"description", optional, value(d, &s.Description, text)},
		{"dashboard", required, d.dashboard(s)},
		{"bystanders", optional, d.bystanders(s)},
		{"strategies", optional, list(d, &s.Strategies, "a list such as [traditional, continuous]", d.strategy)},
		{"base", optional, value(d, &s.Base, text)},
		{"protocols", optional, list(d, &s.Protocols, "a list such as [http1, h2]", d.protocol)},
		{"topology", optional, oneOrMore(d, &s.Topologies, "topology", d.topology)},
		{"network", optional, oneOrMore(d, &s.Networks, "network", d.network)},
		{"repeats", optional, value(d, &s.Repeats, whole)},
		{"seed", optional, value(d, &s.Seed, seed)},
		{"browser", optional, func(path string, n ast.Node) {
			d.mapping(path, n, []field{
				{"http1_connections", optional, value(d, &s.Browser.HTTP1Connections, whole)},
				{"h2_streams", optional, value(d, &s.Browser.H2Streams, whole)},
			}, nil)
		}},
		{"tabs", optional, d.tabs(s)},
		{"search_timeout", optional, value(d, &s.SearchTimeout, positive)},
		{"on_disconnect", optional, value(d, &s.KeepOnDisconnect, onDisconnect)},
		{"search_pool", optional, value(d, &s.SearchPool, natural)},
		{"cold", optional, value(d, &s.Cold, truth)},
	}, nil)
	if _, given := d.places["protocols"]; !given {
		s.Protocols = slices.DeleteFunc(Protocols(), func(p Protocol) bool { return !s.carries(p) })
	}
	if _, given := d.places["base"]; !given {
		s.Base = followBase("", s.Strategies)
	}
}
