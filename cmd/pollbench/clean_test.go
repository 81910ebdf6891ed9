package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pollbench/fixtures/containers"
)

// fakeEngine is a Docker engine with a container of each kind of run, a network, a volume and images. It returns what it has been asked to remove.
func fakeEngine(t *testing.T) (removed func() []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are told by Linux's /proc")
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	began := strings.Fields(read("/proc/self/stat"))[21] // the name of a test has no space
	labels := func(machine, began string) map[string]string {
		return map[string]string{
			"pollbench": "true", "pollbench.machine": machine, "pollbench.process": strconv.Itoa(os.Getpid()), "pollbench.process.started": began,
		}
	}
	here := read("/proc/sys/kernel/random/boot_id") + " " + namespace
	ended, made := labels(here, "1"), time.Now().Add(-3*time.Hour).Unix()
	type object = map[string]any
	answers := map[string]any{
		"/containers/json": []object{
			{"Id": "c-ended", "Names": []string{"/ended"}, "Created": made, "SizeRw": 1234567, "Labels": ended},
			{"Id": "c-alive", "Names": []string{"/alive"}, "Created": made, "Labels": labels(here, began)},
			{"Id": "c-elsewhere", "Names": []string{"/elsewhere"}, "Created": made, "Labels": labels("elsewhere", began)},
			{"Id": "c-foreign", "Names": []string{"/foreign"}, "Created": made, "Labels": object{"pollbench": "true"}},
		},
		// Its clock may be ahead; with this one's a machine that stalls would show another age than 0 s.
		"/networks": []object{{"Id": "n-ended", "Name": "net", "Created": time.Now().Add(time.Hour), "Labels": ended}},
		"/volumes":  object{"Volumes": []object{{"Name": "v-ended", "CreatedAt": time.Now().Format(time.RFC3339), "Labels": ended}}},
		"/images/json": []object{
			{"Id": "sha256:0123456789abcdef", "RepoTags": []string{"pollbench/node:latest", "mine:latest"}, "Created": made, "Size": 144400000},
			{"Id": "sha256:aaaaaaaaaaaaaaaa", "RepoTags": []string{"mine:other"}, "Created": made},
			{"Id": "sha256:bbbbbbbbbbbbbbbb", "RepoTags": []string{"<none>:<none>"}, "Created": made},
		},
	}
	var deleted []string
	mux := http.NewServeMux()
	mux.HandleFunc("/_ping", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Api-Version", "1.41") })
	mux.HandleFunc("DELETE /v1.41/", func(w http.ResponseWriter, r *http.Request) {
		deleted = append(deleted, strings.TrimPrefix(r.URL.Path, "/v1.41"))
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1.41/networks/"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"network has active endpoints"}`)
		case strings.HasPrefix(r.URL.Path, "/v1.41/images/"):
			fmt.Fprint(w, `[]`)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	for path, answer := range answers {
		mux.HandleFunc("GET /v1.41"+path, func(w http.ResponseWriter, r *http.Request) {
			if filters, err := url.QueryUnescape(r.URL.Query().Get("filters")); err != nil || filters != `{"label":{"pollbench=true":true}}` {
				t.Errorf("%s: filters %s %v", path, filters, err)
			}
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: mux}}
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_HOST", "unix://"+socket)
	return func() []string {
		all := deleted
		deleted = nil
		return all
	}
}

// What a killed run has left goes, and what is not certain, or not ours, or only saves time stays unless it is asked for.
func TestClean(t *testing.T) {
	removed := fakeEngine(t)
	ended, uncertain := []string{"/containers/c-ended", "/networks/n-ended", "/volumes/v-ended"}, []string{"/containers/c-alive", "/containers/c-elsewhere"}
	images := []string{"/images/sha256:bbbbbbbbbbbbbbbb", "/images/pollbench/node:latest"}
	for _, c := range []struct {
		flags   string
		removes []string
		code    int
	}{
		{"--dry-run", nil, exitDone},
		{"--dry-run --force --images", nil, exitDone},
		{"", ended, exitFailed}, // for the network, which is in use
		{"--images", append(ended, images...), exitFailed},
		{"--force", append(ended, uncertain...), exitFailed},
	} {
		code, stdout, stderr := call(t, append([]string{"clean"}, strings.Fields(c.flags)...)...)
		got := removed()
		slices.Sort(got)
		slices.Sort(c.removes)
		if code != c.code || !slices.Equal(got, c.removes) {
			t.Errorf("clean %s: exit %d, %s, removed %q; want exit %d, %q", c.flags, code, stderr, got, c.code, c.removes)
		}
		if wrong := "remove the network net: "; strings.Contains(stderr, wrong) != (code != exitDone) || code != exitDone && !strings.Contains(stderr, "active endpoints") {
			t.Errorf("clean %s: %s", c.flags, stderr)
		}
		if strings.Contains(stdout, "foreign") || strings.Contains(stdout, "mine") {
			t.Errorf("clean %s lists what is not ours:\n%s", c.flags, stdout)
		}
	}

	_, stdout, _ := call(t, "clean")
	for _, want := range []string{
		"container ended 3 h 1.2 MB ended removed",
		"container alive 3 h 0.0 MB alive, process " + strconv.Itoa(os.Getpid()) + " kept: --force removes it",
		"container elsewhere 3 h 0.0 MB not known here kept: --force removes it",
		"network net 0 s - ended not removed",
		"image pollbench/node:latest 3 h 144.4 MB - kept: --images removes it",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " ")+" ", want+" ") {
			t.Errorf("no line %q in\n%s", want, stdout)
		}
	}
}

func TestCleanWithoutDocker(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	code, stdout, stderr := call(t, "clean")
	if code != exitFailed || stdout != "" || !strings.Contains(stderr, "there is no Docker engine at unix:///nowhere/docker.sock") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

const leavingBehind = "POLLBENCH_TEST_LEAVING_BEHIND"

// A real container whose process was killed. It is listed only: whatever other tests leave on purpose, at this moment, is not this one's to remove.
func TestCleanFindsWhatAKilledProcessLeft(t *testing.T) {
	if os.Getenv(leavingBehind) != "" {
		c, err := containers.Start(t.Context(), containers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("container " + c.Name())
		select {}
	}
	program := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	program.Env = append(os.Environ(), leavingBehind+"=1", "TMPDIR="+t.TempDir())
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	var name string
	var said strings.Builder
	for lines := bufio.NewScanner(out); name == "" && lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		name, _ = strings.CutPrefix(lines.Text(), "container ")
		if name == lines.Text() {
			name = ""
		}
	}
	if name == "" {
		_ = program.Wait()
		if slices.Contains(strings.Split(os.Getenv("POLLBENCH_REQUIRE"), ","), "docker") {
			t.Fatalf("POLLBENCH_REQUIRE has docker, but %s", said.String())
		}
		t.Skip(said.String())
	}
	line := func() string {
		t.Helper()
		code, stdout, stderr := call(t, "clean", "--dry-run")
		if code != exitDone {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		for l := range strings.Lines(stdout) {
			if fields := strings.Fields(l); len(fields) > 1 && fields[1] == name {
				return strings.Join(fields, " ")
			}
		}
		return ""
	}
	if l := line(); !strings.HasSuffix(l, fmt.Sprintf("alive, process %d kept: --force removes it", program.Process.Pid)) {
		t.Errorf("while it runs: %q", l)
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	if l := line(); !strings.HasSuffix(l, "ended to be removed") {
		t.Errorf("once it is killed: %q", l)
	}
	all, err := containers.Leftovers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.Name == name {
			if err := containers.Remove(t.Context(), l); err != nil {
				t.Error(err)
			}
		}
	}
	if l := line(); l != "" {
		t.Errorf("once it is removed: %q", l)
	}
}
