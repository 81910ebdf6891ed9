package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pollbench/fixtures/node"
)

// fakeDocker is a docker command, the first on the PATH, that says something and ends with a code to each of some first arguments; to all others it says nothing
// and ends well.
func fakeDocker(t *testing.T, answers map[string]string) {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in\n"
	for args, does := range answers {
		script += "'" + args + "'*) " + does + " ;;\n"
	}
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(script+"esac\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
}

// script runs a script of .ci, and returns what it wrote.
func script(t *testing.T, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path := filepath.Join("../../.ci", name)
	if _, err := os.ReadFile(path); err != nil { // go test remembers that it passed, until something changes that it has read itself
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// Whoever finds no engine tells the same way out.
func TestNoEngineHasOneWayOut(t *testing.T) {
	fakeDocker(t, map[string]string{"version": "echo Cannot connect to the Docker daemon >&2; exit 1"})
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	for name, said := range map[string]func() (string, error){
		"clean": func() (string, error) {
			code, _, stderr := call(t, "clean")
			return stderr, exit(code)
		},
		"run --backend container": func() (string, error) {
			code, _, stderr := call(t, "run", write(t, short), "--backend", "container", "--out", filepath.Join(t.TempDir(), "result"))
			return stderr, exit(code)
		},
		"make node-image": func() (string, error) {
			_, err := node.Image(t.Context(), node.ImageOptions{})
			return fmt.Sprint(err), err
		},
		"make up": func() (string, error) {
			_, stderr, err := script(t, "compose", "up")
			return stderr, err
		},
	} {
		if said, err := said(); err == nil || !strings.Contains(said, node.StartDocker) {
			t.Errorf("%s: %v, without the way out: %s", name, err, said)
		}
	}
}

// exit is nil for a program that ended well.
func exit(code int) error {
	if code == exitDone {
		return nil
	}
	return fmt.Errorf("exit %d", code)
}

