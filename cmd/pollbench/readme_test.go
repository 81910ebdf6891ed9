package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README's commands are typed word for word, in order, in one folder; its scenario is the one in examples.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	mine, err := os.ReadFile(filepath.Join(root, "examples/mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	var indented strings.Builder
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		indented.WriteString(rest)
		if command, ok := strings.CutPrefix(rest, "./pollbench "); ok {
			commands = append(commands, command)
		}
	}
	if !strings.Contains(indented.String(), string(mine)) {
		t.Error("the scenario in the README is not examples/mine.yaml")
	}
	t.Chdir(t.TempDir())
	for _, command := range commands {
		if code, stdout, stderr := call(t, strings.Fields(command)...); code != exitDone || stdout == "" {
			t.Errorf("pollbench %s: exit %d, %s", command, code, stderr)
		}
	}
	if len(commands) < 5 {
		t.Errorf("%d commands found", len(commands))
	}
	if code, _, stderr := call(t, "plan", filepath.Join(root, "examples/mine.yaml")); code != exitDone {
		t.Errorf("examples/mine.yaml: %s", stderr)
	}
}
