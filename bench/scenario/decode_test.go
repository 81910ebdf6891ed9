package scenario

import (
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/strategy"
)

// head is the least that a scenario needs: two lines, so that what follows it stands on line 3.
const head = "name: x\ndashboard: {panels: [{count: 4, delay: 1s}]}\n"

func seconds(n float64) clock.Seconds {
	return clock.Seconds{Duration: time.Duration(n * float64(time.Second))}
}

// beside is the folder of every scenario here.
func beside(name string) ([]byte, error) {
	file, ok := map[string]string{
		"delays.csv":      "delay\n1.5s\n250ms\n",
		"lab/seconds.csv": "0.25\n2\n",
	}[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(file), nil
}

func decode(t *testing.T, source string) Scenario {
	t.Helper()
	s, err := Decode("f.yaml", []byte(source), beside)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// The values are those of Decode's documentation, which are Kibana's and Chromium's.
func TestDefaults(t *testing.T) {
	equal(t, decode(t, head), Scenario{
		Name:       "x",
		Groups:     []Group{{Name: "panels", Panels: 4, Delay: seconds(1)}},
		Payload:    2048,
		Bystanders: &Bystanders{Every: seconds(0.5), Size: 200},
		Strategies: []strategy.Strategy{named(t, "traditional"), named(t, "continuous")},
		Base:       "traditional",
		Protocols:  []Protocol{HTTP1, H2},
		Repeats:    7,
		Seed:       1,
		Browser:    Browser{HTTP1Connections: 6, H2Streams: 256},
	})
}

func named(t *testing.T, name string) strategy.Strategy {
	t.Helper()
	s, ok := strategy.Named(name)
	if !ok {
		t.Fatalf("no strategy %s", name)
	}
	return s
}

const everything = `# every field, none at its default
name: all.of-it_1
description: >
  Two lines
  of text.
dashboard:
  panels:
    - name: slow
      count: 2
      delay: 1m30s
    - {name: swept, count: 3, delay: {sweep: [1s, 5s..6s/500ms]}, fault: cut}
    - name: lognormal
      count: 4
      delay: {lognormal: {p50: 2s, p95: 12s}}
      fault: {kind: unavailable, on: [0, 2], retry_after: 3s}
    - {name: empirical, count: 5, delay: {empirical: ./delays.csv}, fault: {kind: failure, failed: 1, of: 3}}
    - name: mixed
      count: 6
      delay:
        mix:
          - {weight: 7, delay: 500ms}
          - {weight: 2.5, delay: {lognormal: {p50: 4s, p95: 20s}}}
          - {weight: 0.001, delay: {empirical: lab/seconds.csv}}
      fault: {kind: slow, over: 2s}
  payload: 1 MiB
bystanders: {every: 1s, size: 1KiB}
strategies:
  - rally
  - name: mine
    submit_wait: 150ms
    poll_wait: 1s
    poll: status
    at_once: true
    tiers: [{under: 1.5s, sleep: 300ms}, {sleep: 5s}]
  - {name: held, poll_wait: 30s}
  - {name: plain, sync: true}
  - auto
  - {name: patient, retry: 3, tiers: [{sleep: 2s}], like: fallback}
  - {like: auto-by-server, name: chosen, retry: 1}
base: mine
protocols: [h2]
topology: [direct, edge-h2, {edge-idle-timeout: 1.5s}]
network:
  - perfect
  - name: rtt-100ms
    last_hop: {rtt: 100ms, jitter: 5ms, bandwidth: 256KiB/s, cut: 0.01, cuts: [5s, 12s]}
    behind_edge: {rtt: 1ms}
    elasticsearch: {bandwidth: 1 MiB/s}
repeats: 3
seed: 18446744073709551615
browser: {http1_connections: 2, h2_streams: 100}
tabs: {count: 7, every: 100ms, hide: 3s}
search_timeout: 30s
on_disconnect: keep
search_pool: 4
cold: true
`

func TestEveryField(t *testing.T) {
	equal(t, decode(t, everything), Scenario{
		Name:        "all.of-it_1",
		Description: "Two lines of text.",
		Groups: []Group{
			{Name: "slow", Panels: 2, Delay: seconds(90)},
			{Name: "swept", Panels: 3, Sweep: []clock.Seconds{seconds(1), seconds(5), seconds(5.5), seconds(6)}, Fault: &Fault{Kind: CutAnswer}},
			{Name: "lognormal", Panels: 4, Distribution: &Distribution{Lognormal: &Lognormal{P50: seconds(2), P95: seconds(12)}},
				Fault: &Fault{Kind: Unavailable, On: []int{0, 2}, RetryAfter: seconds(3)}},
			{Name: "empirical", Panels: 5, Distribution: &Distribution{Empirical: []clock.Seconds{seconds(1.5), seconds(0.25)}},
				Fault: &Fault{Kind: SearchFails, Failed: 1, Of: 3}},
			{Name: "mixed", Panels: 6, Distribution: &Distribution{Mix: []Share{
				{Weight: 7, Of: Distribution{Fixed: seconds(0.5)}},
				{Weight: 2.5, Of: Distribution{Lognormal: &Lognormal{P50: seconds(4), P95: seconds(20)}}},
				{Weight: 0.001, Of: Distribution{Empirical: []clock.Seconds{seconds(0.25), seconds(2)}}},
			}}, Fault: &Fault{Kind: SlowBody, Over: seconds(2)}},
		},
		Payload:    1024 * 1024,
		Bystanders: &Bystanders{Every: seconds(1), Size: 1024},
		Strategies: []strategy.Strategy{
			named(t, "rally"),
			{Name: "mine", SubmitWait: seconds(0.15), PollWait: seconds(1), Poll: strategy.ByStatus, AtOnce: true,
				Tiers: []strategy.Tier{{Under: seconds(1.5), Sleep: seconds(0.3)}, {Sleep: seconds(5)}}},
			{Name: "held", PollWait: seconds(30), Poll: strategy.ByResult},
			{Name: "plain", Sync: true},
			named(t, "auto"),
			{Name: "patient", SubmitWait: seconds(0.2), Poll: strategy.ByResult, Tiers: []strategy.Tier{{Sleep: seconds(2)}}, Retry: 3},
			{Name: "chosen", Retry: 1, Choice: named(t, "auto-by-server").Choice},
		},
		Base:       "mine",
		Protocols:  []Protocol{H2},
		Topologies: []Topology{{Kind: Direct}, {Kind: EdgeH2}, {Kind: EdgeIdleTimeout, IdleTimeout: seconds(1.5)}},
		Networks: []Network{
			{Name: "perfect"},
			{Name: "rtt-100ms",
				LastHop: Conditions{RTT: seconds(0.1), Jitter: clock.Seconds{Duration: 5 * time.Millisecond}, Bandwidth: 262144, Cut: 0.01,
					Cuts: []clock.Seconds{seconds(5), seconds(12)}},
				BehindEdge:    Conditions{RTT: clock.Seconds{Duration: time.Millisecond}},
				Elasticsearch: Conditions{Bandwidth: 1048576}},
		},
		Repeats:          3,
		Seed:             1<<64 - 1,
		Browser:          Browser{HTTP1Connections: 2, H2Streams: 100},
		Tabs:             Tabs{Count: 7, Every: seconds(0.1), Hide: seconds(3)},
		SearchTimeout:    seconds(30),
		KeepOnDisconnect: true,
		SearchPool:       4,
		Cold:             true,
	})
}

func TestForms(t *testing.T) {
	one := "name: x\ndashboard: {panels: [{count: 1, delay: %}]}\n"
	for _, c := range []struct {
		source string
		got    func(Scenario) any
		want   any
	}{
		{head + "bystanders: off", bystandersOf, (*Bystanders)(nil)},
		{head + "bystanders: false", bystandersOf, (*Bystanders)(nil)},
		{head + "bystanders: null", bystandersOf, (*Bystanders)(nil)},
		{head + "bystanders: {size: 77}", bystandersOf, &Bystanders{Every: seconds(0.5), Size: 77}},
		{head + "bystanders: {}", bystandersOf, &Bystanders{Every: seconds(0.5), Size: 200}},
		{strings.ReplaceAll(one, "%", `{sweep: "1s, 3s..4s"}`), sweepOf, []clock.Seconds{seconds(1), seconds(3), seconds(4)}},
		{strings.ReplaceAll(one, "%", "{sweep: [2s, 1s]}"), sweepOf, []clock.Seconds{seconds(2), seconds(1)}},
		{head + "strategies: [sync, rally]", baseOf, "sync"}, // the first, since traditional is not there
		{head + "strategies: [rally, traditional]", baseOf, "traditional"},
		{head + "seed: 010", func(s Scenario) any { return s.Seed }, uint64(10)}, // YAML 1.2 knows no octal 010
		{head + "topology: edge-h2", protocolsOf, []Protocol{H2}},                // the default follows the topologies
		{head + "topology: edge-http1", protocolsOf, []Protocol{HTTP1}},
		{head + "topology: [edge-h2, edge-http1]", protocolsOf, []Protocol{HTTP1, H2}},
		{head + "topology: {edge-idle-timeout: 10s}", func(s Scenario) any { return s.Topologies },
			[]Topology{{Kind: EdgeIdleTimeout, IdleTimeout: seconds(10)}}},
		{head + "network: {name: a, last_hop: {cut: 1}}", func(s Scenario) any { return s.Networks }, []Network{{Name: "a", LastHop: Conditions{Cut: 1}}}},
		{head + "tabs: 7", func(s Scenario) any { return s.Tabs }, Tabs{Count: 7}},
		{head + "strategies: [{name: a, like: sync}]", strategiesOf, []strategy.Strategy{{Name: "a", Sync: true}}},
		{head + "strategies: [{name: a, like: sync, sync: false, poll_wait: 1s}]", strategiesOf,
			[]strategy.Strategy{{Name: "a", PollWait: seconds(1), Poll: strategy.ByResult}}},
		{"\ufeff" + strings.ReplaceAll(head, "\n", "\r\n"), func(s Scenario) any { return s.Name }, "x"},
		{"%YAML 1.2\n# why\n---\n" + head + "...\n", func(s Scenario) any { return s.Name }, "x"},
	} {
		t.Run(c.source, func(t *testing.T) { equal(t, c.got(decode(t, c.source)), c.want) })
	}
}

func bystandersOf(s Scenario) any { return s.Bystanders }
func protocolsOf(s Scenario) any  { return s.Protocols }
func strategiesOf(s Scenario) any { return s.Strategies }
func baseOf(s Scenario) any       { return s.Base }
func sweepOf(s Scenario) any      { return s.Sweep() }

func TestJSONRoundTrip(t *testing.T) {
	for _, source := range []string{head, everything, head + "bystanders: off"} {
		s := decode(t, source)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again Scenario
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatal(err)
		}
		equal(t, again, s)
	}
}

func TestProblemsAreValues(t *testing.T) {
	_, err := Decode("dir/f.yaml", []byte(head+"seed: x\nrepeats: 0\n"), nil)
	problems, ok := errors.AsType[Problems](err)
	if !ok {
		t.Fatalf("%T: %v", err, err)
	}
	equal(t, problems, Problems{
		{"dir/f.yaml", 3, 7, `seed: the text "x" where a whole number from 0 to 18446744073709551615 belongs`},
		{"dir/f.yaml", 4, 10, "0 repeats: take 1 to 1000"},
	})
	equal(t, Problem{File: "x", Message: "wrong"}.String(), "x: wrong")
}

func TestPanels(t *testing.T) {
	s := decode(t, sweeping) // two panels of 4 s, then three that are swept
	equal(t, s.Panels(seconds(1), 1), []Panel{{0, seconds(4)}, {0, seconds(4)}, {1, seconds(1)}, {1, seconds(1)}, {1, seconds(1)}})
	equal(t, s.Ideal(seconds(1), 1), seconds(4))
	equal(t, s.Ideal(seconds(9), 1), seconds(9))
	equal(t, decode(t, head).Sweep(), []clock.Seconds{{}})
}

func TestQuoteIsShortAndOnOneLine(t *testing.T) {
	equal(t, quote("a\n\x1b"), `"a\n\x1b"`)
	equal(t, quote(strings.Repeat("é", 70)), `"`+strings.Repeat("é", 60)+`…"`)
}
