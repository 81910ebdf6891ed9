package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"

	"pollbench/bench/analysis"
)

// csvText has a line for each cell, times in seconds. A number that does not exist is an empty field.
func csvText(a analysis.Analysis) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{{
		"scenario", "delay_s", "strategy", "protocol", "topology", "driver", "trials", "finished", "failed",
		"load_median_s", "load_lo_s", "load_hi_s", "load_p95_s", "overhead_median_s",
		"wasted_median_s", "wasted_mean_s", "wasted_sleep_s", "wasted_slot_s", "wasted_network_s", "wasted_server_s",
		"bystanders_median_s", "bystanders_p95_s", "requests_per_search", "connections", "protocol_seen",
		"model_load_s", "model_load_rtt_s", "model_wasted_mean_s",
		// Columns are only ever added, and at the end.
		"searches_ok", "searches_failed", "searches_timeout", "searches_hidden", "retries",
		"tabs", "first_tab_load_median_s", "last_tab_load_median_s", "last_tab_load_lo_s", "last_tab_load_hi_s",
		"last_tab_wasted_mean_s", "last_tab_bystanders_median_s",
		"model_wasted_rtt_mean_s", "model_difference_median_s", "mix_gain", "mix_lo", "mix_hi", "mix_dashboards",
	}}
	for _, c := range a.Cells {
		by := analysis.Bystanders{}
		if c.Bystanders != nil {
			by = *c.Bystanders
		}
		first, last := analysis.Tab{}, analysis.Tab{}
		if n := len(c.Tabs); n > 0 {
			first, last = c.Tabs[0], c.Tabs[n-1]
		}
		mix, dashboards := mixOf(a, c)
		o := c.Outcomes
		lines = append(lines, []string{
			a.Scenario, number(&c.Delay), c.Strategy, c.Protocol, c.Topology, c.Driver,
			strconv.Itoa(c.Trials), strconv.Itoa(c.Finished), strconv.Itoa(c.Failed),
			number(c.Load.Median), number(c.Load.Lo), number(c.Load.Hi), number(c.Load.P95), number(c.Overhead.Median),
			number(c.Wasted.Median), number(c.Wasted.Mean), number(c.Wasted.Sleep), number(c.Wasted.Slot),
			number(c.Wasted.Network), number(c.Wasted.Server),
			number(by.Latency.Median), number(by.Latency.P95), number(c.RequestsPerSearch), field(c.Connections), field(c.ProtocolSeen),
			number(c.Model.Load), number(c.Model.LoadRTT), number(c.Model.Wasted.Mean),
			strconv.Itoa(o.OK), strconv.Itoa(o.Failed), strconv.Itoa(o.TimedOut), strconv.Itoa(o.Hidden), strconv.Itoa(o.Retries),
			strconv.Itoa(max(1, len(c.Tabs))), number(first.Load.Median), number(last.Load.Median), number(last.Load.Lo), number(last.Load.Hi),
			number(last.Wasted.Mean), number(last.Bystanders.Median),
			number(c.Model.WastedRTT.Mean), number(c.Model.Difference.Median), number(mix.Gain), number(mix.Lo), number(mix.Hi), dashboards,
		})
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("write analysis as CSV: %w", err)
	}
	return b.Bytes(), nil
}

// mixOf is the gain of the cell's strategy over a mix, and of how many dashboards, if there is one.
func mixOf(a analysis.Analysis, c analysis.Cell) (mix analysis.Mix, dashboards string) {
	for _, s := range a.Summary {
		if s.Mix != nil && (hop{s.Protocol, s.Topology}) == hopOf(c) && s.Other == c.Strategy {
			return *s.Mix, strconv.Itoa(s.Mix.N)
		}
	}
	return analysis.Mix{}, ""
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func field[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}
