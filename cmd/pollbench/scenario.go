package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pollbench/bench/plan"
	bench "pollbench/bench/run"
	"pollbench/bench/scenario"
	"pollbench/scenarios"
)

// maxSpacing is far more than calms any machine.
const maxSpacing = time.Minute

// choice is what the flags say about a scenario and its plan.
type choice struct {
	delays     string
	panels     int
	strategies []string
	protocols  []string
	topologies []string
	repeats    int
	seed       uint64
	spacing    time.Duration
	alone      bool
	cmd        *cobra.Command
}

// chooseFlags adds the flags that change a scenario; planFlags those that arrange its trials.
func (c *choice) chooseFlags(cmd *cobra.Command) {
	c.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&c.delays, "delays", "", "`LIST` of delays for the swept group, e.g. 1s..23s, 1s,2s or 1s..3s/0.1s")
	f.IntVar(&c.panels, "panels", 0, "`COUNT` of panels in the swept group")
	f.StringSliceVar(&c.strategies, "strategies", nil, "`NAMES` of strategies, separated by commas")
	f.StringSliceVar(&c.protocols, "protocols", nil, "`NAMES` of protocols: http1, h2")
	f.StringSliceVar(&c.topologies, "topology", nil, "`NAMES` of topologies: direct, edge-h2, edge-http1, edge-idle-timeout=10s")
	f.IntVar(&c.repeats, "repeats", 0, "`COUNT` of loads in each cell")
	f.Var((*seed)(&c.seed), "seed", "`SEED` of all that is drawn: the order of the loads, delays that have a distribution, jitter and cuts")
}

func (c *choice) planFlags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&c.spacing, "spacing", 0, fmt.Sprintf("`TIME` between two starts, 10ms or more (default %v, on a real Elasticsearch %v)",
		plan.DefaultSpacing, plan.RealSpacing))
	cmd.Flags().BoolVar(&c.alone, "alone", false, "one load at a time instead of all at once")
}

// overrides are the flags that were given. A count of zero is what the caller asked for, not the absence of a wish.
func (c *choice) overrides() (scenario.Overrides, error) {
	o := scenario.Overrides{Panels: c.panels, Strategies: c.strategies, Protocols: c.protocols, Topologies: c.topologies, Repeats: c.repeats}
	given := c.cmd.Flags().Changed
	var errs []error
	if given("panels") && c.panels < 1 {
		errs = append(errs, fmt.Errorf("--panels %d: a dashboard has at least 1 panel", c.panels))
	}
	if given("repeats") && c.repeats < 1 {
		errs = append(errs, fmt.Errorf("--repeats %d: each cell is loaded at least once", c.repeats))
	}
	if given("strategies") && len(c.strategies) == 0 {
		errs = append(errs, errors.New("--strategies names none"))
	}
	if given("protocols") && len(c.protocols) == 0 {
		errs = append(errs, errors.New("--protocols names none"))
	}
	if given("topology") && len(c.topologies) == 0 {
		errs = append(errs, errors.New("--topology names none"))
	}
	if given("seed") {
		o.Seed = &c.seed
	}
	if given("delays") {
		var err error
		if o.Delays, err = scenario.ParseDelays(c.delays); err != nil {
			errs = append(errs, fmt.Errorf("--delays: %w", err))
		}
	}
	switch {
	case given("spacing") && c.spacing < plan.MinSpacing:
		errs = append(errs, fmt.Errorf("--spacing %v: starts closer than %v measure the processor", c.spacing, plan.MinSpacing))
	case c.spacing > maxSpacing:
		errs = append(errs, fmt.Errorf("--spacing %v: the most is %v", c.spacing, maxSpacing))
	}
	if len(errs) > 0 {
		return o, usage(errors.Join(errs...))
	}
	return o, nil
}

// scenario reads the named scenario, a shipped one or a file, with the flags applied.
func (c *choice) scenario(name string) (scenario.Scenario, error) {
	o, err := c.overrides()
	if err != nil {
		return scenario.Scenario{}, err
	}
	source, beside, err := source(name)
	if err != nil {
		return scenario.Scenario{}, err
	}
	s, err := scenario.Decode(name, source, beside)
	if err != nil {
		return s, err
	}
	return s.With(o)
}

// plan arranges the scenario's trials for a server that executes so many searches at once (0: any number), with its spacing unless there is a wish for another.
func (c *choice) plan(s scenario.Scenario, atOnce int, spacing time.Duration) plan.Plan {
	return plan.New(s, plan.Options{Spacing: cmp.Or(c.spacing, spacing), Alone: c.alone, AtOnce: atOnce, Busy: bench.Busy(s)})
}

// source is the scenario's text and what reads the files that it names: a shipped name beats a file; a path with a separator always means
// a file.
func source(name string) (text []byte, beside scenario.Files, err error) {
	if text, ok := scenarios.Source(name); ok {
		return text, scenarios.File, nil
	}
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		guess := ""
		if near := scenario.Nearest(strings.TrimSuffix(filepath.Base(name), ".yaml"), scenarios.Names()); near != "" {
			guess = fmt.Sprintf("did you mean %q? ", near)
		}
		return nil, nil, usage(fmt.Errorf("no scenario %q: %sneither shipped (%s) nor a file", name, guess, strings.Join(scenarios.Names(), ", ")))
	case err != nil:
		return nil, nil, usage(fmt.Errorf("read scenario: %w", err))
	}
	text, err = readSome(f, scenario.MaxSize)
	if err != nil {
		return nil, nil, usage(fmt.Errorf("read scenario: %w", err))
	}
	return text, filesIn(filepath.Dir(name)), nil
}

// maxBeside is 40 bytes for each of the 100,000 delays that a file may hold.
const maxBeside = 4 << 20

// filesIn reads the files of a folder and below, without being led out of it by a link.
func filesIn(folder string) scenario.Files {
	return func(name string) ([]byte, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		f, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return nil, errors.Join(errors.New("not a regular file"), err, f.Close())
		}
		text, err := readSome(f, maxBeside)
		if err == nil && len(text) > maxBeside {
			err = fmt.Errorf("larger than %d MiB", maxBeside>>20)
		}
		return text, err
	}
}

// readSome reads a file and closes it, but reads no more of it than shows that it is too large.
func readSome(f *os.File, most int64) ([]byte, error) {
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// firstOr is the single argument, or what stands for none.
func firstOr(args []string, otherwise string) string {
	if len(args) > 0 {
		return args[0]
	}
	return otherwise
}
