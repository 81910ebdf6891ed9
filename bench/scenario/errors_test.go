package scenario

import (
	"strings"
	"testing"
)

const (
	fields = "name, description, dashboard, bystanders, strategies, base, protocols, topology, network, repeats, seed, browser, tabs, " +
		"search_timeout, on_disconnect, search_pool, cold"
	shippedIn = "traditional, continuous, fallback, auto, auto-by-server, kibana-8.5, kibana-8.6, no-backoff, long-first-wait, rally, sync"
)

// complains checks that a source yields exactly these lines, each LINE:COLUMN: MESSAGE, with columns counted by eye in the source.
func complains(t *testing.T, source string, want ...string) {
	t.Helper()
	s, err := Decode("f.yaml", []byte(source), beside)
	if err == nil {
		t.Fatalf("accepted:\n%s", source)
	}
	equal(t, strings.Split(err.Error(), "\n"), prefixed("f.yaml:", want))
	equal(t, s, Scenario{})
}

func prefixed(prefix string, lines []string) (all []string) {
	for _, l := range lines {
		all = append(all, prefix+l)
	}
	return all
}

func TestWrongFile(t *testing.T) {
	const empty = "1:1: the file holds no scenario: it needs at least a name and a dashboard"
	const second = ": a second document begins here: give each scenario its own file"
	for name, c := range map[string]struct{ source, want string }{
		"empty":          {"", empty},
		"comment":        {"# nothing\n", empty},
		"empty document": {"---\n", empty},
		"two documents":  {head + "---\n" + head, "3:1" + second},
		"second empty":   {head + "---\n", "3:1" + second},
		"after an end":   {head + "...\n" + head, "4:1" + second},
		"text":           {"sawtooth\n", `1:1: the scenario: the text "sawtooth" where a mapping with the fields ` + fields + ` belongs`},
		"list":           {"- name: x\n", `1:1: the scenario: a list where a mapping with the fields ` + fields + ` belongs`},
		"not UTF-8":      {"name: x\nb\xff\n", "2:2: this is not UTF-8: save the file as UTF-8"},
		"too large":      {strings.Repeat("#", 40_000), "1:1: the file has 40000 bytes, more than 32768: this is no scenario"},
		"bracket":        {"name: x\nprotocols: [h2\n", "2:12: this is not YAML: sequence end token ']' not found: close it"},
		"quote":          {"name: \"x\n", "1:7: this is not YAML: could not find end character of double-quoted text: close it"},
		"tab":            {"name: x\n\tseed: 1\n", `2:1: this is not YAML: found character '\t' that cannot start any token: indent with spaces`},
		"indentation": {"browser:\n  h2_streams: 1\n cold: true\n",
			"3:2: this is not YAML: value is not allowed in this context: check the indentation, and put a text with \": \" in quotes"},
		"reserved": {"name: @x\n", "1:7: this is not YAML: '@' is a reserved character: put the text in quotes"},
	} {
		t.Run(name, func(t *testing.T) { complains(t, c.source, c.want) })
	}
}

