package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args     []string
		javaHome string
		code     int
		says     string
	}{
		{[]string{"-telepathy"}, "", 2, "telepathy"},
		{[]string{"folder"}, "", 2, `takes no arguments, got ["folder"]`},
		{[]string{"-home", t.TempDir()}, "/nowhere", 1, "no Java in JAVA_HOME /nowhere"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), c.args, func(name string) string { return map[string]string{"JAVA_HOME": c.javaHome}[name] }, &stdout, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.says) || stdout.Len() > 0 {
			t.Errorf("node %q: exit code %d, said %q and %q; want %d and %q", c.args, code, &stdout, &stderr, c.code, c.says)
		}
	}
}
