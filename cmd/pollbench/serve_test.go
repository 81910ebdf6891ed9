package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgram in the environment makes the test's binary the program itself, for what cannot be seen from within the process.
const asProgram = "POLLBENCH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(withTemporary(m.Run))
}

// withTemporary gives the tests a folder for temporary files, which must be empty again when they have ended. It is one for all of them, so that they may run
// at the same time.
func withTemporary(tests func() int) int {
	dir, err := os.MkdirTemp("", "pollbench-test-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	code := 1
	if err == nil {
		code = tests()
		var left []os.DirEntry
		if left, err = os.ReadDir(dir); len(left) > 0 {
			err = fmt.Errorf("left behind: %v", left)
		}
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// need skips a test whose program is missing.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		unmet(t, program, err)
	}
	return path
}

// unmet skips a test for what is not here, unless POLLBENCH_REQUIRE, a list parted by commas, names it, as on machines that must have it.
func unmet(t *testing.T, what string, err error) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("POLLBENCH_REQUIRE"), ","), what) {
		t.Fatalf("POLLBENCH_REQUIRE has %s, but %v", what, err)
	}
	t.Skipf("%v (POLLBENCH_REQUIRE=%s makes that a failure)", err, what)
}

func TestServeAnswers(t *testing.T) {
	t.Parallel()
	s := serveJSON(t)
	var keys map[string]string
	if err := json.Unmarshal([]byte(s.first), &keys); err != nil || len(keys) != 3 {
		t.Errorf("keys %v, %v; want elasticsearch, dashboard and ca_file", keys, err)
	}
	if !filepath.IsAbs(s.CAFile) || !strings.HasPrefix(s.CAFile, os.Getenv("TMPDIR")) {
		t.Errorf("CA file %s is no temporary file", s.CAFile)
	}
	if status, _ := s.get(t, "HTTP/1.1", s.Elasticsearch); status != http.StatusOK {
		t.Errorf("Elasticsearch: status %d", status)
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		if status, spoken := s.get(t, protocol, s.Dashboard+"/api/status"); status != http.StatusOK || spoken != protocol {
			t.Errorf("dashboard over %s: status %d over %s", protocol, status, spoken)
		}
	}
	s.stop(t)
}

// The certificate names every address by which this machine's servers are called.
func TestServeCertificate(t *testing.T) {
	t.Parallel()
	s := serveJSON(t, "--listen", "127.0.0.2")
	if !strings.HasPrefix(s.Dashboard, "https://127.0.0.2:") {
		t.Errorf("the dashboard server is at %s", s.Dashboard)
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.Dashboard, "https://"), s.client(t, "HTTP/1.1").Transport.(*http.Transport).TLSClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close() // the server waits for open connections at its end
	for _, name := range []string{"127.0.0.1", "::1", "localhost", "127.0.0.2"} {
		if err := conn.ConnectionState().PeerCertificates[0].VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	s.stop(t)
	if strings.Contains(s.stderr.String(), "warning") {
		t.Errorf("a warning about a loopback address: %s", s.stderr)
	}
}

// Listening for everybody is told, and reached at the loopback address.
func TestServeOpenToOthers(t *testing.T) {
	t.Parallel()
	s := serveJSON(t, "--listen", "0.0.0.0")
	if status, _ := s.get(t, "HTTP/2.0", s.Dashboard+"/api/status"); status != http.StatusOK || !strings.HasPrefix(s.Dashboard, "https://127.0.0.1:") {
		t.Errorf("%s: status %d", s.Dashboard, status)
	}
	s.stop(t)
	if !strings.Contains(s.stderr.String(), "warning: 0.0.0.0 is no loopback address") {
		t.Errorf("no warning: %s", s.stderr)
	}
}

func TestServeSignals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		s := serveJSON(t)
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		s.end(t)
	}
}

// A named CA file stays when the servers have ended.
func TestServeNamedCAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ca of mine.pem")
	s := serveJSON(t, "--ca-file", path)
	if s.CAFile != path {
		t.Errorf("CA file %s, want %s", s.CAFile, path)
	}
	s.client(t, "HTTP/1.1") // it reads the file
	s.stop(t)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// A request that never ends keeps the program from ending for a while. The second signal does not wait for it.
