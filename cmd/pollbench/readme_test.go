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
		// serve ends only when it is told to, and somebody's servers are not here: they have tests of their own.
		if command, ok := strings.CutPrefix(rest, "./pollbench "); ok && !strings.HasPrefix(command, "serve") && !strings.Contains(command, " https://") {
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
}

// Every example is a scenario that can be played.
func TestExamples(t *testing.T) {
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(examples) < 3 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, name := range examples {
		if code, _, stderr := call(t, "plan", name); code != exitDone {
			t.Errorf("%s: %s", name, stderr)
		}
	}
}
