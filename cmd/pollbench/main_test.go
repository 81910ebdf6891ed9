package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pollbench/bench/plan"
	"pollbench/bench/record"
)

// call runs the program and returns its exit code and what it wrote.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// short is a run of a fraction of a second: the shortest that has each kind of cell.
const short = `
name: short
dashboard:
  panels:
    - count: 2
      delay: {sweep: 250ms}
repeats: 1
`

// Every failure exits with a code of its own kind and says what is wrong and where.
func TestFailures(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	occupied := filepath.Join(full, "file")
	scenario := write(t, short)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"fly", exitUsage, `unknown command or argument "fly"`},
		{"run nowhere", exitUsage, `no scenario "nowhere": neither shipped (sawtooth,`},
		{"run sawtoth", exitUsage, `no scenario "sawtoth": did you mean "sawtooth"? neither shipped (`},
		{"run smok.yaml", exitUsage, `no scenario "smok.yaml": did you mean "smoke"?`},
		{"run ./sawtooth", exitUsage, `no scenario "./sawtooth": did you mean "sawtooth"?`},
		{"run sawtooth --delays 0s", exitUsage, "0s"},
		{"run sawtooth --delays 5s..1s", exitUsage, "5s..1s"},
		{"run sawtooth --delays -1s", exitUsage, "-1s"},
		{"run sawtooth --delays 601s", exitUsage, "600"},
		{"run sawtooth --panels 0", exitUsage, "at least 1 panel"},
		{"run sawtooth --panels 1001", exitUsage, "1000"},
		{"run sawtooth --panels 1000", exitUsage, "100000"}, // 644 trials × 1000 panels
		{"run sawtooth --repeats 0", exitUsage, "at least once"},
		{"run sawtooth --protocols http4", exitUsage, "http4"},
		{"run sawtooth --strategies telepathy", exitUsage, "telepathy"},
		{"run sawtooth --spacing 1ms", exitUsage, "10ms"},
		{"run sawtooth --spacing soon", exitUsage, "soon"},
		{"run sawtooth --progress loud", exitUsage, "loud"},
		{"run http1-vice --delays 1s", exitUsage, "sweeps nothing"},
		{"run http1-vice --panels 3", exitUsage, "sweeps nothing"},
		{"run smoke smoke", exitUsage, "twice"},
		{"run " + scenario + " --out " + full, exitFailed, "not empty"},
		{"run " + scenario + " --out " + occupied, exitFailed, "not a directory"},
		{"plan one two", exitUsage, "one scenario at the most"},
		{"plan --seed x", exitUsage, `"x" for "--seed" flag: a seed is a whole number from 0 to 18446744073709551615`},
		{"run smoke --seed -1", exitUsage, "a seed is a whole number from 0"},
		{"serve --seed 1.5", exitUsage, "a seed is a whole number from 0"},
		{"simulate --rtt -1s", exitUsage, "0s to 1m0s"},
		{"simulate --rtt 100h", exitUsage, "0s to 1m0s"},
		{"plan --spacing 2000000h", exitUsage, "the most is 1m0s"},
		{"plan /dev/zero", exitUsage, "/dev/zero:1:1"},
		{"report", exitUsage, "a result folder"},
		{"report " + full + "/missing", exitFailed, "no such file"},
		{"report " + full, exitFailed, "not a result folder"},
		{"report " + full + " --format runes", exitUsage, "text, markdown, json, csv"},
		{"plot " + full, exitFailed, "not a result folder"},
		{"plot " + full + " --format gif", exitUsage, "svg or png"},
		{"publish --results " + full, exitFailed, "make bench"},
		{"version now", exitUsage, `"now"`},
	} {
		code, stdout, stderr := call(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: exit %d, %q, standard output %q; want exit %d, %q", c.args, code, stderr, stdout, c.code, c.want)
		}
	}
}

