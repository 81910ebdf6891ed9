package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pollbench/bench/analysis"
	"pollbench/bench/record"
	"pollbench/plots"
)

func newPlot() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:     "plot DIR",
		Short:   "Draw the charts of a result folder",
		Long:    "Analyse a result folder anew and draw every chart that makes sense for it. Without --out they go into the folder itself. Charts of every\nresult have the same names: give each result a DIR of its own.",
		Example: "  pollbench plot results/20260102-150405-sawtooth --format png --out charts",
		Args:    exactly(1, "a result folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "svg" && format != "png" {
				return usage(fmt.Errorf("no chart format %q: choose svg or png", format))
			}
			if out == "" {
				out = args[0]
			}
			result, err := record.Open(args[0])
			if err != nil {
				return err
			}
			drawn, err := draw(result, analysis.Analyse(result), format, out)
			for _, d := range drawn {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), d.file); err != nil {
					return fmt.Errorf("name the charts: %w", err)
				}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "svg", "`FORMAT`: svg or png")
	cmd.Flags().StringVar(&out, "out", "", "`DIR` for the charts (default the result folder)")
	return cmd
}

// drawn is a chart and the file that holds it.
type drawn struct {
	plots.Chart
	file string
}

// draw writes the result's charts.
func draw(result record.Result, a analysis.Analysis, format, out string) ([]drawn, error) {
	charts, err := plots.Charts(a, analysis.Picture(result, a))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("write charts: %w", err)
	}
	var all []drawn
	for _, c := range charts {
		var b bytes.Buffer
		if err := plots.Write(&b, c, format); err != nil {
			return all, fmt.Errorf("draw %s: %w", c.Name, err)
		}
		name := filepath.Join(out, c.Name+"."+format)
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			return all, fmt.Errorf("write charts: %w", err)
		}
		all = append(all, drawn{c, name})
	}
	return all, nil
}
