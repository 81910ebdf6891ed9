package scenario

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// FuzzDecode holds that no input panics, that an error says where and in one line, and that what is accepted keeps all rules and
// travels through JSON unchanged.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "# only a comment", "---\n---\n", "\ufeff" + head, head, everything, sweeping,
		"a: &x 1\nb: *x\n<<: *x\n", "? [a]\n: b\n", "!!map {name: x}", "%YAML 1.2\n---\n", "{", "[[[[", "\ta: 1", "a: |\n  b\nc: >-\n d\n",
		head + "strategies: [{name: a, sync: true}, {name: b, tiers: [{sleep: 1s}]}]\nbase: b\n",
		"name: [a\ndashboard: {panels: {sweep: 1s, 2s}}", "name: \"\\uD800\"\n", head + "description: \"\\x00\\n\\xff\"\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		s, err := Decode("f", source)
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
