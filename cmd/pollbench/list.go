package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pollbench/bench/plan"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
	"pollbench/scenarios"
)

func newList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the shipped scenarios, strategies, protocols and topologies",
		Example: "  pollbench list",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "Scenarios")
			for _, name := range scenarios.Names() {
				text, _ := scenarios.Source(name)
				s, err := scenario.Decode(name, text, scenarios.File)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "  %s\t%d loads\t%s\n", name, len(plan.New(s, plan.Options{}).Trials), strings.TrimSpace(s.Description))
			}
			fmt.Fprintln(w, "\nStrategies")
			for _, name := range strategy.Names() {
				s, _ := strategy.Named(name)
				fmt.Fprintf(w, "  %s\t%s\n", name, s.Describe())
			}
			fmt.Fprintln(w, "\nProtocols")
			for _, p := range scenario.Protocols() {
				fmt.Fprintf(w, "  %s\n", p)
			}
			fmt.Fprintln(w, "\nTopologies")
			for _, t := range scenario.TopologyKinds() {
				fmt.Fprintf(w, "  %s\t%s\n", t, t.Describe())
			}
			return w.Flush()
		},
	}
}