func TestWrongFields(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"nothing there": {"cold: true\n", []string{
			`1:1: the scenario lacks the field "name"`, `1:1: the scenario lacks the field "dashboard"`}},
		"unknown": {head + "protcols: [h2]\nzzz: 1\n", []string{
			`3:1: unknown field "protcols": did you mean "protocols"? valid are ` + fields,
			`4:1: unknown field "zzz": valid are ` + fields}},
		"unknown within": {head + "browser: {h2_stream: 1}\n", []string{
			`3:11: unknown field "h2_stream": did you mean "h2_streams"? valid are http1_connections, h2_streams`}},
		"twice": {head + "seed: 1\nname: y\n", []string{`4:1: "name" is there twice: remove one`}},
		"no value": {head + "repeats:\nstrategies: ~\n", []string{
			`3:9: repeats: nothing where a whole number belongs`,
			`4:13: strategies: nothing where a list such as [traditional, continuous] belongs`}},
		"text for a number": {head + "repeats: seven\nbrowser: {h2_streams: \"5\"}\n", []string{
			`3:10: repeats: the text "seven" where a whole number belongs`,
			`4:23: h2_streams: the text "5" where a whole number belongs`}},
		"other numbers": {head + "repeats: 1.5\nseed: -1\nbrowser: {h2_streams: 0x10}\n", []string{
			`3:10: repeats: the number 1.5 where a whole number belongs`,
			`4:7: seed: the number -1 where a whole number from 0 to 18446744073709551615 belongs`,
			`5:23: h2_streams: the number 0x10 where a whole number in plain decimal digits belongs`}},
		"number for a text": {strings.Replace(head, "x", "12", 1), []string{`1:7: name: the number 12 where a text belongs: put it in quotes`}},
		"list for a mapping": {"name: x\ndashboard: [1]\n", []string{
			`2:12: dashboard: a list where a mapping with the fields panels, payload belongs`}},
		"mapping for a list": {head + "strategies: {name: x}\n", []string{
			`3:13: strategies: a mapping where a list such as [traditional, continuous] belongs`}},
		"text for a list":  {head + "protocols: h2\n", []string{`3:12: protocols: the text "h2" where a list such as [http1, h2] belongs`}},
		"text for a truth": {head + "cold: yes\n", []string{`3:7: cold: the text "yes" where true or false belongs`}},
		"anchor, alias, merge, tag": {head + "repeats: &r 3\nseed: *r\n<<: *r\ncold: !!bool true\n", []string{
			`3:10: repeats: an anchor or alias (not supported: write the value out) where a whole number belongs`,
			`4:7: seed: an anchor or alias (not supported: write the value out) where a whole number from 0 to 18446744073709551615 belongs`,
			`5:1: "<<" is no field: merge keys, tags and the like are not supported, valid are ` + fields,
			`6:7: cold: a tag (not supported: leave it out) where true or false belongs`}},
		"name": {strings.Replace(head, "x", "../x", 1), []string{
			`1:7: scenario name "../x": take letters, digits, "-", "_" and ".", a letter or digit first, 64 at most`}},
		"size": {head + "bystanders: {size: 2KB}\n", []string{
			`3:20: size: the text "2KB" where a size such as 200B, 2KiB or 1MiB belongs`}},
		"bystanders": {head + "bystanders: on\n", []string{
			`3:13: bystanders: the text "on" where off or {every: 500ms, size: 200B} belongs`}},
		"limits": {head + "bystanders: {every: 9ms, size: 11MiB}\nrepeats: 0\nbrowser: {http1_connections: 0, h2_streams: 1001}\n", []string{
			`3:21: bystanders every 9ms: take 10ms to 600s`,
			`3:32: 11534336 bytes of bystander size: take 44 to 2097152`,
			`4:10: 0 repeats: take 1 to 1000`,
			`5:30: 0 http1_connections: take 1 to 256`,
			`5:45: 1001 h2_streams: take 1 to 1000`}},
	} {
		t.Run(name, func(t *testing.T) { complains(t, c.source, c.want...) })
	}
}

