package record

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/scenario"
)

// result is a manifest of three trials and the observation of each.
func result() (Manifest, []Trial) {
	s, err := scenario.Decode("test.yaml", []byte("name: test\ndashboard: {panels: [{name: g, count: 1, delay: {sweep: [5s]}}]}\n"), nil)
	if err != nil {
		panic(err)
	}
	m := Manifest{Schema: Schema, Scenario: s}
	var trials []Trial
	for i := range 3 {
		swept := clock.Seconds{Duration: 5 * time.Second}
		m.Plan.Trials = append(m.Plan.Trials, plan.Trial{Trial: i, Swept: swept, Strategy: "continuous", Protocol: scenario.H2, Repeat: i + 1})
		trials = append(trials, Trial{
			Trial: i, Swept: swept, Strategy: "continuous", Protocol: scenario.H2, Repeat: i + 1, Outcome: OK, Intended: Time(1_000_000 + i), Connections: 1,
			Searches: []Search{{
				Group: "g", Delay: swept, Outcome: OK, Accepted: 1_000_050, Start: 1_000_100, Ready: 6_000_100, Delivered: 6_000_333,
				Requests: []Request{{Queued: 1_000_001, Slot: 1_000_002, Done: 6_000_300, Connection: 1, Protocol: "h2", Status: 200}},
			}},
			Bystanders: []Bystander{{Intended: 1_500_000, Request: Request{Queued: 1_500_000, Done: 1_500_700}}},
		})
	}
	return m, trials
}

func written(t *testing.T, m Manifest, trials []Trial) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	w, err := Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		if err := w.Append(tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRoundTrip(t *testing.T) {
	m, trials := result()
	got, err := Open(written(t, m, trials))
	if err != nil || len(got.Warnings) > 0 {
		t.Fatal(err, got.Warnings)
	}
	if !reflect.DeepEqual(got.Manifest, m) || !reflect.DeepEqual(got.Trials, trials) {
		t.Errorf("read\n%+v\nwritten\n%+v", got, trials)
	}
}

func TestManifestIsThereFirst(t *testing.T) {
	m, _ := result()
	dir := filepath.Join(t.TempDir(), "result")
	w, err := Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err != nil {
		t.Error(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrEmpty) {
		t.Errorf("a run without an observation: %v", err)
	}
}

// However a killed process leaves the last line, the lines before it count.
func TestCutOff(t *testing.T) {
	m, trials := result()
	dir := written(t, m, trials)
	path := filepath.Join(dir, ObservationsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	two := len(lines[0]) + len(lines[1])
	for cut := two; cut <= len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Open(dir)
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		want, warnings := 2, 1
		switch {
		case cut == two:
			warnings = 0
		case cut >= len(whole)-1: // only the line's end is missing
			want, warnings = 3, 0
		}
		if len(got.Trials) != want || len(got.Warnings) != warnings {
			t.Fatalf("cut after %d of %d bytes: %d trials, warnings %q", cut, len(whole), len(got.Trials), got.Warnings)
		}
	}
}

func TestRefused(t *testing.T) {
	m, trials := result()
	line := func(tr Trial) string {
		b, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	other := trials[1]
	other.Strategy = "another"
	far := trials[1]
	far.Trial = 99
	bare, early, taken := trials[1], trials[1], trials[1]
	bare.Searches = nil
	taken.Searches = []Search{{Outcome: OK, Accepted: 3, Start: 2, Ready: 4, Delivered: 2_000_000, Requests: []Request{{}}}}
	early.Searches = []Search{{Outcome: OK, Start: 5, Ready: 4, Delivered: 6, Requests: []Request{{}}}}
	for name, c := range map[string]struct{ observations, want string }{
		"no searches":    {line(bare), "has 0 searches, its dashboards 1 panels"},
		"accepted late":  {line(taken), "instants are missing or out of order"},
		"out of order":   {line(early), "instants are missing or out of order"},
		"broken line":    {line(trials[0]) + "{\n" + line(trials[1]), "line 2: "},
		"trial twice":    {line(trials[0]) + line(trials[0]), "trial 0 is there twice"},
		"not as planned": {line(other), "planned as continuous over h2"},
		"not planned":    {line(far), "trial 99 is not in the plan"},
		"nothing":        {"", ErrEmpty.Error()},
		"only half":      {line(trials[0])[:20], ErrEmpty.Error()},
	} {
		dir := written(t, m, nil)
		if err := os.WriteFile(filepath.Join(dir, ObservationsFile), []byte(c.observations), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	broken := m
	broken.Scenario.Base = "nobody"
	if _, err := Open(written(t, broken, trials)); err == nil || !strings.Contains(err.Error(), "the scenario in it is not valid") {
		t.Errorf("a manifest that was tampered with: %v", err)
	}
	m.Schema = "pollbench/result/2"
	if _, err := Open(written(t, m, trials)); err == nil || !strings.Contains(err.Error(), `"pollbench/result/2"`) {
		t.Errorf("another schema: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a result folder") {
		t.Errorf("a foreign folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestFolderInUse(t *testing.T) {
	m, trials := result()
	dir := written(t, m, trials)
	if _, err := Create(dir, m); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second result in the same folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, m); err == nil {
		t.Error("a file is taken for a folder")
	}
}

func TestWriteAnalysisReplaces(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"old", "new"} {
		if err := WriteAnalysis(dir, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, AnalysisFile)); err != nil || string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}
