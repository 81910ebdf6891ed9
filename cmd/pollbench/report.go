package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pollbench/bench/report"
)

func newReport() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "report DIR",
		Short:   "Print the report of a result folder",
		Long:    "Analyse a result folder anew, from its manifest and observations, and print the report.",
		Example: "  pollbench report results/20260102-150405-sawtooth --format markdown",
		Args:    exactly(1, "a result folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(report.Formats(), format) {
				return usage(fmt.Errorf("no report format %q: choose one of %s", format, strings.Join(report.Formats(), ", ")))
			}
			a, _, err := analyse(args[0])
			if err != nil {
				return err
			}
			for _, w := range a.Warnings {
				if format == "json" || format == "csv" { // the others hold them
					fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
				}
			}
			text, err := report.Write(a, format)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT`: "+strings.Join(report.Formats(), ", "))
	return cmd
}
