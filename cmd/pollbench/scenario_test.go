package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A scenario's file of delays is read from beside the scenario, wherever the program was started.
func TestDelaysBesideTheScenario(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := put("test.yaml", "name: test\ndashboard: {panels: [{count: 2, delay: {empirical: delays.csv}}]}\n")
	files := filesIn(folder)
	if _, err := files("delays.csv"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	if code, _, stderr := call(t, "plan", path); code != exitUsage || !strings.Contains(stderr, `:2:52: empirical: "delays.csv" cannot be read: no such file`) {
		t.Errorf("a missing file: exit %d, %s", code, stderr)
	}
	put("delays.csv", "seconds\n0.25\n")
	if code, stdout, stderr := call(t, "plan", path); code != 0 {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	put("delays.csv", strings.Repeat("1\n", maxBeside/2)+"1")
	if _, err := files("delays.csv"); err == nil || err.Error() != "larger than 4 MiB" {
		t.Errorf("a large file: %v", err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(folder, "link.csv")); err == nil {
		if _, err := files("link.csv"); err == nil || os.IsNotExist(err) {
			t.Errorf("a link out of the folder: %v", err)
		}
	}
}
