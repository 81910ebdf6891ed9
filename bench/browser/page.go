package browser

import (
	"context"
	"sync/atomic"
	"time"

	"pollbench/bench/record"
	"pollbench/bench/strategy"
)

// page is one tab while it loads its dashboard.
type page struct {
	*Browser
	tab       int // the first is 1; 0 where there is a single one
	intended  time.Time
	dashboard Dashboard
	// multiplexed is what the page knows of the hop by which its strategy decides. Until the first answer to a search has come it knows nothing of the last one,
	// and then acts as if each request had a connection to itself.
	multiplexed atomic.Bool

	searches []*search
	ended    chan struct{} // told of each search; has room for them all
	starting func() bool   // takes the start of a later tab back
	hiding   func() bool
	begun    chan struct{} // closed when the panels have been asked for, or will never be
	small    *bystanders
}

// page makes the page of a tab, which begins at its intended start.
func (b *Browser) page(ctx context.Context, tab int, intended time.Time, d Dashboard, seen []record.Search) *page {
	p := &page{Browser: b, intended: intended, dashboard: d, begun: make(chan struct{}), ended: make(chan struct{}, len(d.Panels))}
	if d.Tabs.Number() > 1 {
		p.tab = tab + 1
	}
	p.multiplexed.Store(d.Strategy.Told(d.ServerMultiplexes))
	for i, panel := range d.Panels {
		seen[i] = record.Search{Tab: p.tab, Group: panel.Group, Delay: panel.Delay, Requests: []record.Request{}}
		if tab > 0 {
			seen[i].Intended = b.since(intended)
		}
		p.searches = append(p.searches, &search{page: p, fault: panel.Fault, seen: &seen[i]})
	}
	if tab == 0 {
		p.begin(ctx)
	} else {
		p.starting = b.options.Clock.At(intended, func() { b.start(func() { p.begin(ctx) }) })
	}
	if d.Tabs.Hidden(tab) {
		p.hiding = b.options.Clock.At(intended.Add(d.Tabs.Hide.Duration), func() { b.start(func() { p.hide(ctx) }) })
	}
	return p
}

// begin asks for the panels in their order: each takes its place in the queue before the next.
func (p *page) begin(ctx context.Context) {
	for _, s := range p.searches {
		s.begin(ctx)
	}
	small := p.dashboard.Bystanders
	if ctx.Err() != nil {
		small = nil
	}
	p.small = p.bystand(ctx, small)
	close(p.begun)
}

// hide is what Kibana does when its tab is hidden: it cancels what it still waits for.
func (p *page) hide(ctx context.Context) {
	for _, s := range p.searches {
		s.giveUp(ctx, record.Hidden)
	}
}

// abort ends the page early. Requests that are under way have to be ended by closing their connections.
func (p *page) abort(why error) {
	if p.starting != nil && p.starting() {
		for _, s := range p.searches {
			s.end(why)
		}
		close(p.begun)
		return
	}
	for _, s := range p.searches {
		s.abort(why)
	}
	select {
	case <-p.begun:
		p.small.abort()
	default: // it begins at this moment, and sees the context's end as it does
	}
}

// end waits until the page has loaded and returns its bystanders. The error is a panic.
func (p *page) end() ([]record.Bystander, error) {
	for range p.searches {
		if _, err := await(p.goroutines, p.ended); err != nil {
			return nil, err
		}
	}
	if p.hiding != nil {
		p.hiding()
	}
	if _, err := await(p.goroutines, p.begun); err != nil || p.small == nil {
		return nil, err
	}
	return p.small.end()
}

// plain is the strategy of a search that began knowing so much of its connection.
func (p *page) plain(multiplexedThen bool) strategy.Strategy {
	return p.dashboard.Strategy.On(multiplexedThen, p.multiplexed.Load())
}

// answeredOver notes the protocol of a search's answer. Elsewhere it is what nextHopProtocol says.
func (p *page) answeredOver(protocol string) {
	p.multiplexed.Store(p.dashboard.Strategy.Learnt(p.multiplexed.Load(), protocol == "h2" || protocol == "h3"))
}
