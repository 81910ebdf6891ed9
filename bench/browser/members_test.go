package browser

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

func read(object string) (map[string]string, error) {
	all := map[string]string{}
	err := members([]byte(object), func(name, value []byte) { all[string(name)] = string(value) })
	return all, err
}

func TestMembers(t *testing.T) {
	got, err := read(` {"id":"a\"}b", "is_running" : true,"response":{"hits":[{"x":"}]"},[1,2]],"n":{}},"took":-1.5e3,"e":null,"s":[]} `)
	want := map[string]string{
		"id": `"a\"}b"`, "is_running": "true", "response": `{"hits":[{"x":"}]"},[1,2]],"n":{}}`, "took": "-1.5e3", "e": "null", "s": "[]",
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := read("{}"); err != nil || len(got) != 0 {
		t.Errorf("an empty object: %v, %v", got, err)
	}
}

// An answer that was cut off anywhere is not taken for a whole one.
func TestMembersOfTruncatedBody(t *testing.T) {
	whole := `{"id":"x","is_partial":false,"response":{"hits":{"hits":[{"a":"}"},{"b":1}]},"took":12}}`
	for n := range len(whole) {
		if _, err := read(whole[:n]); err == nil {
			t.Errorf("taken for whole: %s", whole[:n])
		}
	}
	for _, broken := range []string{"", "null", "[]", `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a":[1}`, `{"a":1 2}`, `{"a":{]}`, `{"a":1}{}`} {
		if got, err := read(broken); err == nil {
			t.Errorf("%s is read as %v", broken, got)
		}
	}
}

// FuzzMembers holds what is read of any object against encoding/json.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"id":"\\","x":[{"y":"]"}],"z":{"w":null}}`, `{"a":"b","a":"c"}`, `[1]`, `{"a":tru`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := map[string]json.RawMessage{}
		err := members(text, func(name, value []byte) {
			var plain string
			if json.Unmarshal(append(append([]byte{'"'}, name...), '"'), &plain) == nil {
				got[plain] = bytes.Clone(value)
			}
		})
		var want map[string]json.RawMessage
		if json.Unmarshal(text, &want) != nil || want == nil {
			return // what is no JSON object may be read in part
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%q: read %q, want %q", text, got, want)
		}
		for name := range want {
			if !bytes.Equal(got[name], want[name]) {
				t.Fatalf("%q: %q is %q, want %q", text, name, got[name], want[name])
			}
		}
	})
}
