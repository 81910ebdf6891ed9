package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pollbench/bench/analysis"
	"pollbench/bench/record"
	"pollbench/bench/report"
)

// chartsDir is where published charts stand, seen from the page that shows them.
const chartsDir = "docs/charts"

func newPublish() *cobra.Command {
	var results, out string
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Write RESULTS.md and its charts from the newest results",
		Long: `Take the newest result of each of sawtooth, sawtooth-fine and http1-vice, and write RESULTS.md with the charts that it
shows, as SVG and PNG, into docs/charts.`,
		Example: "  pollbench publish --results results --out .",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			written, err := publish(results, out)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), written)
			return err
		},
	}
	cmd.Flags().StringVar(&results, "results", "results", "`DIR` that holds result folders")
	cmd.Flags().StringVar(&out, "out", ".", "`DIR` that RESULTS.md and docs/charts go into")
	return cmd
}

// publish writes the page and its charts, and says so.
func publish(results, out string) (string, error) {
	newest, err := newestResults(results)
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	p := report.Published{Chart: func(scenario, chart string) (string, bool) {
		name := path.Join(chartsDir, scenario, chart+".svg")
		return name, known[name]
	}}
	for scenario, to := range map[string]*analysis.Analysis{"sawtooth": &p.Sweep, "sawtooth-fine": &p.Fine, "http1-vice": &p.Vice} {
		dir, ok := newest[scenario]
		if !ok {
			return "", fmt.Errorf("publish: no result of %s in %s: run 'make bench' first", scenario, results)
		}
		result, err := record.Open(dir)
		if err != nil {
			return "", err
		}
		*to = analysis.Analyse(result)
		for _, format := range []string{"svg", "png"} {
			names, err := draw(result, format, filepath.Join(out, filepath.FromSlash(chartsDir), scenario))
			if err != nil {
				return "", err
			}
			for _, name := range names {
				known[path.Join(chartsDir, scenario, filepath.Base(name))] = true
			}
		}
	}
	page := filepath.Join(out, "RESULTS.md")
	if err := os.WriteFile(page, report.Results(p), 0o644); err != nil {
		return "", fmt.Errorf("publish: %w", err)
	}
	return fmt.Sprintf("%s and %d charts in %s", page, len(known), filepath.Join(out, chartsDir)), nil
}

// newestResults finds, for each scenario, the folder whose run began last.
func newestResults(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("publish: %w: run 'make bench' first", err)
	}
	newest, created := map[string]string{}, map[string]string{}
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		result, err := record.Open(folder)
		if errors.Is(err, record.ErrEmpty) || errors.Is(err, record.ErrForeign) || !e.IsDir() {
			continue // charts, say, or a run that was ended at once
		}
		if err != nil {
			return nil, fmt.Errorf("publish: %w", err)
		}
		m := result.Manifest
		if strings.Compare(m.Created, created[m.Scenario.Name]) > 0 {
			newest[m.Scenario.Name], created[m.Scenario.Name] = folder, m.Created
		}
	}
	return newest, nil
}
