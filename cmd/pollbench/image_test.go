package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"pollbench/bench/clock"
)

const (
	nodeImage     = "pollbench/node:latest"
	embeddedImage = "pollbench/embedded:latest"
)

// docker returns the words of its answer.
func docker(t *testing.T, args ...string) []string {
	t.Helper()
	text, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v: %s", args, err, text)
	}
	return strings.Fields(string(text))
}

// The image of the embedded servers, run as it is: Docker finds it healthy by the image's own command, it answers where it is published, and it ends well.
func TestImage(t *testing.T) {
	needImage(t, embeddedImage, "make image")
	id := docker(t, "run", "--detach", "--publish", "127.0.0.1::9200", embeddedImage)[0]
	t.Cleanup(func() { docker(t, "rm", "--force", "--volumes", id) })
	// An image whose check fails is unhealthy after its start period of 30 s and three more checks.
	deadline := time.Now().Add(2 * time.Minute)
	for is := ""; is != "healthy"; is = docker(t, "inspect", "--format", "{{.State.Health.Status}}", id)[0] {
		if is == "unhealthy" || time.Now().After(deadline) {
			t.Fatalf("it is %s: %v", is, docker(t, "inspect", "--format", "{{json .State.Health.Log}}", id))
		}
		_ = clock.SleepUntil(t.Context(), clock.Standard(), time.Now().Add(100*time.Millisecond))
	}
	checks := strings.Join(docker(t, "inspect", "--format", "{{range .State.Health.Log}}{{.Output}}{{end}}", id), " ")
	if !strings.Contains(checks, "healthy: http://127.0.0.1:9200 answered after ") {
		t.Errorf("its check says %q", checks)
	}
	at := docker(t, "port", id, "9200")
	if code, _, stderr := call(t, "health", "http://"+at[0]); len(at) != 1 || code != exitDone || !strings.HasPrefix(at[0], "127.0.0.1:") {
		t.Errorf("health of %v: exit %d, %s", at, code, stderr)
	}
	endsWell(t, id)
}

// endsWell stops a container of ours, which must end by itself, and well: Docker would kill it after 10 s, and its exit code would tell.
func endsWell(t *testing.T, id string) {
	t.Helper()
	docker(t, "stop", id)
	if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", id); code[0] != "0" {
		t.Errorf("exit code %v", code)
	}
}
