package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	for _, args := range slices.Backward(slices.Sorted(maps.Keys(answers))) { // the longer before what it begins with
		script += "'" + args + "'*) " + answers[args] + " ;;\n"
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

// An engine that answers is used, ours first. Standard output has what a shell is to evaluate, and nothing else.
func TestDockerStart(t *testing.T) {
	ci := t.TempDir()
	t.Setenv("DOCKER_CI_DIR", ci)
	t.Setenv("DOCKER_HOST", "unix:///theirs")
	for answers, want := range map[string]string{"--host unix://" + ci + "/socket version": "unix://" + ci + "/socket", "--host unix:///theirs version": "unix:///theirs"} {
		fakeDocker(t, map[string]string{answers: "echo 20.10.24", "": "echo nobody answers; exit 1"})
		stdout, stderr, err := script(t, "docker", "start")
		exports := "export DOCKER_HOST=" + want + "\nexport TESTCONTAINERS_RYUK_DISABLED=true\nexport TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1\n"
		if said := "docker: engine 20.10.24 on " + want + "\n"; err != nil || stdout != exports || stderr != said {
			t.Errorf("start: %v, %q and %q; want %q and %q", err, stdout, stderr, exports, said)
		}
		if stdout, _, err := script(t, "docker", "status"); err != nil || stdout != "engine 20.10.24 on "+want+"\n" {
			t.Errorf("status: %v, %q", err, stdout)
		}
	}
	fakeDocker(t, map[string]string{"": "exit 1"})
	if stdout, stderr, err := script(t, "docker", "status"); err == nil || stdout != "" || !strings.Contains(stderr, "no engine answers on unix://"+ci+"/socket or unix:///theirs") {
		t.Errorf("status without an engine: %v, %q, %q", err, stdout, stderr)
	}
}

// exit is nil for a program that ended well.
func exit(code int) error {
	if code == exitDone {
		return nil
	}
	return fmt.Errorf("exit %d", code)
}

// What 'make up' says when Docker fails, by what Docker says.
func TestMakeUpFails(t *testing.T) {
	t.Setenv("DASHBOARD_PORT", "5602")
	t.Setenv("EDGE_PORT", "8444")
	t.Setenv("ES_IMAGE", "pollbench/embedded:latest")
	const taken, unready = " of 127.0.0.1 is taken: end what listens there, or choose another one by ", "not all of them get ready: see above"
	for says, want := range map[string]string{
		"Error starting userland proxy: listen tcp4 127.0.0.1:9200: bind: address already in use":            "port 9200" + taken + "ES_PORT",
		"Bind for 127.0.0.1:5602 failed: port is already allocated":                                          "port 5602" + taken + "DASHBOARD_PORT",
		"failed to bind host port 127.0.0.1:8444/tcp: address already in use":                                "port 8444" + taken + "EDGE_PORT",
		"Creating x_elasticsearch_1\nfailed to bind host port 127.0.0.1:9200/tcp: address already in use\nx": "port 9200" + taken + "ES_PORT",
		"the name x_default is already in use":                                                               unready,
		"listen tcp4 127.0.0.1:9200: bind: permission denied":                                                unready,
	} {
		fakeDocker(t, map[string]string{
			"compose up":   "echo '" + says + "' >&2; exit 1",
			"compose logs": "echo the last words",
		})
		stdout, stderr, err := script(t, "compose", "up")
		if err == nil || stdout != "" || !strings.Contains(stderr, "compose: "+want) || !strings.Contains(stderr, says) || !strings.Contains(stderr, "'make down'") {
			t.Errorf("for %q: %v, said %q and %q, want %q", says, err, stdout, stderr, want)
		}
		if logs := strings.Contains(stderr, "the last words"); logs != (want == unready) {
			t.Errorf("for %q: the servers' logs are shown: %v", says, logs)
		}
	}
}

// noCompose is why there is no Compose here, with the way to get it; nil if there is.
func noCompose() error {
	if exec.Command("docker", "compose", "version").Run() == nil {
		return nil
	}
	if _, err := exec.LookPath("docker-compose"); err == nil {
		return nil
	}
	return errors.New("neither 'docker compose' nor 'docker-compose' is here: on Debian, apt-get install docker-compose")
}

// A machine with Docker and without Compose.
func TestNoCompose(t *testing.T) {
	fakeDocker(t, map[string]string{"compose": "echo docker: unknown command: docker compose >&2; exit 1"})
	t.Setenv("PATH", strings.Split(os.Getenv("PATH"), ":")[0]) // and nothing else
	if err := noCompose(); err == nil || !strings.Contains(err.Error(), "apt-get install docker-compose") {
		t.Errorf("error %v", err)
	}
	fakeDocker(t, map[string]string{})
	if err := noCompose(); err != nil {
		t.Errorf("Compose as a part of docker: %v", err)
	}
}
