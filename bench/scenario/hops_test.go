package scenario

import (
	"strings"
	"testing"
)

func TestWrongTopology(t *testing.T) {
	const forms = "direct, edge-h2, edge-http1 or {edge-idle-timeout: 10s}"
	for name, c := range map[string]struct {
		lines string // from the third on
		want  []string
	}{
		"unknown":     {"topology: [direct, edge-h3]", []string{`3:20: unknown topology "edge-h3": valid are ` + forms}},
		"no time":     {"topology: edge-idle-timeout", []string{`3:11: topology[0]: it lacks its time: write {edge-idle-timeout: 10s}`}},
		"time unit":   {"topology: {edge-idle-timeout: 10}", []string{`3:31: edge-idle-timeout: "10" lacks a unit: write 10s or 500ms`}},
		"short time":  {"topology: [{edge-idle-timeout: 0s}]", []string{`3:12: edge-idle-timeout 0s: take 1ms to 600s`}},
		"long time":   {"topology: [{edge-idle-timeout: 601s}]", []string{`3:12: edge-idle-timeout 10m1s: take 1ms to 600s`}},
		"other field": {"topology: {edge: 1s}", []string{`3:11: topology[0] lacks the field "edge-idle-timeout"`, `3:12: unknown field "edge": valid are edge-idle-timeout`}},
		"no time for it": {"topology: [{edge-h2: 5s}, {direct: ~}]", []string{
			`3:12: topology[0]: edge-h2 has no time: write just edge-h2, or {edge-idle-timeout: 10s}`,
			`3:27: topology[1]: direct has no time: write just direct, or {edge-idle-timeout: 10s}`}},
		"none":         {"topology: []", []string{`3:11: no topology: give at least one, or leave the field out`}},
		"nothing":      {"topology: ~", []string{`3:11: topology[0]: nothing where ` + forms + ` belongs`}},
		"twice":        {"topology: [direct, edge-h2, direct]", []string{`3:29: topology direct is there twice: remove one`}},
		"time twice":   {"topology: [{edge-idle-timeout: 1s}, {edge-idle-timeout: 1000ms}]", []string{`3:37: topology edge-idle-timeout-1s is there twice: remove one`}},
		"not carrying": {"topology: edge-h2\nprotocols: [http1]", []string{`3:11: topology edge-h2 carries none of the protocols: add h2 to them, or remove the topology`}},
		"one of two": {"topology: [edge-http1, edge-h2]\nprotocols: [h2]", []string{
			`3:12: topology edge-http1 carries none of the protocols: add http1 to them, or remove the topology`}},
		"not carried": {"topology: edge-http1\nprotocols: [http1, h2]", []string{
			`4:20: no topology carries h2: add one that does, such as direct, or remove the protocol`}},
		"one slip": {"topology: [edge-h3]\nprotocols: [http1]\nnetwork: {name: a, behind_edge: {rtt: 1s}}", []string{`3:12: unknown topology "edge-h3": valid are ` + forms}},
	} {
		t.Run(name, func(t *testing.T) { complains(t, head+c.lines+"\n", c.want...) })
	}
}

