package analysis

import (
	"fmt"

	"pollbench/bench/clock"
	"pollbench/bench/record"
)

// Limits of a healthy run. The waste that continuous polling leaves is about a millisecond: timers that are later than a few of
// these measure the machine, and so does a processor without a core to spare.
const (
	maxLatenessP99 = 0.005
	maxCPU         = 0.80
)

// queuedFrom is from when on a search has queued on the server. What a real server takes before it executes a search is less, garbage collection included.
const queuedFrom = 0.100

// judge takes the last word of the run's own watch, and says whether its numbers can be trusted.
func judge(trials []record.Trial) Health {
	h := Health{Reasons: []string{}}
	if len(trials) > 0 {
		h.Health = trials[len(trials)-1].Health
	}
	for _, t := range trials {
		h.Health.LateStart = max(h.Health.LateStart, (t.Started - t.Intended).Seconds())
		for _, s := range t.Searches {
			if queued := (s.Start - s.Accepted).Seconds(); s.Accepted != 0 && queued >= queuedFrom {
				h.Queued++
				h.QueuedMax = max(h.QueuedMax, queued)
			}
			for _, r := range s.Requests {
				if r.SocketWait != (clock.Seconds{}) {
					h.SocketWaits++
					h.SocketWaitMax = max(h.SocketWaitMax, r.SocketWait.Seconds())
				}
			}
		}
	}
	add := func(format string, args ...any) { h.Reasons = append(h.Reasons, fmt.Sprintf(format, args...)) }
	if h.LatenessP99 > maxLatenessP99 {
		add("timers were %.1f ms late at p99, %.0f ms is the limit", h.LatenessP99*1e3, maxLatenessP99*1e3)
	}
	if h.CPU > maxCPU {
		add("the processor was %.0f %% busy, more than the limit of %.0f %%", h.CPU*100, maxCPU*100)
	}
	if limit := record.LateStart.Seconds(); h.LateStart > limit {
		add("a load started %.0f ms late, %.0f ms is the limit", h.LateStart*1e3, limit*1e3)
	}
	if h.Dropped > 0 {
		add("%d loads could not be started", h.Dropped)
	}
	h.Healthy = len(h.Reasons) == 0
	return h
}

// wall is the time from the first intended start to the last delivery; nil if nothing was delivered.
func wall(trials []record.Trial) *float64 {
	var first, last record.Time
	for i, t := range trials {
		if i == 0 || t.Intended < first {
			first = t.Intended
		}
		for _, s := range t.Searches {
			last = max(last, s.Delivered)
		}
	}
	if last <= first {
		return nil
	}
	return ptr((last - first).Seconds())
}
