package scenario

import (
	"encoding/json"
	"errors"
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

func decode(t *testing.T, source string) Scenario {
	t.Helper()
	s, err := Decode("f.yaml", []byte(source))
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

// The values are those of Decode's documentation, which are Kibana's and Chromium's as the issue gives them.
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
    - {name: swept, count: 3, delay: {sweep: [1s, 5s..6s/500ms]}}
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
base: mine
protocols: [h2]
repeats: 3
seed: 18446744073709551615
browser: {http1_connections: 2, h2_streams: 100}
cold: true
`

func TestEveryField(t *testing.T) {
	equal(t, decode(t, everything), Scenario{
		Name:        "all.of-it_1",
		Description: "Two lines of text.",
		Groups: []Group{
			{Name: "slow", Panels: 2, Delay: seconds(90)},
			{Name: "swept", Panels: 3, Sweep: []clock.Seconds{seconds(1), seconds(5), seconds(5.5), seconds(6)}},
		},
		Payload:    1024 * 1024,
		Bystanders: &Bystanders{Every: seconds(1), Size: 1024},
		Strategies: []strategy.Strategy{
			named(t, "rally"),
			{Name: "mine", SubmitWait: seconds(0.15), PollWait: seconds(1), Poll: strategy.ByStatus, AtOnce: true,
				Tiers: []strategy.Tier{{Under: seconds(1.5), Sleep: seconds(0.3)}, {Sleep: seconds(5)}}},
			{Name: "held", PollWait: seconds(30), Poll: strategy.ByResult},
			{Name: "plain", Sync: true},
		},
		Base:      "mine",
		Protocols: []Protocol{H2},
		Repeats:   3,
		Seed:      1<<64 - 1,
		Browser:   Browser{HTTP1Connections: 2, H2Streams: 100},
		Cold:      true,
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
		{"\ufeff" + strings.ReplaceAll(head, "\n", "\r\n"), func(s Scenario) any { return s.Name }, "x"},
		{"%YAML 1.2\n# why\n---\n" + head + "...\n", func(s Scenario) any { return s.Name }, "x"},
	} {
		t.Run(c.source, func(t *testing.T) { equal(t, c.got(decode(t, c.source)), c.want) })
	}
}

func bystandersOf(s Scenario) any { return s.Bystanders }
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

func TestHash(t *testing.T) {
	base := decode(t, head).Hash()
	// sha256sum of the JSON that TestDefaults' scenario has by the type's tags, written by hand:
	// {"name":"x","groups":[{"name":"panels","panels":4,"delay_s":1}],"payload_bytes":2048,"bystanders":{"every_s":0.5,"size_bytes":200},
	// "strategies":[{"name":"sync","sync":true,"submit_wait_s":0,"poll_wait_s":0}],"base":"sync","protocols":["http1","h2"],"repeats":7,
	// "seed":1,"browser":{"http1_connections":6,"h2_streams":256},"cold":false}
	equal(t, decode(t, head+"strategies: [sync]").Hash(), "7d3da67b5fe731e05ead3fa094a6bf0a129a928c1b4b3f7bdbb9a6dfa75d3d6e")
	equal(t, decode(t, "# other words\n"+head+"repeats: 7\nstrategies:\n- traditional\n- continuous\n").Hash(), base)
	if decode(t, head+"seed: 2").Hash() == base {
		t.Error("another seed has the same hash")
	}
}

func TestProblemsAreValues(t *testing.T) {
	_, err := Decode("dir/f.yaml", []byte(head+"seed: x\nrepeats: 0\n"))
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
	equal(t, s.Panels(seconds(1)), []Panel{{0, seconds(4)}, {0, seconds(4)}, {1, seconds(1)}, {1, seconds(1)}, {1, seconds(1)}})
	equal(t, s.Ideal(seconds(1)), seconds(4))
	equal(t, s.Ideal(seconds(9)), seconds(9))
	equal(t, decode(t, head).Sweep(), []clock.Seconds{{}})
}

func TestQuoteIsShortAndOnOneLine(t *testing.T) {
	equal(t, quote("a\n\x1b"), `"a\n\x1b"`)
	equal(t, quote(strings.Repeat("é", 70)), `"`+strings.Repeat("é", 60)+`…"`)
}
