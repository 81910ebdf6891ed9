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
	}}
	for _, c := range a.Cells {
		by := analysis.Bystanders{}
		if c.Bystanders != nil {
			by = *c.Bystanders
		}
		lines = append(lines, []string{
			a.Scenario, number(&c.Delay), c.Strategy, c.Protocol, c.Topology, c.Driver,
			strconv.Itoa(c.Trials), strconv.Itoa(c.Finished), strconv.Itoa(c.Failed),
			number(c.Load.Median), number(c.Load.Lo), number(c.Load.Hi), number(c.Load.P95), number(c.Overhead.Median),
			number(c.Wasted.Median), number(c.Wasted.Mean), number(c.Wasted.Sleep), number(c.Wasted.Slot),
			number(c.Wasted.Network), number(c.Wasted.Server),
			number(by.Latency.Median), number(by.Latency.P95), number(c.RequestsPerSearch), field(c.Connections), field(c.ProtocolSeen),
			number(&c.Model.Load), number(c.Model.LoadRTT), number(&c.Model.Wasted.Mean),
		})
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("write analysis as CSV: %w", err)
	}
	return b.Bytes(), nil
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
