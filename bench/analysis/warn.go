package analysis

import (
	"fmt"
	"slices"
	"time"

	"pollbench/bench/record"
	"pollbench/bench/serverclock"
)

// maxContradiction is how far a server's clock may go astray within a run without a word: clocks are kept in step by small corrections.
const maxContradiction = 5 * time.Millisecond

// warn collects what makes the whole result doubtful.
func (a *Analysis) warn(r record.Result) {
	add := func(format string, args ...any) { a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...)) }
	if missing := len(r.Manifest.Plan.Trials) - len(r.Trials); missing > 0 {
		add("%d of %d planned trials have no observation: the run was interrupted", missing, len(r.Manifest.Plan.Trials))
	}
	var failed, unexplained, noInterval, noFinished int
	for _, c := range a.Cells {
		failed += c.Failed
		switch {
		case c.Finished == 0:
			noFinished++
			continue
		case c.Finished < minInterval:
			noInterval++
		}
		if c.Expected() && !c.Explained() {
			unexplained++
		}
	}
	if failed > 0 {
		add("%d of %d trials failed and do not count", failed, len(r.Trials))
		for _, line := range causes(r.Trials) {
			add("%s", line)
		}
	}
	a.Warnings = append(a.Warnings, unstruck(r)...)
	if noFinished > 0 {
		add("%d of %d cells have no finished trial", noFinished, len(a.Cells))
	}
	if noInterval > 0 {
		add("%d of %d cells have no interval: a 95 %% interval of a median needs %d trials", noInterval, len(a.Cells), minInterval)
	}
	if slices.ContainsFunc(a.Comparisons, func(c Comparison) bool { return c.P == nil }) {
		add("comparisons of fewer than %d trials have no p-value", minP)
	}
	for _, s := range a.Summary {
		if s.Mix != nil && s.Mix.N < minInterval {
			add("the gain over the mix has no interval: it needs %d dashboards that both strategies have loaded", minInterval)
			break
		}
	}
	if unexplained > 0 {
		add("%d of %d cells are not explained by the model", unexplained, len(a.Cells))
	}
	if n := a.Health.SocketWaits; n > 0 {
		add("%d requests queued for one of the dashboard server's connections to Elasticsearch, up to %.3f s", n, a.Health.SocketWaitMax)
	}
	if n := a.Health.Queued; n > 0 {
		add("%d searches queued on Elasticsearch, up to %.3f s: that time is booked as the server's", n, a.Health.QueuedMax)
	}
	if c := r.Manifest.Backend.ServerClock; c != nil {
		offset := serverclock.Offset{Uncertainty: time.Duration(c.Uncertainty * float64(time.Second))}
		if by, searches := offset.Contradicted(r.Trials); by > maxContradiction {
			add("the server's clock was set, or its offset was read wrongly: of %d searches some contradict it by %.1f ms, and that much may be booked wrongly",
				searches, by.Seconds()*1e3)
		}
	}
	for _, reason := range a.Health.Reasons {
		add("unhealthy run: %s", reason)
	}
	if !a.Health.Healthy {
		add("trust no number of an unhealthy run: end other programs, or spread the loads with --spacing or --alone")
	}
}