func TestWrongNetwork(t *testing.T) {
	const belongs = ` where perfect or a mapping such as {name: slow, last_hop: {rtt: 100ms}} belongs`
	const noCondition = `network "a" has no condition: give a hop rtt, jitter, bandwidth, cut or cuts, or write perfect`
	for name, c := range map[string]struct {
		network string // on line 3, from column 10 on
		want    []string
	}{
		"word":          {"slow", []string{`3:10: network[0]: the text "slow"` + belongs}},
		"number":        {"[perfect, 7]", []string{`3:20: network[1]: the number 7` + belongs}},
		"none":          {"[]", []string{`3:10: no network: give at least one, or leave the field out`}},
		"no name":       {"{last_hop: {rtt: 1s}}", []string{`3:10: network[0] lacks the field "name"`}},
		"bad name":      {"{name: a+b, last_hop: {rtt: 1s}}", []string{`3:17: network name "a+b": take letters, digits, "-", "_" and ".", a letter or digit first, 64 at most`}},
		"perfect name":  {"{name: perfect, last_hop: {rtt: 1s}}", []string{`3:17: network perfect is the one without conditions: write just perfect, or choose another name`}},
		"perfect twice": {"[perfect, perfect]", []string{`3:20: network perfect is there twice: remove one`}},
		"same name":     {"[{name: a, last_hop: {rtt: 1s}}, {name: a, last_hop: {rtt: 2s}}]", []string{`3:50: two networks are called "a": give each its own name`}},
		"no hop":        {"{name: a}", []string{`3:10: ` + noCondition}},
		"no condition":  {"{name: a, last_hop: {}, elasticsearch: {rtt: 0s, cut: 0, cuts: []}}", []string{`3:10: ` + noCondition}},
		"no edge":       {"{name: a, behind_edge: {rtt: 1s}}", []string{`3:33: network "a": no topology has an edge for behind_edge: add one such as edge-h2, or remove it`}},
		"unknown field": {"{name: a, last_hop: {rtt: 1s, delay: 1s}}", []string{`3:40: unknown field "delay": valid are rtt, jitter, bandwidth, cut, cuts`}},
		"limits": {"{name: a, last_hop: {rtt: 11s, cut: 1.5}, elasticsearch: {rtt: 1s, jitter: 2s, cut: -0.1}}", []string{
			`3:36: network "a", last_hop: rtt 11s: take 0s to 10s`,
			`3:46: network "a", last_hop: cut 1.5: a probability is from 0 to 1`,
			`3:85: network "a", elasticsearch: jitter 2s: take 0s to half of the rtt, 500ms`,
			`3:94: network "a", elasticsearch: cut -0.1: a probability is from 0 to 1`}},
		"jitter alone": {"{name: a, last_hop: {jitter: 1ms}}", []string{`3:39: network "a", last_hop: jitter 1ms: take 0s to half of the rtt, 0s`}},
		"rtt unread":   {"{name: a, last_hop: {rtt: 1, jitter: 1ms}}", []string{`3:36: rtt: "1" lacks a unit: write 10s or 500ms`}},
		"cuts": {"{name: a, last_hop: {cuts: [0s, 5s, 5s, 3s, 4s, 601s]}}", []string{
			`3:38: network "a", last_hop: a cut at 0s: take over 0s to 600s`,
			`3:46: network "a", last_hop: a cut at 5s comes after one at 5s: put them in rising order`,
			`3:50: network "a", last_hop: a cut at 3s comes after one at 5s: put them in rising order`,
			`3:58: network "a", last_hop: a cut at 10m1s: take over 0s to 600s`}},
		"not numbers": {"{name: a, last_hop: {cut: .nan, cuts: 5s}}", []string{
			`3:36: cut: the number .nan where a decimal number belongs`,
			`3:48: cuts: the text "5s" where a list such as [5s, 12s] belongs`}},
	} {
		t.Run(name, func(t *testing.T) { complains(t, head+"network: "+c.network+"\n", c.want...) })
	}
	for _, bandwidth := range []string{"256KiB", "1023B/s", "0KiB/s", "1024", "256KB/s", "/s"} {
		_, err := Decode("f", []byte(head+"network: {name: a, last_hop: {bandwidth: "+bandwidth+"}}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), "f:3:42: bandwidth: ") || !strings.Contains(err.Error(), "256KiB/s") {
			t.Errorf("%s: %v", bandwidth, err)
		}
	}
	equal(t, decode(t, head+"network: {name: a, last_hop: {bandwidth: 1024 B/s}}").Networks[0].LastHop.Bandwidth, 1024)
}

// 11 topologies × 10 networks are 110 paths. What competes on them is then not counted.
func TestTooManyPaths(t *testing.T) {
	source := head + "repeats: 1000\ntopology:\n"
	for _, s := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11") {
		source += "- {edge-idle-timeout: " + s + "s}\n"
	}
	source += "network:\n- perfect\n"
	for _, name := range strings.Fields("a b c d e f g h i") {
		source += "- {name: " + name + ", last_hop: {rtt: 1ms}}\n"
	}
	complains(t, source, `5:1: 11 topologies under 10 networks are 110 paths: take at most 100`)
}

