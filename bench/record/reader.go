package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pollbench/bench/scenario"
)

// ErrEmpty says that a run has no complete observation: nothing can be reported from it.
var ErrEmpty = errors.New("no complete observation: the run ended before its first dashboard load did")

// ErrForeign says that a folder is none of ours.
var ErrForeign = errors.New("it is not a result folder of pollbench")

// Result is a result folder, read.
type Result struct {
	Manifest Manifest
	Trials   []Trial  // in the order in which they ended
	Warnings []string // what was left out
}

// Open reads a result folder.
func Open(dir string) (Result, error) {
	var r Result
	text, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Stat(dir); missing != nil {
			return r, fmt.Errorf("read result: %w", missing)
		}
		return r, fmt.Errorf("read result: %s has no %s: %w", dir, ManifestFile, ErrForeign)
	}
	if err != nil {
		return r, fmt.Errorf("read result: %w", err)
	}
	if r.Manifest, err = decodeManifest(text); err != nil {
		return r, fmt.Errorf("read %s: %w", filepath.Join(dir, ManifestFile), err)
	}
	file, err := os.Open(filepath.Join(dir, ObservationsFile))
	if err != nil {
		return r, fmt.Errorf("read result: %w", err)
	}
	defer file.Close()
	if err := r.read(file); err != nil {
		return r, fmt.Errorf("read %s: %w", filepath.Join(dir, ObservationsFile), err)
	}
	return r, nil
}

func decodeManifest(text []byte) (Manifest, error) {
	var m Manifest
	var head struct{ Schema string }
	if err := json.Unmarshal(text, &head); err != nil {
		return m, err
	}
	if head.Schema != Schema {
		return m, fmt.Errorf("schema is %q, this version reads %q: use the version of pollbench that wrote it", head.Schema, Schema)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	if _, err := m.Scenario.With(scenario.Overrides{}); err != nil {
		return m, fmt.Errorf("the scenario in it is not valid: %v", err) // its problems are no slip of the caller's
	}
	return m, nil
}

// read takes the complete lines. A torn last one is what a killed process leaves; torn ones before it are no accident of ours.
func (r *Result) read(from io.Reader) error {
	lines := bufio.NewReaderSize(from, 64<<10)
	seen := make([]bool, len(r.Manifest.Plan.Trials))
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 && err == io.EOF {
			break
		}
		_, more := lines.Peek(1)
		last := more == io.EOF
		var t Trial
		if err := json.Unmarshal(line, &t); err != nil {
			if last {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s: line %d is cut off and left out", ObservationsFile, n))
				break
			}
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := r.planned(t, seen); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		r.Trials = append(r.Trials, t)
		if last {
			break
		}
	}
	if len(r.Trials) == 0 {
		return ErrEmpty
	}
	return nil
}

// planned checks that the plan has this trial, and that it was not read before.
func (r *Result) planned(t Trial, seen []bool) error {
	if t.Trial < 0 || t.Trial >= len(seen) {
		return fmt.Errorf("trial %d is not in the plan of %d trials", t.Trial, len(seen))
	}
	p := r.Manifest.Plan.Trials[t.Trial]
	if p.Swept != t.Swept || p.Strategy != t.Strategy || p.Protocol != t.Protocol || p.Topology != t.Topology || p.Repeat != t.Repeat {
		return fmt.Errorf("trial %d is %s over %s, repeat %d, but planned as %s over %s, repeat %d",
			t.Trial, t.Strategy, t.Protocol, t.Repeat, p.Strategy, p.Protocol, p.Repeat)
	}
	if seen[t.Trial] {
		return fmt.Errorf("trial %d is there twice", t.Trial)
	}
	seen[t.Trial] = true
	return r.complete(t)
}

// complete checks that a load that is said to have gone well has what is needed to say how it went.
func (r *Result) complete(t Trial) error {
	if t.Outcome != OK {
		return nil
	}
	scenario := r.Manifest.Scenario
	if want := len(scenario.Panels(t.Swept, t.Repeat)) * scenario.Tabs.Number(); len(t.Searches) != want {
		return fmt.Errorf("trial %d has %d searches, its dashboards %d panels", t.Trial, len(t.Searches), want)
	}
	for i, s := range t.Searches {
		if s.Outcome == Hidden {
			continue
		}
		if s.Accepted < 0 || s.Start <= 0 || s.Start < s.Accepted || s.Ready < s.Start || s.Delivered < t.Intended || len(s.Requests) == 0 {
			return fmt.Errorf("trial %d, search %d: its instants are missing or out of order", t.Trial, i)
		}
	}
	return nil
}
