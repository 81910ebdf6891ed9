package scenarios

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/run"
	"pollbench/bench/scenario"
)

func TestShipped(t *testing.T) {
	// Trials are delays × strategies × protocols × repeats; of last-hop, strategies × protocols that the topologies carry (2 + 1 + 1).
	for _, want := range []struct {
		name                   string
		delays, trials, panels int
		first, last            time.Duration
	}{
		{"sawtooth", 23, 23 * 2 * 2 * 7, 10, time.Second, 23 * time.Second},
		{"sawtooth-fine", 221, 221 * 2 * 1 * 1, 4, time.Second, 23 * time.Second},
		{"http1-vice", 1, 2 * 2 * 7, 6 + 6, 0, 0},
		{"last-hop", 1, 4 * (2 + 1 + 1) * 7, 6 + 6, 0, 0},
		{"crowded-browser", 1, 2 * 2 * 7, 1 + 3, 0, 0},
		{"network", 4, 4 * 2 * 2 * 6 * 7, 4, 3 * time.Second, 12 * time.Second},
		{"mixed-dashboard", 1, 3 * 2 * 50, 12, 0, 0},
		{"idle-proxy", 1, 3 * 2 * 7, 4, 0, 0},
		{"saturated-node", 1, 2 * 7, 24, 0, 0},
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
			if got := len(sweep) * len(s.Variants()) * s.Repeats; got != want.trials {
				t.Errorf("%d trials, want %d", got, want.trials)
			}
			if got := len(s.Panels(sweep[0], 1)); got != want.panels {
				t.Errorf("%d panels, want %d", got, want.panels)
			}
			if s.Base != "traditional" || s.Strategies[0].Name != s.Base || s.Strategies[1].Name != "continuous" {
				t.Errorf("base %s, strategies %v", s.Base, s.Strategies)
			}
		})
	}
}

func TestViceHasSlowPanelsFirst(t *testing.T) {
	s := decode(t, "http1-vice")
	panels := s.Panels(clock.Seconds{}, 1)
	for i, want := range []int{10, 10, 10, 10, 10, 10, 1, 1, 1, 1, 1, 1} { // seconds
		if panels[i].Delay.Duration != time.Duration(want)*time.Second {
			t.Errorf("panel %d takes %v, want %d s", i, panels[i].Delay, want)
		}
	}
	if s.Bystanders == nil || s.Bystanders.Every.Duration != 500*time.Millisecond || s.Bystanders.Size != 200 {
		t.Errorf("bystanders %v", s.Bystanders)
	}
}

// The manifests of the result folders of these scenarios have these hashes, from before there were topologies, networks, tabs and faults.
func TestHashes(t *testing.T) {
	for name, want := range map[string]string{
		"sawtooth":      "559b721745fe87600cb9007cab1e5880269daff8d12ff53990d1a828ea1c1f79",
		"sawtooth-fine": "1ae3c087f191cc9610ea09b8eae007b77e213cf810dea4d9e9ffa775b102c109",
		"http1-vice":    "58e5eb94f809b8334af9263705ee24ac1ffb0c3369a56c0e674499e9477e275d",
		"smoke":         "bcffb380093f98b1d5aee8857c52d103c005b3a4e5eaba99d62b0834b4b6674b",
	} {
		if got := decode(t, name).Hash(); got != want {
			t.Errorf("%s has the hash %s, want %s", name, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	want, _ := Source("smoke")
	if got, err := File("smoke.yaml"); err != nil || string(got) != string(want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"nope.csv", "../scenarios.go", "scenarios.go"} {
		if _, err := File(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
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

// A file says how long it takes. What the model says of it is right to a tenth, and a second more that is not in it.
func TestEveryFileSaysHowLongItTakes(t *testing.T) {
	about := regexp.MustCompile(`about (\d+) seconds\.`)
	for _, name := range Names() {
		source, _ := Source(name)
		said := about.FindSubmatch(source)
		if said == nil {
			t.Errorf("%s does not say how many seconds it takes", name)
			continue
		}
		seconds, err := strconv.Atoi(string(said[1]))
		if err != nil {
			t.Fatal(err)
		}
		s := decode(t, name)
		lasts := run.Lasts(s, plan.New(s, plan.Options{Busy: run.Busy(s)}))
		if off := time.Duration(seconds)*time.Second - lasts; off.Abs() > lasts/10+time.Second {
			t.Errorf("%s is said to take about %d s, and takes %v", name, seconds, lasts)
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
	s, err := scenario.Decode(name+".yaml", source, File)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
