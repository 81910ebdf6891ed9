package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pollbench/bench/record"
)

// manifestIn is what a run has noted of its servers.
func manifestIn(t *testing.T, dir string) record.Manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, record.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	var m record.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Servers that run already are played against by their addresses, in every way that they can be given.
func TestRunOnServers(t *testing.T) {
	s := serveJSON(t)
	defer s.stop(t)
	t.Setenv(apiKeyVariable, "c2VjcmV0")
	for _, c := range []struct {
		args string
		kind string
		by   string
	}{
		{"--elasticsearch " + s.Elasticsearch, "elasticsearch", "server"},
		{"--elasticsearch " + s.Elasticsearch + " --delay-by gate --index pollbench", "elasticsearch", "gate"},
		{"--dashboard " + s.Dashboard + " --ca-file " + s.CAFile, "dashboard", "server"},
		{"--dashboard " + s.Dashboard + " --ca-file " + s.CAFile + " --elasticsearch " + s.Elasticsearch + " --max-searches 4", "dashboard", "server"},
	} {
		dir := filepath.Join(t.TempDir(), "result")
		args := append([]string{"run", write(t, short), "--out", dir, "--progress", "plain"}, strings.Fields(c.args)...)
		code, stdout, stderr := call(t, args...)
		if code != exitDone || !strings.Contains(stdout, "4 of 4 loads finished") {
			t.Errorf("%s: exit %d, %s%s", c.args, code, stdout, stderr)
			continue
		}
		m := manifestIn(t, dir)
		if m.Backend.Kind != c.kind || m.Backend.DelayImplementer != c.by || m.Backend.Product != "Elasticsearch" {
			t.Errorf("%s: %+v", c.args, m.Backend)
		}
		if wave := m.Plan.Trials[3].Wave; strings.Contains(c.args, "--max-searches 4") != (wave == 2) {
			t.Errorf("%s: the last load is of wave %d", c.args, wave)
		}
		for _, file := range []string{record.ManifestFile, record.ObservationsFile, record.AnalysisFile} {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil || strings.Contains(string(text), "c2VjcmV0") {
				t.Errorf("%s: a secret is in %s, or it is not there: %v", c.args, file, err)
			}
		}
	}
}

// What is not what it should be is told from what is: who answers, and the way out.
func TestWrongServers(t *testing.T) {
	s := serveJSON(t)
	defer s.stop(t)
	for args, want := range map[string]string{
		"--elasticsearch http://127.0.0.1:1":                                                           "connection refused",
		"--elasticsearch " + s.Dashboard + " --ca-file " + s.CAFile:                                    "this is not Elasticsearch",
		"--elasticsearch " + s.Dashboard:                                                               "certificate",
		"--dashboard " + s.Elasticsearch + " --protocols http1":                                        "this is no dashboard server",
		"--dashboard http" + strings.TrimPrefix(s.Dashboard, "https") + " --protocols http1":           "begin its address with https://",
		"--dashboard https" + strings.TrimPrefix(s.Elasticsearch, "http"):                              "look at dashboard server: it does not speak TLS: begin its address with http://",
		"--dashboard http://127.0.0.1:1 --protocols http1":                                             "look at dashboard server: nothing listens there: start Kibana, or give its address",
		"--dashboard " + s.Dashboard:                                                                   "--ca-file",
		"--dashboard " + s.Dashboard + " --ca-file " + s.CAFile + " --index nowhere":                   "there is no index nowhere",
		"--elasticsearch " + s.Elasticsearch + " --index nowhere":                                      "check index nowhere",
		"--dashboard " + s.Dashboard + " --ca-file " + s.CAFile + " --topology edge-h2 --protocols h2": "no edge stands in front",
		"--elasticsearch " + s.Elasticsearch + " --max-searches 1":                                     "no more than 1 are allowed at once: allow more with --max-searches",
		"--elasticsearch http://192.0.2.1:9200":                                                        "--allow-remote",
	} {
		dir := filepath.Join(t.TempDir(), "result")
		code, _, stderr := call(t, append([]string{"run", write(t, short), "--out", dir}, strings.Fields(args)...)...)
		if code != exitFailed && code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, no %q in %s", args, code, want, stderr)
		}
	}
}
