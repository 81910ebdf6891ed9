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

	mu     sync.Mutex
	over   bool
	next   time.Time
	cancel func() bool // keeps the next one from being sent
	sent   []*bystander
}

// bystander is one of them.
type bystander struct {
	record.Bystander
	sending  *sending
	answered chan struct{} // closed once it is, or has left the queue
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
	b.cancel = b.page.options.Clock.At(b.next, func() { b.page.start(b.send) })
}

func (b *bystanders) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	one := &bystander{Bystander: record.Bystander{Tab: b.page.tab, Intended: b.page.since(b.next)}, answered: make(chan struct{})}
	c := call{method: http.MethodGet, path: statusPath}
	one.sending = b.page.send(b.ctx, c, func(_ answer, seen record.Request, err error) {
		one.Request = seen
		if err != nil {
			one.Error = err.Error()
		}
		close(one.answered)
	})
	b.sent = append(b.sent, one)
	b.plan()
}

// abort takes out of the queue what still waits there. What is under way has to be ended by closing its connection.
func (b *bystanders) abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop()
	for _, one := range b.sent {
		if one.sending.leave() {
			one.Error = context.Cause(b.ctx).Error()
			close(one.answered)
		}
	}
}

func (b *bystanders) stop() {
	b.over = true
	if b.cancel != nil {
		b.cancel()
	}
}

// end sends no more, waits for the answers and returns them all. The error is a panic.
func (b *bystanders) end() ([]record.Bystander, error) {
	b.mu.Lock()
	b.stop()
	b.mu.Unlock()
	all := make([]record.Bystander, len(b.sent))
	for i, one := range b.sent {
		if _, err := await(b.page.goroutines, one.answered); err != nil {
			return nil, err
		}
		all[i] = one.Bystander
	}
	return all, nil
}
