package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/fixtures/containers"
	"pollbench/fixtures/node"
)

// crowd is one load of more searches than Elasticsearch's own queue takes, of which few are executed at once: what it is told of pool and queue shows.
const crowd = `
name: crowd
dashboard:
  panels:
    - count: 501
      delay: {sweep: 20ms}
tabs: 2
search_pool: 20
strategies: [continuous]
base: continuous
protocols: [h2]
repeats: 1
`

// onBackend plays a scenario on an Elasticsearch that is started for it.
func onBackend(t *testing.T, scenario string, args ...string) (dir string, code int, stdout, stderr string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "result")
	code, stdout, stderr = call(t, append([]string{"run", write(t, scenario), "--out", dir, "--backend"}, args...)...)
	return dir, code, stdout, stderr
}

// A real Elasticsearch gets the pool and the queue that the plan needs, and what is measured on it says what it was measured on.
func TestBackends(t *testing.T) {
	for _, backend := range []string{onNode, container} {
		t.Run(backend, func(t *testing.T) {
			args := []string{backend}
			if backend == container {
				needImage(t, nodeImage, "make node-image")
			} else {
				need(t, "java")
				if home := os.Getenv("NODE_HOME"); home != "" {
					args = append(args, "--node-home", home)
				}
			}
			dir, code, stdout, stderr := onBackend(t, crowd, args...)
			if strings.Contains(stderr, `it is built by "make node`) {
				unmet(t, "java", errors.New(stderr))
			}
			if code != exitDone || !strings.Contains(stdout, "1 of 1 loads finished") {
				t.Fatalf("exit %d, %s%s", code, stdout, stderr)
			}
			b := manifestIn(t, dir).Backend
			if b.Kind != backend || b.Product != "Elasticsearch" || !b.AsyncSearch || !b.ShardDelay || b.DelayImplementer != "server" || b.ReadyResolution != 0.001 {
				t.Errorf("%+v", b)
			}
			if want := (record.SearchPool{Nodes: 1, Size: 20, Queue: 1002}); b.SearchPool == nil || *b.SearchPool != want {
				t.Errorf("search pool %+v, want %+v", b.SearchPool, want)
			}
			if _, err := os.Stat(filepath.Join(dir, serverLogFile)); err == nil {
				t.Error("a run that went well keeps the server's log")
			}
		})
	}
}

// An Elasticsearch that ends as soon as it has begun leaves its whole log in the result's folder, and its last lines in the error.
func TestBackendsThatDie(t *testing.T) {
	for _, backend := range []string{onNode, container} {
		t.Run(backend, func(t *testing.T) {
			var args []string
			last := "unknown flag: --telepathy"
			if backend == onNode {
				last = "unknown setting [telepathy]"
				args = []string{onNode, "--node-home", deadNode(t, last)}
			} else {
				args = []string{container, "--image", deadImage(t)}
			}
			dir, code, _, stderr := onBackend(t, short, args...)
			path := filepath.Join(dir, serverLogFile)
			if code != exitFailed || !strings.Contains(stderr, last) || !strings.Contains(stderr, "the log of Elasticsearch is in "+path) {
				t.Errorf("exit %d, %s; want the last words %q, and where the log is", code, stderr, last)
			}
			if log, err := os.ReadFile(path); err != nil || !bytes.Contains(log, []byte(last)) {
				t.Errorf("kept %q, %v", log, err)
			}
		})
	}
}

// deadNode is a node's home, whose Java says something and ends.
func deadNode(t *testing.T, last string) (home string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for Java is a shell script")
	}
	home = t.TempDir()
	java := filepath.Join(home, "java")
	_, version, _ := strings.Cut(node.ImageTag(), ":")
	manifest, err := json.Marshal(map[string]string{"version": version, "java": java})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{java: "#!/bin/sh\necho '" + last + "' >&2\nexit 3\n", filepath.Join(home, "pollbench-node.json"): string(manifest)} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// deadImage is an image of a server that does not understand how it is started. It goes with the test.
func deadImage(t *testing.T) (name string) {
	t.Helper()
	needImage(t, embeddedImage, "make image")
	name = fmt.Sprintf("pollbench/dead:%d", os.Getpid())
	build := exec.Command("docker", "build", "--quiet", "--tag", name, "-")
	build.Stdin = strings.NewReader("FROM " + embeddedImage + "\nCMD [\"serve\", \"--telepathy\"]\n")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v: %s", name, err, text)
	}
	t.Cleanup(func() {
		if text, err := exec.Command("docker", "rmi", name).CombinedOutput(); err != nil {
			t.Errorf("remove %s: %v: %s", name, err, text)
		}
	})
	return name
}

// Ctrl-C half-way keeps what was measured, and ends the container. The embedded server's image suffices for it.
func TestContainerInterrupted(t *testing.T) {
	needImage(t, embeddedImage, "make image")
	temporary, dir := t.TempDir(), filepath.Join(t.TempDir(), "result")
	long := strings.Replace(short, "250ms", "[250ms, 60s]", 1) + "strategies: [continuous]\nbase: continuous\nprotocols: [h2]\n" // few, to warm up soon
	program := exec.CommandContext(t.Context(), os.Args[0], "run", write(t, long), "--out", dir, "--progress", "none", "--backend", container, "--image", embeddedImage)
	program.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+temporary)
	var stderr bytes.Buffer
	program.Stdout, program.Stderr = io.Discard, &stderr
	program.Cancel = func() error { return program.Process.Signal(syscall.SIGINT) } // nothing may be left of a test that fails either
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = program.Wait() // its exit code is looked at
	}()
	t.Cleanup(func() { <-ended })
	for !hasLine(filepath.Join(dir, record.ObservationsFile)) {
		select {
		case <-ended:
			t.Fatalf("it has ended: %s", &stderr)
		default:
			_ = clock.SleepUntil(t.Context(), clock.Standard(), time.Now().Add(20*time.Millisecond))
		}
	}
	if ours := containersOf(t, program.Process.Pid); len(ours) != 1 {
		t.Errorf("half-way there are %+v, want one container", ours)
	}
	if err := program.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	<-ended
	if code := program.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "are kept in "+dir) {
		t.Errorf("exit %d, %s", code, &stderr)
	}
	for _, l := range containersOf(t, program.Process.Pid) {
		t.Errorf("left behind: %s (removed now: %v)", l.Name, containers.Remove(t.Context(), l))
	}
	nothingIn(t, temporary)
}

// containersOf are those that a process has started.
func containersOf(t *testing.T, pid int) []containers.Leftover {
	t.Helper()
	all, err := containers.Leftovers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(l containers.Leftover) bool { return l.PID != pid })
}
