package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pollbench/bench/record"
)

// before puts a handler before an Elasticsearch, which gets what the handler lets pass, and tells the handler's address.
func before(t *testing.T, elasticsearch string, handler func(w http.ResponseWriter, r *http.Request) (pass bool)) string {
	t.Helper()
	u, err := url.Parse(elasticsearch)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// What is left on a server is told, though the run itself is as good as any.
func TestRunTellsWhatIsLeft(t *testing.T) {
	s := serveJSON(t)
	defer s.stop(t)
	mean := before(t, s.Elasticsearch, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusForbidden)
		}
		return r.Method != http.MethodDelete
	})
	dir := filepath.Join(t.TempDir(), "result")
	code, _, stderr := call(t, "run", write(t, short), "--out", dir, "--progress", "none", "--elasticsearch", mean)
	if code != exitDone || !strings.Contains(stderr, "searches could not be deleted (status 403") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// More searches in a load than are allowed at once is a mistake on the command line: the server hears nothing of it.
func TestTooFewSearchesAllowed(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "result")
	for args, want := range map[string]string{
		"--elasticsearch " + server.URL + " --max-searches 1":          "no more than 1 are allowed at once: allow more with --max-searches",
		"--dashboard " + server.URL + " --protocols http1 --panels 51": "no more than 50 are allowed",
	} {
		code, _, stderr := call(t, append([]string{"run", write(t, short), "--out", dir}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(stderr, want) || asked.Load() > 0 {
			t.Errorf("%s: exit %d after %d requests: %s", args, code, asked.Load(), stderr)
		}
	}
}

// When another run that had made the index removes it, what was measured until then is analysed and kept, and the error says what to do.
func TestRunKeepsWhatItHasWhenTheIndexGoes(t *testing.T) {
	s := serveJSON(t)
	defer s.stop(t)
	dir := filepath.Join(t.TempDir(), "result")
	var once sync.Once
	remove := func() {
		r, err := http.NewRequest(http.MethodDelete, s.Elasticsearch+"/pollbench", nil)
		if err != nil {
			t.Error(err)
			return
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("remove the index: %v, %v", answer, err)
			return
		}
		_ = answer.Body.Close()
	}
	shared := before(t, s.Elasticsearch, func(http.ResponseWriter, *http.Request) bool {
		if kept, _ := os.ReadFile(filepath.Join(dir, record.ObservationsFile)); len(kept) > 0 {
			once.Do(remove)
		}
		return true
	})
	defer http.DefaultClient.CloseIdleConnections()
	code, stdout, stderr := call(t, "run", write(t, short), "--out", dir, "--progress", "none", "--elasticsearch", shared, "--max-searches", "2")
	if code != exitFailed || !strings.Contains(stdout, "of 4 loads finished") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	for _, want := range []string{"the loads that had ended are kept in " + dir, "removed the index pollbench", "--index"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
	for _, kept := range []string{record.ManifestFile, record.ObservationsFile, record.AnalysisFile} {
		if _, err := os.Stat(filepath.Join(dir, kept)); err != nil {
			t.Error(err)
		}
	}
}
