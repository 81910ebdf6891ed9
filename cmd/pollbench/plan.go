package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pollbench/bench/plan"
	"pollbench/bench/scenario"
)

func newPlan() *cobra.Command {
	var c choice
	var asJSON bool
	var atOnce int
	cmd := &cobra.Command{
		Use:     "plan [SCENARIO|FILE]",
		Short:   "Print the trials that a run would play",
		Long:    "Print every trial that a run of the scenario would play, in the order of their starts. The same seed gives the same plan.",
		Example: "  pollbench plan smoke\n  pollbench plan sawtooth --seed 7 --delays 1s..3s\n  pollbench plan sawtooth --at-once 1000",
		Args:    atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.scenario(firstOr(args, "sawtooth"))
			if err != nil {
				return err
			}
			if atOnce < 0 {
				return usage(fmt.Errorf("--at-once %d: take 0, which is any number, or more", atOnce))
			}
			spacing := plan.DefaultSpacing
			if atOnce > 0 { // as only a real server does
				spacing = plan.RealSpacing
			}
			p := c.plan(s, atOnce, spacing)
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(p)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(w, "trial\twave\tstart\tdelay\tstrategy\tprotocol\ttopology\trepeat\t")
			for _, t := range p.Trials {
				start := t.Start.String()
				if p.Alone {
					start = "in turn"
				}
				topology := cmp.Or(t.Topology, string(scenario.Direct))
				fmt.Fprintf(w, "%d\t%d\t%s\t%v\t%s\t%s\t%s\t%d\t\n", t.Trial, max(1, t.Wave), start, t.Delay, t.Strategy, t.Protocol, topology, t.Repeat)
			}
			return w.Flush()
		},
	}
	c.chooseFlags(cmd)
	c.planFlags(cmd)
	cmd.Flags().IntVar(&atOnce, "at-once", 0, "`COUNT` of searches that the server executes at once; a run asks the server (0: any number)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the plan as JSON")
	return cmd
}
