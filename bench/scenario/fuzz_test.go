package scenario

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// FuzzDecode holds, of a scenario and the one file beside it, that no input panics, that an error says where and in one line, and that what is accepted keeps all rules and
// travels through JSON unchanged.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "# only a comment", "---\n---\n", "\ufeff" + head, head, everything, sweeping,
		"a: &x 1\nb: *x\n<<: *x\n", "? [a]\n: b\n", "!!map {name: x}", "%YAML 1.2\n---\n", "{", "[[[[", "\ta: 1", "a: |\n  b\nc: >-\n d\n",
		head + "strategies: [{name: a, sync: true}, {name: b, tiers: [{sleep: 1s}]}]\nbase: b\n",
		"name: [a\ndashboard: {panels: {sweep: 1s, 2s}}", "name: \"\\uD800\"\n", head + "description: \"\\x00\\n\\xff\"\n",
		strings.Replace(head, "1s", "{empirical: d.csv}", 1), strings.Replace(head, "1s", "{empirical: \"../\\n\"}", 1),
		strings.Replace(head, "1s", "{mix: [{weight: -0.0, delay: 1s}, {weight: .inf, delay: {lognormal: {p50: 1s}}}], sweep: 1s}", 1),
		strings.Replace(head, "1s", "1s, fault: {kind: failure, on: [0, -1], failed: 2, of: 1}", 1),
		head + "topology: {edge-idle-timeout: 1ns}\nnetwork: {name: perfect}\ntabs: 0\n",
		head + "topology: [edge-h2, edge-h2, 1]\nnetwork: [perfect, {name: a, behind_edge: {rtt: 1s, jitter: 2s, cut: -0, cuts: [2s, 1s]}}]\n",
		head + "tabs: {count: 100, every: 2562047h, hide: 0}\nsearch_timeout: 0s\non_disconnect: keep\n",
		head + "strategies: [{name: a, retry: 101, like: auto}, {like: sync, retry: 0, name: b}, {like: [a], name: c}]\n",
	} {
		f.Add([]byte(seed), []byte("delay,note\n1.5s\n0.25,x\n\n# why\n"))
	}
	for _, file := range []string{"", "\ufeff1,5;x\n", "\"1\n", "1\"\n", "0\n-1\n1e400\nnan\ninf\n\x00\n", "1e-10\r\n600.0000000001\n", ",\n"} {
		f.Add([]byte(strings.Replace(head, "1s", "{empirical: d.csv}", 1)), []byte(file))
	}
	f.Fuzz(func(t *testing.T, source, file []byte) {
		s, err := Decode("f", source, func(string) ([]byte, error) { return file, nil })
		if err != nil {
			problems, ok := errors.AsType[Problems](err)
			if !ok || len(problems) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || strings.ContainsAny(p.Message, "\n\x1b") {
					t.Errorf("%#v", p)
				}
			}
			return
		}
		if _, err := s.With(Overrides{}); err != nil {
			t.Errorf("accepted, then refused: %v", err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again Scenario
		if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("through JSON: %v\n%+v\n%+v", err, s, again)
		}
	})
}
