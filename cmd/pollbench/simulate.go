package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pollbench/bench/clock"
	"pollbench/bench/model"
	"pollbench/bench/scenario"
)

// maxRTT is more than any network that a dashboard is looked at over.
const maxRTT = time.Minute

func newSimulate() *cobra.Command {
	var c choice
	var rtt time.Duration
	cmd := &cobra.Command{
		Use:   "simulate [SCENARIO|FILE]",
		Short: "Print what the model expects, without a run",
		Long: `Play the scenario in virtual time: the same strategies and connection slots, ideal servers, a fixed round trip
on top of the scenario's own networks. It takes milliseconds. Where delays are drawn, the load is the median over the dashboards and the speed-up
that of all together. A dash stands where the model expects nothing, such as under cuts and faults. A run sets the same numbers beside its measurements, with the round trip that it measured.`,
		Example: "  pollbench simulate sawtooth\n  pollbench simulate sawtooth --strategies traditional,no-backoff --rtt 50ms",
		Args:    atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rtt < 0 || rtt > maxRTT {
				return usage(fmt.Errorf("--rtt %v: a round trip takes 0s to %v", rtt, maxRTT))
			}
			s, err := c.scenario(firstOr(args, "sawtooth"))
			if err != nil {
				return err
			}
			return simulate(cmd.OutOrStdout(), s, rtt)
		},
	}
	c.chooseFlags(cmd)
	cmd.Flags().DurationVar(&rtt, "rtt", 0, "`TIME` of a round trip")
	return cmd
}

// simulate prints a line for each cell.
func simulate(out io.Writer, s scenario.Scenario, rtt time.Duration) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	topology := func(string) string { return "" }
	if len(s.Paths()) > 1 {
		topology = func(name string) string { return name + "\t" }
	}
	fmt.Fprintf(w, "delay\tprotocol\t%sstrategy\tload\twasted per search\tspeed-up\trequests per search\t\n", topology("topology"))
	for _, swept := range s.Sweep() {
		var base expectation
		for i, v := range s.Variants() {
			if i%len(s.Strategies) == 0 { // the strategies of one path and protocol follow each other
				v := v
				v.Strategy = s.Base
				base = expect(s, swept, v, rtt)
			}
			e, speedup := base, "base"
			if v.Strategy != s.Base {
				e = expect(s, swept, v, rtt)
				speedup = e.speedup(base)
			}
			fmt.Fprintf(w, "%v\t%s\t%s%s\t%s\t%s\t%s\t%s\t\n", median(e.longest), v.Protocol, topology(v.Path.String()), v.Strategy,
				e.seconds(median(e.loads)), e.seconds(e.wasted), speedup, e.number(e.requests))
		}
	}
	return w.Flush()
}

// expectation is what the model says of one cell: over all repeats where delays are drawn, else of one.
type expectation struct {
	longest, loads []time.Duration
	wasted         time.Duration // mean per search
	requests       float64       // mean per search
	none, fails    bool
}

func expect(s scenario.Scenario, swept clock.Seconds, v scenario.Variant, rtt time.Duration) expectation {
	ok, _ := model.Expects(s, v)
	e := expectation{none: !ok}
	var wasted time.Duration
	var requests, panels, delivered int
	for repeat := 1; repeat <= s.Dashboards(); repeat++ {
		l := model.Simulate(s, swept, repeat, v, rtt+v.Path.RTT())
		e.longest = append(e.longest, s.Longest(swept, repeat).Duration)
		e.loads = append(e.loads, l.Time())
		e.fails = e.fails || l.Failed()
		for _, w := range l.Wasted() {
			wasted += w
			delivered++
		}
		for _, p := range l.Panels {
			requests += len(p.Sent)
			panels++
		}
	}
	e.wasted = wasted / time.Duration(max(1, delivered))
	e.requests = float64(requests) / float64(panels)
	return e
}

func (e expectation) seconds(d time.Duration) string { return e.number(d.Seconds(), " s") }

// number prints a value to three digits with its unit, or why there is none.
func (e expectation) number(v float64, unit ...string) string {
	switch {
	case e.none:
		return "-"
	case e.fails:
		return "fails"
	case len(unit) == 0:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f%s", v, unit[0])
}

// speedup is by all load times together.
func (e expectation) speedup(base expectation) string {
	if e.none || e.fails || base.fails {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*(1-sum(e.loads).Seconds()/sum(base.loads).Seconds()))
}

func sum(values []time.Duration) (all time.Duration) {
	for _, v := range values {
		all += v
	}
	return all
}

func median(values []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
