package scenario

import (
	"os"
	"strings"
	"testing"
)

// docExample is the YAML in Decode's documentation that follows the given words: it must be what it says.
func docExample(t *testing.T, after string) string {
	t.Helper()
	source, err := os.ReadFile("decode.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(source), after)
	var example strings.Builder
	for line := range strings.Lines(rest) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			example.WriteString(text)
		} else if example.Len() > 0 {
			break
		}
	}
	if !found || example.Len() == 0 {
		t.Fatalf("no example after %q", after)
	}
	return example.String()
}

func TestDocumentationDecodes(t *testing.T) {
	s := decode(t, docExample(t, "// Decode reads"))
	equal(t, s.Tabs, Tabs{Count: 3, Hide: seconds(3)})
	indented := func(after string) string { return strings.ReplaceAll(docExample(t, after), "\n", "\n  ") }
	s = decode(t, head+"topology: edge-h2\nnetwork:\n  "+indented("// A network is"))
	equal(t, s.Networks[0].LastHop.Bandwidth, 256<<10)
	for delay := range strings.Lines(docExample(t, "// A delay is drawn")) {
		delay, _, _ = strings.Cut(delay, "#")
		if !decode(t, strings.Replace(head, "1s", delay, 1)).Drawn() {
			t.Errorf("%s draws nothing", delay)
		}
	}
}
