package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

const k6Folder = "../../scenarios/k6"

// The script for k6 is a module that parses, and imports nothing but k6's public modules.
//
// k6 cannot be had here, so that its script is held against a parser of ours, everywhere, and against a stand-in for k6 where there is node. The parser
// comes as a small Go module without dependencies, kept up for the minifier that Hugo uses. esbuild's is as good, but its module is fourteen times as large,
// and every check of this project would compile it; goja, which k6's own engine comes from, does not take modules.
func TestK6ScriptParses(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(k6Folder, "dashboard.js"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := js.Parse(parse.NewInputBytes(text), js.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var imported, exported []string
	for _, statement := range module.List {
		switch s := statement.(type) {
		case *js.ImportStmt:
			imported = append(imported, strings.Trim(string(s.Module), `'"`))
		case *js.ExportStmt:
			var written strings.Builder
			s.JS(&written)
			exported = append(exported, strings.Fields(written.String())[1])
		}
	}
	slices.Sort(imported)
	if want := []string{"k6", "k6/http", "k6/metrics", "k6/timers"}; !slices.Equal(imported, want) {
		t.Errorf("it imports %v, want %v", imported, want)
	}
	if want := []string{"const", "default"}; !slices.Equal(exported, want) {
		t.Errorf("it exports %v, want %v: options and the iteration", exported, want)
	}
}

// The README names every setting of the script, and commands that there are.
func TestK6Readme(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(k6Folder, "dashboard.js"))
	readme, missing := os.ReadFile(filepath.Join(k6Folder, "README.md"))
	if err := errors.Join(err, missing); err != nil {
		t.Fatal(err)
	}
	settings := regexp.MustCompile(`(?:(?:text|count|duration)\('|__ENV\.)([A-Z_]+)`).FindAllSubmatch(script, -1)
	if len(settings) != 9 {
		t.Errorf("%d settings found in the script", len(settings))
	}
	for _, s := range settings {
		if !bytes.Contains(readme, []byte("`"+string(s[1])+"`")) {
			t.Errorf("README.md does not name %s", s[1])
		}
	}
	commands := regexp.MustCompile("pollbench serve ([^\n`]+)").FindAllSubmatch(append(script, readme...), -1)
	if len(commands) != 3 {
		t.Errorf("%d commands found", len(commands))
	}
	for _, c := range commands {
		if err := newServe().ParseFlags(strings.Fields(string(c[1]))); err != nil {
			t.Errorf("pollbench serve %s: %v", c[1], err)
		}
	}
}

// standIn puts the script and what stands in for k6 where node finds them.
func standIn(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	modules := os.DirFS(filepath.Join(k6Folder, "testdata", "k6"))
	err := os.CopyFS(filepath.Join(folder, "node_modules", "k6"), modules)
	for from, to := range map[string]string{"dashboard.js": "dashboard.mjs", "testdata/run.mjs": "run.mjs"} {
		text, missing := os.ReadFile(filepath.Join(k6Folder, from))
		err = errors.Join(err, missing, os.WriteFile(filepath.Join(folder, to), text, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// k6Result is what the stand-in prints.
type k6Result struct {
	Metrics struct {
		Checks []float64 // 1 for each that passed, 0 for each that did not
		Load   []float64 `json:"dashboard_load"` // in milliseconds, as all times
		Wasted []float64 `json:"wasted_time"`
		Slot   []float64 `json:"slot_wait"`
		Polls  []float64
	}
	Missed       []string // thresholds
	MostInFlight int      `json:"most_in_flight"`
}

// playK6 runs the script with these settings.
func playK6(t *testing.T, folder string, settings ...string) (code int, result k6Result, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	node := exec.CommandContext(t.Context(), "node", "run.mjs", "dashboard.mjs")
	node.Dir, node.Stdout, node.Stderr = folder, &out, &errs
	node.Env = append([]string{"PATH=" + os.Getenv("PATH")}, settings...)
	err := node.Run()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &result); err != nil {
			t.Fatalf("%s: %v", &out, err)
		}
	}
	return node.ProcessState.ExitCode(), result, errs.String()
}

// The script's dashboards load from the servers, wait as its strategy does, and are measured.
func TestK6ScriptPlays(t *testing.T) {
	t.Parallel()
	need(t, "node")
	s := serveJSON(t)
	folder := standIn(t)
	const http1 = "GODEBUG=http2client=0"
	// Searches take 1 s. The pure times: a submit's 200 ms, then sleeps of 300 ms while the search is younger than 1.5 s.
	t.Run("side by side", func(t *testing.T) {
		for _, c := range []struct {
			name     string
			settings []string
			panels   int
			inFlight int
			polls    int     // of one search, at most; at least some of the searches have polls
			load     float64 // how long one takes at least
		}{
			// By 0.5, 0.8 and 1.1 s at the earliest: the third finds the result in any case.
			{"traditional, h2", []string{"STRATEGY=traditional"}, 8, 8, 3, 1000},
			{"fallback, HTTP/1.1", []string{"STRATEGY=fallback", http1}, 4, 6, 3, 1000}, // 6 connections are opened
			{"continuous, h2", []string{"STRATEGY=continuous"}, 8, 8, 1, 1000},
			// The 7th and 8th submit wait 200 ms for a slot, and their searches begin then.
			{"continuous, HTTP/1.1", []string{"STRATEGY=continuous", http1}, 8, 6, 1, 1200},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				const loads = 2
				code, r, stderr := playK6(t, folder, append(c.settings, "BASE_URL="+s.Dashboard, "SSL_CERT_FILE="+s.CAFile,
					"DELAY=1s", "LOADS=2", "PAUSE=0s", "ALLOWANCE=30s", "PANELS="+strconv.Itoa(c.panels))...)
				m := r.Metrics
				searches := loads * c.panels
				if code != 0 || len(r.Missed) > 0 {
					t.Fatalf("exit %d, thresholds missed: %v: %s", code, r.Missed, stderr)
				}
				if len(m.Load) != loads || len(m.Wasted) != searches || len(m.Checks) != loads+searches || slices.Min(m.Checks) != 1 {
					t.Errorf("%d loads, %d searches, checks %v", len(m.Load), len(m.Wasted), m.Checks)
				}
				// A millisecond for the two instants that are cut to whole ones.
				if slices.Min(m.Load) < c.load-1 {
					t.Errorf("loads of %v ms, want %v or more", m.Load, c.load)
				}
				// On a busy machine a submit may be answered so late that its search has ended.
				if n := len(m.Polls); n == 0 || n > c.polls*searches {
					t.Errorf("%d polls for %d searches, want %d for each at most", n, searches, c.polls)
				}
				if len(m.Slot) != searches+len(m.Polls) {
					t.Errorf("%d waits for a slot, want one for each of %d submits and %d polls", len(m.Slot), searches, len(m.Polls))
				}
				if r.MostInFlight != c.inFlight {
					t.Errorf("%d requests at once, want %d", r.MostInFlight, c.inFlight)
				}
				// The slowest search is the load; what is not wasted of it is its own time, which the server tells.
				for i, load := range m.Load {
					wasted := slices.Max(m.Wasted[i*c.panels : (i+1)*c.panels])
					if own := load - wasted; wasted < c.load-1000-1 || own < 1000-1 {
						t.Errorf("a load of %v ms with %v ms wasted", load, wasted)
					}
				}
			})
		}
	})
	s.stop(t)
}

// What goes wrong is a failed check and a missed threshold, not a silence; a wrong setting is told before anything runs.
func TestK6ScriptFails(t *testing.T) {
	t.Parallel()
	need(t, "node")
	s := serveJSON(t, "--edge", "edge-idle-timeout=3s")
	folder := standIn(t)
	play := func(settings ...string) (int, k6Result, string) {
		return playK6(t, folder, append([]string{"SSL_CERT_FILE=" + s.CAFile, "BASE_URL=" + s.Dashboard, "PANELS=2", "DELAY=300ms", "LOADS=1", "PAUSE=0s"}, settings...)...)
	}
	// The edge ends each long poll.
	code, r, _ := play("BASE_URL="+s.Edge, "STRATEGY=continuous", "DELAY=9s")
	if m := r.Metrics; code != 99 || !slices.Equal(r.Missed, []string{"checks rate==1"}) || len(m.Load)+len(m.Wasted) > 0 || !slices.Equal(m.Checks, []float64{1, 0, 0}) {
		t.Errorf("behind an impatient edge: exit %d, %+v", code, r)
	}
	// Without the CA file nobody is trusted, unless that is wanted.
	if code, r, _ := play("SSL_CERT_FILE="); code != 99 || !slices.Equal(r.Metrics.Checks, []float64{0}) {
		t.Errorf("without a CA: exit %d, %+v", code, r)
	}
	if code, r, stderr := play("SSL_CERT_FILE=", "INSECURE=1", "ALLOWANCE=30s"); code != 0 || len(r.Metrics.Load) != 1 {
		t.Errorf("without a CA, insecure: exit %d, %+v, %s", code, r, stderr)
	}
	if code, r, _ := play("ALLOWANCE=0ms"); code != 99 || !slices.Equal(r.Missed, []string{"dashboard_load p(95)<300", "wasted_time avg<0"}) {
		t.Errorf("with no allowance: exit %d, %+v", code, r.Missed)
	}
	for setting, want := range map[string]string{
		"STRATEGY=telepathy":            `STRATEGY "telepathy": set it to traditional, continuous or fallback`,
		"BASE_URL=":                     `BASE_URL "": set it to an address such as https://127.0.0.1:5601`,
		"BASE_URL=" + s.Dashboard + "/": "set it to an address such as",
		"PANELS=0":                      "PANELS 0: set it to a whole number of 1 to 1000",
		"PANELS=many":                   `PANELS "many"`,
		"DELAY=6":                       `DELAY "6": set it to a time such as 6s`,
		"LOADS=1000000":                 "LOADS 1000000",
	} {
		if code, r, stderr := play(setting); code != 107 || !strings.Contains(stderr, want) || r.Metrics.Checks != nil {
			t.Errorf("%s: exit %d, %s", setting, code, stderr)
		}
	}
	s.stop(t)
}