func TestWrongDashboard(t *testing.T) {
	const limits = "a delay is over 0 and at most 600s"
	for name, c := range map[string]struct {
		panels string // on line 2, from column 21 on
		want   []string
	}{
		"no groups":    {"[]", []string{"2:21: the dashboard has no panels: give at least one group"}},
		"not a group":  {"[4]", []string{"2:22: panels[0]: the number 4 where a mapping with the fields name, count, delay, fault belongs"}},
		"empty group":  {"[{}]", []string{`2:22: panels[0] lacks the field "count"`, `2:22: panels[0] lacks the field "delay"`}},
		"zero panels":  {"[{count: 0, delay: 1s}]", []string{`2:30: 0 panels in group "panels": take 1 to 1000`}},
		"zero delay":   {"[{count: 1, delay: 0}]", []string{`2:40: group "panels" has a delay of 0s: ` + limits}},
		"negative":     {"[{count: 1, delay: -1s}]", []string{`2:40: group "panels" has a delay of -1s: ` + limits}},
		"long delay":   {"[{count: 1, delay: 601s}]", []string{`2:40: group "panels" has a delay of 10m1s: ` + limits}},
		"no unit":      {"[{count: 1, delay: 10}]", []string{`2:40: delay: "10" lacks a unit: write 10s or 500ms`}},
		"no sweep":     {"[{count: 1, delay: {}}]", []string{`2:40: delay: give it one of sweep, lognormal, empirical, mix`}},
		"bare range":   {"[{count: 1, delay: 1s..2s}]", []string{`2:40: delay: several delays are a sweep: write {sweep: "1s..2s"}`}},
		"bare list":    {"[{count: 1, delay: [1s]}]", []string{`2:40: delay: several delays are a sweep: write {sweep: […]}`}},
		"backwards":    {"[{count: 1, delay: {sweep: 3s..1s}}]", []string{`2:48: sweep: "3s..1s" runs backwards: write 1s..3s`}},
		"zero in it":   {"[{count: 1, delay: {sweep: 0s..1s}}]", []string{`2:48: sweep: "0s..1s": ` + limits}},
		"no step":      {"[{count: 1, delay: {sweep: 1s..2s/0s}}]", []string{`2:48: sweep: "1s..2s/0s" has a step of 0s: a step is over 0`}},
		"empty sweep":  {"[{count: 1, delay: {sweep: []}}]", []string{`2:48: sweep: an empty list: write 10s, 1s..23s or 5s..10s/500ms`}},
		"no brackets":  {"[{count: 1, delay: {sweep: 1s, 2s}}]", []string{`2:52: "2s" is outside the sweep: put the delays in brackets, {sweep: [1s, 2s]}`}},
		"twice":        {"[{count: 1, delay: {sweep: [1s..3s, 2s, 3s]}}]", []string{`2:57: the sweep has 2s twice: name each delay once`}},
		"parts":        {"[{count: 1, delay: {sweep: [x, {a: b}]}}]", []string{`2:49: sweep: "x" is not a duration: write 10s or 500ms`, `2:52: sweep: a mapping where a delay or range such as 10s or 1s..23s belongs`}},
		"no names":     {"[{count: 1, delay: 1s}, {name: b, count: 1, delay: 1s}]", []string{`2:22: panels[0] lacks the field "name": where there are several groups, each has its own`}},
		"same names":   {"[{name: b, count: 1, delay: 1s}, {name: b, count: 1, delay: 1s}]", []string{`2:61: two groups are called "b": give each its own name`}},
		"two sweeps":   {"[{name: a, count: 1, delay: {sweep: 1s}}, {name: b, count: 1, delay: {sweep: 1s}}]", []string{`2:90: groups "a" and "b" are both swept: give one of them a fixed delay`}},
		"many panels":  {"[{name: a, count: 999, delay: 1s}, {name: b, count: 2, delay: 1s}]", []string{`2:21: the dashboard has 1001 panels: take at most 1000`}},
		"many in one":  {"[{name: a, count: 1001, delay: 1s}, {name: b, count: 2, delay: 1s}]", []string{`2:39: 1001 panels in group "a": take 1 to 1000`}},
		"large result": {"[{count: 1, delay: 1s}], payload: 11MiB", []string{`2:55: 11534336 bytes of payload: take 0 to 2097152`}},
		// 37 delays × 2 strategies × 2 protocols × 7 repeats × 100 panels = 103 600
		"load": {"[{count: 100, delay: {sweep: 1s..37s}}]", []string{
			`2:21: 37 delays × 4 variants (strategy, protocol, path) × 7 repeats × 100 panels are 103600 searches: take fewer of one of these, for 100000 at most`}},
	} {
		t.Run(name, func(t *testing.T) {
			complains(t, "name: x\ndashboard: {panels: "+c.panels+"}\n", c.want...)
		})
	}
}

