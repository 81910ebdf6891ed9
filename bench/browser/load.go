package browser

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// Dashboard is what each tab loads.
type Dashboard struct {
	Panels     []Panel // in the order in which the page asks for them
	Index      string  // that is searched
	Hits       int     // in each result, which set its length
	Strategy   strategy.Strategy
	Bystanders *scenario.Bystanders
	Tabs       scenario.Tabs
	// SearchTimeout is after how long a page gives a search up; 0: it does not.
	SearchTimeout time.Duration
	// ServerMultiplexes is what the dashboard server says of its own protocol.
	ServerMultiplexes bool
}

// Panel is one search of a dashboard.
type Panel struct {
	Group string
	Delay clock.Seconds
	Fault *scenario.Fault
}

// hanging is how long after its delay a search has hung: the load then ends, whatever the scenario's own time-out is. It is Kibana's default for
// `search:timeout`.
const hanging = 600 * time.Second

// Load plays the dashboard in each tab, the first from its intended start, which may lie a little in the future, until each panel has its result, has
// failed or has been given up, and each bystander has its answer. The context's end ends it early: what was on its way then has failed. A panic does so too, and
// is the error, a [*Panic].
func (b *Browser) Load(ctx context.Context, intended time.Time, d Dashboard) (record.Trial, error) {
	if err := clock.SleepUntil(ctx, b.options.Clock, intended); err != nil {
		return record.Trial{}, err
	}
	tabs := d.Tabs.Number()
	t := record.Trial{
		Intended: b.since(intended),
		Started:  b.since(b.options.Clock.Now()),
		Outcome:  record.OK,
		Searches: make([]record.Search, tabs*len(d.Panels)),
	}
	playing, cancel := context.WithTimeoutCause(ctx, d.Tabs.Start(tabs-1)+d.longest()+d.SearchTimeout+hanging,
		fmt.Errorf("search not done %v after its delay", hanging))
	defer cancel()
	pages := make([]*page, tabs)
	for i := range pages {
		pages[i] = b.page(playing, i, intended.Add(d.Tabs.Start(i)), d, t.Searches[i*len(d.Panels):][:len(d.Panels)])
	}
	stop := context.AfterFunc(playing, func() {
		b.guard(func() {
			for _, p := range pages {
				p.abort(context.Cause(playing))
			}
			b.Close() // as a closed browser does: what is under way ends with its connection
		})
	})
	defer stop()
	var err error
	if t.Bystanders, err = b.end(pages); err != nil {
		cancel() // whatever still goes on
		return record.Trial{}, err
	}
	t.Connections = int(b.opened.Load())
	for _, s := range t.Searches {
		if s.Outcome != record.OK && s.Outcome != record.Hidden {
			t.Outcome = record.Failed
		}
	}
	return t, ctx.Err()
}

// end waits for the pages, each by itself, as each stops sending bystanders once it has loaded.
func (b *Browser) end(pages []*page) ([]record.Bystander, error) {
	if len(pages) == 1 {
		return pages[0].end()
	}
	type ended struct {
		tab  int
		seen []record.Bystander
	}
	pagesEnd := make(chan ended, len(pages))
	for i, p := range pages {
		b.start(func() {
			if seen, err := p.end(); err == nil {
				pagesEnd <- ended{i, seen}
			}
		})
	}
	seen := make([][]record.Bystander, len(pages))
	for range pages {
		e, err := await(b.goroutines, pagesEnd)
		if err != nil {
			return nil, err
		}
		seen[e.tab] = e.seen
	}
	return slices.Concat(seen...), nil
}

func (d Dashboard) longest() time.Duration {
	var longest time.Duration
	for _, p := range d.Panels {
		longest = max(longest, p.Delay.Duration)
	}
	return longest
}
