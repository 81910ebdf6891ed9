package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pollbench/bench/plan"
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
	f.IntVar(&c.repeats, "repeats", 0, "`COUNT` of loads in each cell")
	f.Uint64Var(&c.seed, "seed", 0, "`SEED` of the plan's order")
}

func (c *choice) planFlags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&c.spacing, "spacing", plan.DefaultSpacing, "`TIME` between two starts, 10ms or more")
	cmd.Flags().BoolVar(&c.alone, "alone", false, "one load at a time instead of all at once")
}

// overrides are the flags that were given. A count of zero is what the caller asked for, not the absence of a wish.
func (c *choice) overrides() (scenario.Overrides, error) {
	o := scenario.Overrides{Panels: c.panels, Strategies: c.strategies, Protocols: c.protocols, Repeats: c.repeats}
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
	source, err := source(name)
	if err != nil {
		return scenario.Scenario{}, err
	}
	s, err := scenario.Decode(name, source)
	if err != nil {
		return s, err
	}
	return s.With(o)
}

// plan arranges the scenario's trials.
func (c *choice) plan(s scenario.Scenario) plan.Plan {
	return plan.New(s, plan.Options{Spacing: c.spacing, Alone: c.alone})
}

// source is the scenario's text: a shipped name beats a file; a path with a separator always means a file.
func source(name string) ([]byte, error) {
	if text, ok := scenarios.Source(name); ok {
		return text, nil
	}
	text, err := readSome(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage(fmt.Errorf("no scenario %q: neither shipped (%s) nor a file", name, strings.Join(scenarios.Names(), ", ")))
	case err != nil:
		return nil, usage(fmt.Errorf("read scenario: %w", err))
	}
	return text, nil
}

// readSome reads a file, but no more of it than shows that it is too large for a scenario.
func readSome(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, scenario.MaxSize+1))
}

// firstOr is the single argument, or what stands for none.
func firstOr(args []string, otherwise string) string {
	if len(args) > 0 {
		return args[0]
	}
	return otherwise
}