func TestServeSecondSignal(t *testing.T) {
	t.Parallel()
	const tries = 5 // a machine that stalls for that while sends the second signal too late
	var state *os.ProcessState
	for range tries {
		if state = signalledTwice(t); state.Sys().(syscall.WaitStatus).Signaled() {
			return
		}
	}
	t.Errorf("it ended by itself, %d times: %v", tries, state)
}

// signalledTwice is how the program ends that is signalled while a request is under way, and again when it says that it ends.
func signalledTwice(t *testing.T) *os.ProcessState {
	t.Helper()
	program := exec.Command(os.Args[0], "serve", "--json")
	program.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+t.TempDir())
	out, err := program.StdoutPipe()
	stderr, failed := program.StderrPipe()
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	s := &served{}
	if err := errors.Join(err, json.Unmarshal(line, &s.addresses)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.Dashboard, "https://"), s.client(t, "HTTP/1.1").Transport.(*http.Transport).TLSClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /internal/search/ese HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for said := bufio.NewScanner(stderr); said.Scan() && !strings.HasSuffix(said.Text(), "ending"); {
	}
	done := make(chan error, 1)
	go func() { done <- program.Wait() }()
	for {
		_ = program.Process.Signal(syscall.SIGTERM) // it fails once the program has ended
		select {
		case <-done:
			return program.ProcessState
		case <-time.After(100 * time.Millisecond): // it says that it ends a moment before the next signal would kill it
		}
	}
}

// A signal before the servers are up ends the command as well as one after that.
func TestServeInterruptedAtStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"serve", "--json"}, &out, &errs); code != exitDone || out.Len() > 0 {
		t.Errorf("exit %d: %s%s", code, &out, &errs)
	}

	// With such a round trip the dashboard server's first answer takes half a minute.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	ended := make(chan int, 1)
	read, write := io.Pipe()
	go func() {
		ended <- run(ctx, []string{"serve", "--json", "--rtt", "10s", "--ca-file", ca}, &out, write)
		_ = write.Close()
	}()
	said := bufio.NewScanner(read)
	for said.Scan() {
		if strings.HasSuffix(said.Text(), "starting") {
			cancel()
		}
	}
	if code := <-ended; code != exitDone || out.Len() > 0 {
		t.Errorf("exit %d: %s", code, &out)
	}
	nothingIn(t, filepath.Dir(ca))
}

