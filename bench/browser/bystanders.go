package browser

import (
	"context"
	"net/http"
	"sync"
	"time"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// bystanders sends the page's small requests at a fixed rate while the page loads, whether or not earlier ones have been answered.
type bystanders struct {
	page  *page
	ctx   context.Context
	every time.Duration

	answers sync.WaitGroup
	mu      sync.Mutex
	over    bool
	next    time.Time
	cancel  func() bool // keeps the next one from being sent
	sent    []*record.Bystander
	queued  []*sending
}

// bystand sends the first a period after the start; none if b is nil.
func (p *page) bystand(ctx context.Context, b *scenario.Bystanders) *bystanders {
	by := &bystanders{page: p, ctx: ctx, next: p.intended}
	if b == nil {
		by.over = true
		return by
	}
	by.every = b.Every.Duration
	by.mu.Lock()
	defer by.mu.Unlock()
	by.plan()
	return by
}

// plan has the next one sent at its time.
func (b *bystanders) plan() {
	b.next = b.next.Add(b.every)
	b.cancel = b.page.options.Clock.At(b.next, func() { go b.send() })
}

func (b *bystanders) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	one := &record.Bystander{Tab: b.page.tab, Intended: b.page.since(b.next)}
	b.sent = append(b.sent, one)
	b.answers.Add(1)
	c := call{method: http.MethodGet, path: statusPath}
	b.queued = append(b.queued, b.page.send(b.ctx, c, func(_ answer, seen record.Request, err error) {
		one.Request = seen
		if err != nil {
			one.Error = err.Error()
		}
		b.answers.Done()
	}))
	b.plan()
}

// abort takes out of the queue what still waits there. What is under way has to be ended by closing its connection.
func (b *bystanders) abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop()
	for i, one := range b.queued {
		if one.leave() {
			b.sent[i].Error = context.Cause(b.ctx).Error()
			b.answers.Done()
		}
	}
}

func (b *bystanders) stop() {
	b.over = true
	if b.cancel != nil {
		b.cancel()
	}
}

// end sends no more, waits for the answers and returns them all.
func (b *bystanders) end() []record.Bystander {
	b.mu.Lock()
	b.stop()
	b.mu.Unlock()
	b.answers.Wait()
	all := make([]record.Bystander, len(b.sent))
	for i, one := range b.sent {
		all[i] = *one
	}
	return all
}
