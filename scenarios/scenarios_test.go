package scenarios

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
)

func TestShipped(t *testing.T) {
	// The sizes are those of the issue that asks for the files: trials are delays × strategies × protocols × repeats.
	for _, want := range []struct {
		name                   string
		delays, trials, panels int
		first, last            time.Duration
	}{
		{"sawtooth", 23, 23 * 2 * 2 * 7, 10, time.Second, 23 * time.Second},
		{"sawtooth-fine", 221, 221 * 2 * 1 * 1, 4, time.Second, 23 * time.Second},
		{"http1-vice", 1, 2 * 2 * 7, 6 + 6, 0, 0},
		{"smoke", 2, 2 * 2 * 2 * 2, 4, time.Second, 2 * time.Second},
	} {
		t.Run(want.name, func(t *testing.T) {
			s := decode(t, want.name)
			if s.Name != want.name {
				t.Errorf("the file of %s holds %s", want.name, s.Name)
			}
			sweep := s.Sweep()
			if len(sweep) != want.delays || sweep[0].Duration != want.first || sweep[len(sweep)-1].Duration != want.last {
				t.Errorf("sweep %v", sweep)
			}
			if got := len(sweep) * len(s.Strategies) * len(s.Protocols) * s.Repeats; got != want.trials {
				t.Errorf("%d trials, want %d", got, want.trials)
			}
			if got := len(s.Panels(sweep[0])); got != want.panels {
				t.Errorf("%d panels, want %d", got, want.panels)
			}
			if len(s.Strategies) != 2 || s.Base != "traditional" || s.Strategies[1].Name != "continuous" {
				t.Errorf("base %s, strategies %v", s.Base, s.Strategies)
			}
		})
	}
}

func TestViceHasSlowPanelsFirst(t *testing.T) {
	s := decode(t, "http1-vice")
	panels := s.Panels(clock.Seconds{})
	for i, want := range []int{10, 10, 10, 10, 10, 10, 1, 1, 1, 1, 1, 1} { // seconds
		if panels[i].Delay.Duration != time.Duration(want)*time.Second {
			t.Errorf("panel %d takes %v, want %d s", i, panels[i].Delay, want)
		}
	}
	if s.Bystanders == nil || s.Bystanders.Every.Duration != 500*time.Millisecond || s.Bystanders.Size != 200 {
		t.Errorf("bystanders %v", s.Bystanders)
	}
}

func TestEveryFileIsListed(t *testing.T) {
	found, err := fs.Glob(files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range Names() {
		want = append(want, name+".yaml")
	}
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("files %v, listed %v", found, want)
	}
}

func TestEveryFileSaysWhatItAsks(t *testing.T) {
	for _, name := range Names() {
		source, _ := Source(name)
		lines := strings.Split(string(source), "\n")
		if !strings.HasPrefix(lines[0], "# ") || !strings.Contains(lines[0], "?") || !strings.HasSuffix(lines[1], "seconds.") {
			t.Errorf("%s begins with %q and %q", name, lines[0], lines[1])
		}
	}
}

func TestUnknownName(t *testing.T) {
	for _, name := range []string{"", "nope", "smoke.yaml", "../scenarios/smoke"} {
		if source, ok := Source(name); ok || source != nil {
			t.Errorf("Source(%q) is there", name)
		}
	}
}

func decode(t *testing.T, name string) scenario.Scenario {
	t.Helper()
	source, ok := Source(name)
	if !ok {
		t.Fatalf("no scenario %s", name)
	}
	s, err := scenario.Decode(name+".yaml", source)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
