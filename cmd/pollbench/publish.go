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
	"pollbench/plots"
)

// chartsDir is where published charts stand, seen from the page that shows them.
const chartsDir = "docs/charts"

func newPublish() *cobra.Command {
	var results, out string
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Write RESULTS.md and its charts from the newest results",
		Long: `Take the newest result of each shipped scenario that was run, and write RESULTS.md with the charts that it shows, as SVG and PNG, into
docs/charts.`,
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
	var runs []report.Run
	var missing []string
	var charts int
	for _, show := range published {
		dir, ok := newest[show]
		if !ok {
			missing = append(missing, show.folder())
			continue
		}
		run, err := publishRun(dir, out, show.folder())
		if err != nil {
			return "", err
		}
		runs = append(runs, run)
		charts += len(run.Charts)
	}
	if len(runs) == 0 {
		return "", fmt.Errorf("publish: no result of a shipped scenario in %s: run 'make bench' first", results)
	}
	page := filepath.Join(out, "RESULTS.md")
	if err := os.WriteFile(page, report.Results(runs), 0o644); err != nil {
		return "", fmt.Errorf("publish: %w", err)
	}
	written := fmt.Sprintf("%s and %d charts in %s", page, charts, filepath.Join(out, chartsDir))
	if len(missing) > 0 {
		written += fmt.Sprintf("; without %s, of which there is no result: 'make bench-all bench-containers' makes all", strings.Join(missing, ", "))
	}
	return written, nil
}

// shown is what a result is of: a scenario, and the kind of Elasticsearch that it was played against unless that is the embedded one.
type shown struct{ scenario, on string }

// folder is where its charts are, below the folder of charts.
func (s shown) folder() string {
	if s.on == "" {
		return s.scenario
	}
	return s.scenario + "-" + s.on
}

// published are the results that are shown, in this order.
var published = []shown{
	{scenario: "sawtooth"}, {scenario: "sawtooth-fine"}, {scenario: "http1-vice"}, {scenario: "last-hop"}, {scenario: "crowded-browser"},
	{scenario: "network"}, {scenario: "idle-proxy"}, {scenario: "mixed-dashboard"}, {"sawtooth", container}, {"saturated-node", container},
}

// publishRun draws the charts of a result, afresh in a folder of that name, and returns it with them.
func publishRun(dir, out, folder string) (report.Run, error) {
	charts := filepath.Join(out, filepath.FromSlash(chartsDir), folder)
	result, err := record.Open(dir)
	if err != nil {
		return report.Run{}, err
	}
	run := report.Run{Analysis: analysis.Analyse(result), Description: result.Manifest.Scenario.Description}
	if err := os.RemoveAll(charts); err != nil {
		return run, fmt.Errorf("publish: %w", err)
	}
	for _, format := range plots.Formats() {
		all, err := draw(result, run.Analysis, format, charts)
		if err != nil {
			return run, err
		}
		if format != plots.SVG {
			continue // the page shows these; the others are for whoever needs pixels
		}
		for _, d := range all {
			run.Charts = append(run.Charts, report.Chart{
				Name: d.Name, Caption: d.Title, Path: path.Join(chartsDir, folder, filepath.Base(d.file)),
			})
		}
	}
	return run, nil
}

// newestResults finds, for each of what can be shown, the folder whose run began last.
func newestResults(dir string) (map[shown]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("publish: %w: run 'make bench' first", err)
	}
	newest, created := map[shown]string{}, map[shown]string{}
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
		of := shown{m.Scenario.Name, m.Backend.On()}
		if strings.Compare(m.Created, created[of]) > 0 {
			newest[of], created[of] = folder, m.Created
		}
	}
	return newest, nil
}
