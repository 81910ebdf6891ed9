package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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
		Long: `Play the scenario in virtual time: the same strategies and connection slots, ideal servers, a fixed round trip. It takes
milliseconds. A run sets the same numbers beside its measurements, with the round trip that it measured.`,
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
	fmt.Fprintln(w, "delay\tprotocol\tstrategy\tload\twasted per search\tspeed-up\trequests per search\t")
	for _, swept := range s.Sweep() {
		for _, p := range s.Protocols {
			base, _ := s.Strategy(s.Base)
			baseLoad := model.Simulate(s, swept, base, p, rtt).Time()
			for _, st := range s.Strategies {
				l := model.Simulate(s, swept, st, p, rtt)
				var wasted time.Duration
				var requests int
				for _, panel := range l.Panels {
					wasted += panel.Wasted()
					requests += panel.Requests
				}
				n := len(l.Panels)
				speedup := "base"
				if st.Name != s.Base {
					speedup = fmt.Sprintf("%.1f %%", 100*(1-l.Time().Seconds()/baseLoad.Seconds()))
				}
				fmt.Fprintf(w, "%v\t%s\t%s\t%.3f s\t%.3f s\t%s\t%.1f\t\n",
					s.Ideal(swept), p, st.Name, l.Time().Seconds(), wasted.Seconds()/float64(n), speedup, float64(requests)/float64(n))
			}
		}
	}
	return w.Flush()
}
