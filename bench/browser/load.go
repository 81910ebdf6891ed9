package browser

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// Dashboard is what a page loads.
type Dashboard struct {
	Panels     []Panel // in the order in which the page asks for them
	Payload    int     // bytes of each result
	Strategy   strategy.Strategy
	Bystanders *scenario.Bystanders
}

// Panel is one search of a dashboard.
type Panel struct {
	Group string
	Delay clock.Seconds
}

// searchTimeout is Kibana's `search:timeout`, here on top of the longest delay that was asked for: it ends what hangs.
const searchTimeout = 600 * time.Second

// Load plays the dashboard from its intended start, which may lie a little in the future, until each panel has its result or has failed
// and each bystander its answer. The context's end ends it early: what was on its way then has failed.
func (p *Page) Load(ctx context.Context, intended time.Time, d Dashboard) (record.Trial, error) {
	if err := clock.SleepUntil(ctx, p.options.Clock, intended); err != nil {
		return record.Trial{}, err
	}
	t := record.Trial{
		Intended: p.since(intended),
		Started:  p.since(p.options.Clock.Now()),
		Outcome:  record.OK,
		Searches: make([]record.Search, len(d.Panels)),
	}
	playing, cancel := context.WithTimeoutCause(ctx, d.longest()+searchTimeout,
		fmt.Errorf("search not done %v after its delay", searchTimeout))
	defer cancel()
	var panels sync.WaitGroup
	searches := make([]*search, len(d.Panels))
	for i, panel := range d.Panels {
		t.Searches[i] = record.Search{Group: panel.Group, Delay: panel.Delay}
		searches[i] = &search{page: p, strategy: d.Strategy, payload: d.Payload, seen: &t.Searches[i], finished: panels.Done}
		panels.Add(1)
		searches[i].begin(playing) // in their order: each takes its place in the queue before the next
	}
	small := p.bystand(playing, intended, d.Bystanders)
	stop := context.AfterFunc(playing, func() {
		for _, s := range searches {
			s.abort(context.Cause(playing))
		}
		small.abort()
		p.Close() // as a closed tab does: what is under way ends with its connection
	})
	defer stop()
	panels.Wait()
	t.Bystanders = small.end()
	t.Connections = p.Opened()
	for _, s := range t.Searches {
		if s.Outcome != record.OK {
			t.Outcome = record.Failed
		}
	}
	return t, ctx.Err()
}

func (d Dashboard) longest() time.Duration {
	var longest time.Duration
	for _, p := range d.Panels {
		longest = max(longest, p.Delay.Duration)
	}
	return longest
}