func TestServeBadInput(t *testing.T) {
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := busy.Addr().(*net.TCPAddr).Port
	nowhere := filepath.Join(t.TempDir(), "missing", "ca.pem")
	taken := fmt.Sprintf("127.0.0.1:%d: address already in use: end what listens there, or choose another port with ", port)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"now", exitUsage, `"now"`},
		{"--elasticsearch-port 65536", exitUsage, "--elasticsearch-port 65536: a port is from 0"},
		{"--dashboard-port -1", exitUsage, "--dashboard-port -1: a port is from 0"},
		{"--dashboard-port http", exitUsage, "invalid argument"},
		{"--dashboard-port 9200 --elasticsearch-port 9200", exitUsage, "--elasticsearch-port has that port already"},
		{"--edge-port 9200", exitUsage, "choose one with --edge"},
		{"--edge edge-h3", exitUsage, `--edge "edge-h3": choose edge-h2, edge-http1 or edge-idle-timeout=10s`},
		{"--edge direct", exitUsage, `--edge "direct": choose`},
		{"--edge edge-h2=1s", exitUsage, `choose edge-h2`},
		{"--edge edge-idle-timeout", exitUsage, "or edge-idle-timeout=10s"},
		{"--edge edge-idle-timeout=0s", exitUsage, "1ms to 600s"},
		{"--edge edge-idle-timeout=soon", exitUsage, "or edge-idle-timeout=10s"},
		{"--rtt -1s", exitUsage, "--rtt -1s: a round trip takes 0s to 10s"},
		{"--elasticsearch-rtt 11s", exitUsage, "--elasticsearch-rtt 11s: a round trip"},
		{"--rtt 100ms --jitter 51ms", exitUsage, "--jitter 51ms: take 0s to half of --rtt, 50ms"},
		{"--elasticsearch-jitter 1ms", exitUsage, "half of --elasticsearch-rtt, 0s"},
		{"--bandwidth 256", exitUsage, "256KiB/s"},
		{"--bandwidth 1023B/s", exitUsage, "at least 1KiB/s"},
		{"--bandwidth 99999999999999999999B/s", exitUsage, "99999999999999999999"},
		{"--cut 1.1", exitUsage, "--cut 1.1: a probability is from 0 to 1"},
		{"--elasticsearch-cut NaN", exitUsage, "--elasticsearch-cut NaN"},
		{"--on-disconnect panic", exitUsage, `--on-disconnect "panic": choose cancel or keep`},
		{"--listen nowhere", exitUsage, `--listen "nowhere": not an IP address such as`},
		{"--listen fe80::1%lo", exitUsage, "not an IP address"},
		{"--cut 2 --listen nowhere", exitUsage, "--cut 2"}, // all at once
		{"--cut 2 --listen nowhere", exitUsage, `"nowhere"`},
		{"--listen 192.0.2.1", exitFailed, "an address that this machine has"}, // reserved for documentation, by RFC 5737
		{fmt.Sprintf("--elasticsearch-port %d", port), exitFailed, "listen for Elasticsearch on " + taken + "--elasticsearch-port"},
		{fmt.Sprintf("--dashboard-port %d", port), exitFailed, "listen for the dashboard server on " + taken + "--dashboard-port"},
		{fmt.Sprintf("--edge edge-h2 --edge-port %d", port), exitFailed, "listen for the edge on " + taken + "--edge-port"},
		{"--ca-file " + nowhere, exitFailed, "write CA certificate: open " + nowhere + ": no such file or directory (choose where with --ca-file)"},
		{"--ca-file " + os.TempDir(), exitFailed, "is a directory"},
	} {
		code, stdout, stderr := call(t, append([]string{"serve", "--json"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: exit %d, %q, standard output %q; want exit %d, %q", c.args, code, stderr, stdout, c.code, c.want)
		}
	}

	// A port that was free is free again when another is taken.
	host, first := freed(t)
	another, err := net.Listen("tcp4", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	_, second, _ := net.SplitHostPort(another.Addr().String())
	code, _, stderr := call(t, "serve", "--listen", host, "--elasticsearch-port", first, "--dashboard-port", second)
	free, err := net.Listen("tcp4", net.JoinHostPort(host, first))
	if err != nil || code != exitFailed {
		t.Fatalf("exit %d: %s%v", code, stderr, err)
	}
	_ = free.Close()
}

// The commands that are printed are pasted into a shell, as they are and in order.
func TestServeCurl(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	s := serveHere(t)
	var script strings.Builder
	for line := range strings.Lines(s.first) {
		if command, ok := strings.CutPrefix(line, "  "); ok {
			script.WriteString(command)
		}
	}
	// Status, result and deletion from Elasticsearch, result and deletion from the dashboard server over each protocol.
	wanted := map[string]int{
		`"is_running":true`: 1, `"is_running":false`: 3, `"acknowledged":true`: 1, "HTTP/1.1 200 after": 5, "HTTP/2 200 after": 2,
	}
	var text []byte
	var err error
	got := map[string]int{}
	// A machine that stalls for 3 s finds the search's end where it was to be seen running, or already in the answer that was to give its id.
	for try := 0; try < 3 && (err != nil || !maps.Equal(got, wanted)); try++ {
		shell := exec.Command("sh", "-e", "-c", script.String())
		for _, set := range os.Environ() {
			// Somebody's proxy could not reach this machine's loopback address.
			if name, _, _ := strings.Cut(set, "="); !strings.HasSuffix(strings.ToLower(name), "_proxy") {
				shell.Env = append(shell.Env, set)
			}
		}
		text, err = shell.CombinedOutput()
		for part := range wanted {
			got[part] = strings.Count(string(text), part)
		}
	}
	if err != nil || !maps.Equal(got, wanted) {
		t.Errorf("%v; there is %v, want %v, in:\n%s\n%s", err, got, wanted, text, script.String())
	}
	s.stop(t)
}
