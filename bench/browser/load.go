package browser

import (
	"context"
	"net/http"
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
	var panels, bystanders sync.WaitGroup
	loading, loaded := context.WithCancel(ctx)
	defer loaded()
	for i, panel := range d.Panels {
		t.Searches[i] = record.Search{Group: panel.Group, Delay: panel.Delay}
		s := &search{page: p, strategy: d.Strategy, asked: p.options.Clock.Now(), seen: &t.Searches[i]}
		// The place in the queue is taken here, not in the goroutine: panels ask in their order.
		first := p.slots.queue()
		panels.Go(func() { s.run(ctx, first, d.Payload) })
	}
	if d.Bystanders != nil {
		bystanders.Go(func() { t.Bystanders = p.bystanders(ctx, loading, intended, *d.Bystanders) })
	}
	panels.Wait()
	loaded()
	bystanders.Wait()
	t.Connections = p.Opened()
	for _, s := range t.Searches {
		if s.Outcome != record.OK {
			t.Outcome = record.Failed
		}
	}
	return t, ctx.Err()
}

// bystanders sends the page's small requests at a fixed rate while the page is loading, whether or not earlier ones have been answered,
// and returns when all have been.
func (p *Page) bystanders(ctx, loading context.Context, start time.Time, b scenario.Bystanders) []record.Bystander {
	var answers sync.WaitGroup
	var sent []*record.Bystander
	var tickets []*ticket
	for {
		start = start.Add(b.Every.Duration)
		if clock.SleepUntil(loading, p.options.Clock, start) != nil {
			break
		}
		queued := p.options.Clock.Now()
		one := &record.Bystander{Intended: p.since(start), Request: record.Request{Queued: p.since(queued)}}
		sent = append(sent, one)
		answers.Add(1)
		tickets = append(tickets, p.slots.queueFor(func(t *ticket) {
			defer answers.Done()
			_, seen, err := p.sendNow(ctx, t, queued, call{method: http.MethodGet, path: statusPath})
			one.Request = seen
			if err != nil {
				one.Error = err.Error()
			}
		}))
	}
	stop := context.AfterFunc(ctx, func() {
		for _, t := range tickets {
			if p.slots.leave(t) {
				answers.Done()
			}
		}
	})
	answers.Wait()
	stop()
	all := make([]record.Bystander, len(sent))
	for i, one := range sent {
		all[i] = *one
	}
	return all
}