func TestScenarioErrorsHaveAPlace(t *testing.T) {
	path := write(t, "name: test\ndashboard:\n  panels:\n    - count: 0\n      delay: 1s\nprotocols: [http1, h9]\nflavour: sweet\n")
	code, _, stderr := call(t, "run", path)
	for _, place := range []string{":4:", ":6:", ":7:"} {
		if !strings.Contains(stderr, path+place) {
			t.Errorf("no problem at %s in %s", place, stderr)
		}
	}
	if code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// One real run, then everything that can be made from its folder.
func TestRunAndAfter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	code, stdout, stderr := call(t, "run", write(t, short), "--out", dir, "--json", "--progress", "none")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if apart := manifestIn(t, dir).Plan.Spacing.Duration; apart != plan.DefaultSpacing {
		t.Errorf("loads start %v apart", apart)
	}
	kept, err := os.ReadFile(filepath.Join(dir, record.AnalysisFile))
	if err != nil || string(kept) != stdout {
		t.Errorf("standard output is not the folder's analysis: %v", err)
	}
	var a struct {
		Schema string
		Cells  []struct{ Finished int }
	}
	if err := json.Unmarshal(kept, &a); err != nil || a.Schema != "pollbench/analysis/1" || len(a.Cells) != 4 {
		t.Fatalf("analysis %+v, %v", a, err)
	}
	for _, c := range a.Cells {
		if c.Finished != 1 {
			t.Errorf("%d finished trials", c.Finished)
		}
	}
	if _, again, _ := call(t, "report", dir, "--format", "json"); again != stdout {
		t.Error("report --format json is not what run printed")
	}
	for _, format := range []string{"text", "markdown", "csv"} {
		if code, text, stderr := call(t, "report", dir, "--format", format); code != exitDone || !strings.Contains(text, "traditional") {
			t.Errorf("report as %s: exit %d, %s", format, code, stderr)
		}
	}
	charts := t.TempDir()
	code, stdout, stderr = call(t, "plot", dir, "--format", "svg", "--out", charts)
	if code != exitDone || !strings.Contains(stdout, "waterfall-traditional-h2.svg") {
		t.Errorf("plot: exit %d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := call(t, "run", write(t, short), "--out", dir); code != exitFailed || !strings.Contains(stderr, "not empty") {
		t.Errorf("a second run into the same folder: exit %d, %s", code, stderr)
	}
}

// A run that is interrupted before anything was measured says so; one that measured something keeps it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"run", write(t, short), "--out", filepath.Join(t.TempDir(), "r"), "--progress", "none"}, &out, &errs)
	if code != exitInterrupted || !strings.Contains(errs.String(), "nothing was measured") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	dir := filepath.Join(t.TempDir(), "r")
	long := strings.Replace(short, "250ms", "[250ms, 60s]", 1)
	go func() {
		for !hasLine(filepath.Join(dir, record.ObservationsFile)) {
			if ctx.Err() != nil {
				return
			}
		}
		cancel()
	}()
	out.Reset()
	errs.Reset()
	code = run(ctx, []string{"run", write(t, long), "--out", dir, "--progress", "none", "--json"}, &out, &errs)
	if code != exitInterrupted || !strings.Contains(errs.String(), "are kept in") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if !strings.Contains(out.String(), "planned trials have no observation: the run was interrupted") {
		t.Errorf("the analysis does not say that it was interrupted")
	}
}

func hasLine(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.ContainsRune(text, '\n')
}

func TestPlanIsTheSeeds(t *testing.T) {
	_, one, _ := call(t, "plan", "smoke", "--seed", "7")
	_, two, _ := call(t, "plan", "smoke", "--seed", "7")
	_, three, _ := call(t, "plan", "smoke", "--seed", "8")
	if one != two || one == three || strings.Count(one, "\n") != 17 {
		t.Errorf("plans of seeds 7, 7 and 8:\n%s\n%s\n%s", one, two, three)
	}
	var p struct{ Trials []struct{ Strategy string } }
	if _, text, _ := call(t, "plan", "smoke", "--json"); json.Unmarshal([]byte(text), &p) != nil || len(p.Trials) != 16 {
		t.Errorf("plan as JSON: %s", text)
	}
}

// The model alone: Kibana's table wastes 2.2 s of 8.2 s at 6 s.
func TestSimulate(t *testing.T) {
	code, text, _ := call(t, "simulate", "sawtooth", "--delays", "6s", "--protocols", "h2")
	if code != exitDone || !strings.Contains(text, "8.200 s") || !strings.Contains(text, "26.8 %") {
		t.Errorf("exit %d:\n%s", code, text)
	}
}

// Each command's help has an example, and each example's flags exist.
func TestHelp(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example or no description", c.Name())
		}
		for line := range strings.Lines(c.Example) {
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "pollbench" || words[1] != c.Name() {
				t.Errorf("%s: example %q", c.Name(), line)
				continue
			}
			found, rest, err := newRoot().Find(words[1:])
			if err != nil || found.ParseFlags(rest) != nil {
				t.Errorf("%s: example %q does not parse", c.Name(), line)
			}
		}
		if code, text, _ := call(t, c.Name(), "--help"); code != exitDone || !strings.Contains(text, c.Example) {
			t.Errorf("%s --help: exit %d", c.Name(), code)
		}
	}
}

func TestListAndVersion(t *testing.T) {
	if code, text, _ := call(t, "list"); code != exitDone || !strings.Contains(text, "sawtooth-fine") || !strings.Contains(text, "long-first-wait") {
		t.Errorf("list: exit %d\n%s", code, text)
	}
	if code, text, _ := call(t, "version"); code != exitDone || !strings.HasPrefix(text, "pollbench "+version) {
		t.Errorf("version: exit %d, %s", code, text)
	}
}