func TestWrongContest(t *testing.T) {
	for name, c := range map[string]struct {
		line string // the third
		want []string
	}{
		"unknown strategy": {"strategies: [tradtional, zz]", []string{
			`3:14: unknown strategy "tradtional": did you mean "traditional"? valid are ` + shippedIn + `; or define it: {name: …, poll_wait: …, tiers: […]}`,
			`3:26: unknown strategy "zz": valid are ` + shippedIn + `; or define it: {name: …, poll_wait: …, tiers: […]}`}},
		"not a strategy":   {"strategies: [3]", []string{`3:14: strategies[0]: the number 3 where a strategy's name or definition belongs`}},
		"none":             {"strategies: []", []string{`3:13: no strategy: give at least one, or leave the field out`}},
		"strategy twice":   {"strategies: [rally, rally]", []string{`3:21: strategy "rally" is there twice: remove one`}},
		"base":             {"base: rally", []string{`3:7: base "rally" is not among the strategies: take one of traditional, continuous`}},
		"unknown protocol": {"protocols: [h3]", []string{`3:13: unknown protocol "h3": valid are http1 (HTTP/1.1) and h2 (HTTP/2)`}},
		"protocol twice":   {"protocols: [h2, h2]", []string{`3:17: protocol "h2" is there twice: remove one`}},
		"no protocol":      {"protocols: []", []string{`3:12: no protocol: give at least one, or leave the field out`}},
		"no name":          {"strategies: [{poll_wait: 1s}]", []string{`3:14: strategies[0] lacks the field "name"`}},
		"shipped name": {"strategies: [{name: rally, poll_wait: 1s}]", []string{
			`3:21: strategy "rally" is a shipped one: write just rally to use it, or choose another name`}},
		"poll":           {"strategies: [{name: a, poll_wait: 1s, poll: both}]", []string{`3:45: poll: the text "both" where result or status belongs`}},
		"sync with more": {"strategies: [{name: a, sync: true, poll: status}]", []string{`3:42: strategy "a" is sync, one plain search: remove "poll", or sync`}},
		"sync with retry": {"strategies: [{name: a, sync: true, retry: 1}]", []string{
			`3:43: strategy "a" is sync, one plain search without an id by which to ask again: remove "retry", or poll`}},
		"like and sync": {"strategies: [{name: a, sync: true, like: rally}]", []string{`3:42: strategy "a" is sync, one plain search: remove "like", or sync`}},
		"like sync":     {"strategies: [{name: a, like: sync, poll_wait: 1s}]", []string{`3:47: strategy "a" is sync, one plain search: remove "poll_wait", or sync`}},
		"like another": {"strategies: [{name: a, like: [x]}, {name: b, like: mine}]", []string{
			`3:30: like: a list where a text belongs`, `3:52: like: unknown strategy "mine": valid are ` + shippedIn}},
		"like auto": {"strategies: [{sync: false, name: a, tiers: [], retry: 1, like: auto}]", []string{
			`3:21: strategy "a" picks between two others: remove "sync", only retry can change`,
			`3:44: strategy "a" picks between two others: remove "tiers", only retry can change`}},
		"retry": {"strategies: [{name: a, like: rally, retry: -1}, {name: b, like: auto, retry: 101}]", []string{
			`3:44: -1 retries of strategy "a": take 0 to 100`, `3:78: 101 retries of strategy "b": take 0 to 100`}},
		"waits": {"strategies: [{name: a, submit_wait: -1s, poll_wait: 601s, tiers: [{sleep: -2s}]}]", []string{
			`3:37: strategy "a": submit_wait -1s: take 0s to 600s`,
			`3:53: strategy "a": poll_wait 10m1s: take 0s to 600s`,
			`3:75: strategy "a": sleep -2s: take 0s to 600s`}},
		"falling tiers": {"strategies: [{name: a, tiers: [{under: 2s, sleep: 1s}, {under: 2s, sleep: 1s}, {sleep: 1s}]}]", []string{
			`3:64: strategy "a": under 2s comes after under 2s: put the tiers in rising order`}},
		"endless tier": {"strategies: [{name: a, tiers: [{sleep: 1s}, {sleep: 2s}]}]", []string{
			`3:32: strategy "a": a tier without under holds for ever: it must be the last`}},
		"under 0": {"strategies: [{name: a, tiers: [{under: 0s, sleep: 1s}]}]", []string{
			`3:40: under: 0s is not over 0: leave under out where the last tier is to hold from then on`}},
		"busy":           {"strategies: [{name: a}]", []string{`3:14: strategy "a" would poll in a busy loop: let it sleep, or give a poll_wait`}},
		"busy by status": {"strategies: [{name: a, poll: status, poll_wait: 30s}]", []string{`3:14: strategy "a" would poll in a busy loop: let it sleep, for a status is never held`}},
		"busy in a tier": {"strategies: [{name: a, tiers: [{under: 1s, sleep: 0s}, {sleep: 1s}]}]", []string{
			`3:51: strategy "a" would poll in a busy loop with a sleep of 0s: let it sleep, or give a poll_wait`}},
		"busy in the end": {"strategies: [{name: a, tiers: [{under: 1s, sleep: 1s}]}]", []string{
			`3:40: strategy "a" would poll in a busy loop once 1s have passed: let the last tier leave out under`}},
	} {
		t.Run(name, func(t *testing.T) { complains(t, head+c.line+"\n", c.want...) })
	}
}

// One slip must not be reported again by the rules that build on it: here total, load and base.
func TestProblemsDoNotBreedOthers(t *testing.T) {
	complains(t, "name: [x]\ndashboard:\n  panels:\n  - count: many\n    delay: {sweep: 1s..600s}\nstrategies: [mine]\nbase: mine\nrepeats: 1000\n",
		`1:7: name: a list where a text belongs`,
		`4:12: count: the text "many" where a whole number belongs`,
		`6:14: unknown strategy "mine": valid are `+shippedIn+`; or define it: {name: …, poll_wait: …, tiers: […]}`)
}
