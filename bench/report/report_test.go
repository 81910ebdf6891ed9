package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pollbench/bench/analysis"
)

var update = flag.Bool("update", false, "write the golden files anew, to be read before they are committed")

func p(v float64) *float64 { return &v }

// sample is an analysis with everything that reports show: two strategies over h2, two groups, bystanders, and in its last cell nothing that
// finished.
func sample() analysis.Analysis {
	cell := func(strategy string, load, wasted float64) analysis.Cell {
		seen, connections := "h2", 1
		return analysis.Cell{
			Delay: 6, Strategy: strategy, Protocol: "h2", Topology: "direct", Driver: "virtual", Trials: 7, Finished: 7,
			Load:     analysis.Tail{Interval: analysis.Interval{Median: p(load), Lo: p(load - 0.001), Hi: p(load + 0.002)}},
			Overhead: analysis.Interval{Median: p(load - 6)},
			Wasted: analysis.Wasted{
				Median: p(wasted), Mean: p(wasted), Sleep: p(wasted / 2), Slot: p(0), Network: p(wasted / 4), Server: p(wasted / 4),
			},
			Groups: []analysis.Group{
				{Name: "slow", Delay: 6, Panels: 6, Delivered: analysis.Interval{Median: p(load)}},
				{Name: "fast", Delay: 1, Panels: 6, Delivered: analysis.Interval{Median: p(1.0042)}},
			},
			Bystanders:        &analysis.Bystanders{Sent: 80, Latency: analysis.Tail{Interval: analysis.Interval{Median: p(0.0006)}, P95: p(0.0123)}, Slot: p(0.00002)},
			RequestsPerSearch: p(6.5), Connections: &connections, ProtocolSeen: &seen,
			Outcomes: analysis.Outcomes{OK: 84},
			Model:    analysis.Model{Load: p(load), LoadRTT: p(load - 0.0042), Difference: analysis.Interval{Median: p(0.0042)}},
			Warnings: []string{},
		}
	}
	nothing := analysis.Cell{
		Delay: 7, Protocol: "h2", Topology: "direct", Driver: "virtual", Trials: 7, Groups: cell("", 1, 1).Groups,
		Model: analysis.Model{Load: p(8.2), Wasted: analysis.ModelWasted{Mean: p(1.2)}}, Warnings: []string{"no finished trial"},
	}
	for i := range nothing.Groups {
		nothing.Groups[i].Delivered = analysis.Interval{}
	}
	first, second := nothing, nothing
	first.Strategy, second.Strategy = "traditional", "continuous"
	return analysis.Analysis{
		Schema: analysis.Schema, Scenario: "sample", Seed: 3, Wall: p(9.4321), IdealWall: 8.2,
		Health:   analysis.Health{Healthy: true, Reasons: []string{}},
		Warnings: []string{"2 of 4 cells have no finished trial"},
		Cells:    []analysis.Cell{cell("traditional", 8.2042, 2.2), cell("continuous", 6.0031, 0.0021), first, second},
		Comparisons: []analysis.Comparison{
			{Delay: 6, Protocol: "h2", Topology: "direct", Base: "traditional", Other: "continuous", Speedup: p(0.2683), Lo: p(0.268), Hi: p(0.2687), P: p(0.0006), N: 7},
			{Delay: 7, Protocol: "h2", Topology: "direct", Base: "traditional", Other: "continuous"},
		},
		Summary: []analysis.Summary{{
			Protocol: "h2", Topology: "direct", Base: "traditional", Other: "continuous", Mean: p(0.2683), Max: p(0.2683), MaxAt: p(6),
			Wasted: analysis.PooledWasted{Median: p(0.0021), N: 70},
		}},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed (go test ./bench/report -update writes it anew):\n%s", path, got)
	}
}

func TestFormats(t *testing.T) {
	for _, format := range []string{"text", "markdown", "csv"} {
		got, err := Write(sample(), format)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "sample."+format, got)
	}
	if _, err := Write(sample(), "runes"); err == nil || !strings.Contains(err.Error(), "text, markdown, json, csv") {
		t.Errorf("an unknown format: %v", err)
	}
}

// JSON read again is the same analysis, on many lines or on one.
func TestJSON(t *testing.T) {
	for name, write := range map[string]func(analysis.Analysis) ([]byte, error){"many lines": JSON, "one line": Line} {
		text, err := write(sample())
		if err != nil {
			t.Fatal(err)
		}
		var got analysis.Analysis
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, sample()) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		if name == "one line" && bytes.Count(text, []byte("\n")) != 1 {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestValues(t *testing.T) {
	for want, got := range map[string]string{
		"–":                   duration(nil),
		"1.2 ms":              duration(p(0.00123)),
		"0 ms":                duration(p(0.00001)),
		"123 ms":              duration(p(0.1234)),
		"1.00 s":              duration(p(0.9996)),
		"2.20 s":              duration(p(2.2)),
		"0.1 s":               delay(0.1),
		"23 s":                delay(23),
		"8.200 s":             load(p(8.2)),
		"-4.2 ms":             difference(p(-0.0042)),
		"26.8 % [26.0, 27.1]": percents(p(0.268), p(0.26), p(0.271)),
		"26.8 %":              percents(p(0.268), nil, nil),
		"HTTP/1.1":            protocol("http1"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