func TestWrongTabsAndSettings(t *testing.T) {
	for name, c := range map[string]struct {
		lines string // from the third on
		want  []string
	}{
		"no tabs":      {"tabs: 0", []string{`3:7: tabs: the number 0 where a whole number over 0 belongs`}},
		"many tabs":    {"tabs: {count: 101}", []string{`3:15: 101 tabs: take 1 to 100`}},
		"no number":    {"tabs: several", []string{`3:7: tabs: the text "several" where a whole number belongs`}},
		"no count":     {"tabs: {every: 1s}", []string{`3:7: tabs lacks the field "count"`}},
		"one hides":    {"tabs: {count: 1, hide: 1s}", []string{`3:24: a single tab stays: give more to hide, or remove hide`}},
		"hide at 0":    {"tabs: {count: 2, hide: 0s}", []string{`3:24: hide: 0s is not over 0: give more, or leave the field out`}},
		"hide late":    {"tabs: {count: 2, hide: 601s}", []string{`3:24: tabs hide after 10m1s: take over 0s to 600s`}},
		"before":       {"tabs: {count: 2, every: -1s}", []string{`3:25: 2 tabs every -1s: the last starts 0s to 600s after the first`}},
		"late":         {"tabs: {count: 3, every: 301s}", []string{`3:25: 3 tabs every 5m1s: the last starts 0s to 600s after the first`}},
		"timeout at 0": {"search_timeout: 0s", []string{`3:17: search_timeout: 0s is not over 0: give more, or leave the field out`}},
		"long timeout": {"search_timeout: 3601s", []string{`3:17: search_timeout 1h0m1s: take over 0s to 3600s`}},
		"disconnect":   {"on_disconnect: delete", []string{`3:16: on_disconnect: the text "delete" where cancel or keep belongs`}},
		"no pool":      {"search_pool: 0", []string{`3:14: search_pool: the number 0 where a whole number over 0 belongs`}},
		"large pool":   {"search_pool: 10001", []string{`3:14: 10001 threads in search_pool: take 1 to 10000`}},
		// 1 delay × (direct: 2 protocols, edge-h2: 1) × 2 networks × 2 strategies × 1000 repeats × 4 panels × 3 tabs
		"load": {"repeats: 1000\ntopology: [direct, edge-h2]\nnetwork: [perfect, {name: a, last_hop: {rtt: 1ms}}]\ntabs: 3", []string{
			`2:21: 1 delays × 12 variants (strategy, protocol, path) × 1000 repeats × 4 panels × 3 tabs are 144000 searches: take fewer of one of these, for 100000 at most`}},
	} {
		t.Run(name, func(t *testing.T) { complains(t, head+c.lines+"\n", c.want...) })
	}
}

// The limits themselves are within.
func TestLimitsAreWithin(t *testing.T) {
	for _, source := range []string{
		head + "search_timeout: 3600s",
		head + "tabs: {count: 100, hide: 600s, every: 6s}",
		head + "tabs: {count: 2, every: 600s}",
		head + "search_pool: 10000",
		head + "topology: [{edge-idle-timeout: 1ms}, {edge-idle-timeout: 600s}]",
		head + "network: {name: a, last_hop: {rtt: 10s, jitter: 5s, bandwidth: 1KiB/s, cut: 1, cuts: [1ns, 600s]}}",
		head + "strategies: [{name: a, like: auto, retry: 100}]",
		strings.Replace(head, "1s", "{mix: [{weight: 1000000, delay: 600s}]}, fault: {kind: cut, on: [0, 1000]}", 1),
		strings.Replace(head, "1s", "{lognormal: {p50: 1ns, p95: 600s}}, fault: {kind: too_many_requests, retry_after: 600s}", 1),
		strings.Replace(head, "1s", "1s, fault: {kind: failure, failed: 1000, of: 1000}", 1),
		strings.Replace(head, "1s", "1s, fault: {kind: slow, over: 600s}", 1),
	} {
		decode(t, source)
	}
}
