package wire

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// mostLeft is how much of a body that the handler has not read is read in its place, to keep the connection. It is net/http's limit.
const mostLeft = 256 << 10

// exchange is one request and its answer, in one piece of memory.
type exchange struct {
	context requestContext
	body    requestBody
	answer  answering
}

func newExchange(c *served, r *http.Request) *exchange {
	x := &exchange{}
	x.context.c = c
	x.body.context, x.body.from, x.body.left = &x.context, r.Body, r.ContentLength
	if r.Body == http.NoBody {
		x.body.ended, x.context.readable = true, true
	} else {
		x.body.expects = len(r.Header["Expect"]) > 0 && r.ProtoAtLeast(1, 1)
		if x.body.expects {
			c.await()
		}
		r.Body = &x.body
	}
	r.RemoteAddr = c.remote
	x.answer = answering{
		reply: reply{head: r.Method == http.MethodHead, declared: -1},
		c:     c, exchange: x, old: !r.ProtoAtLeast(1, 1), closing: r.Close,
	}
	return x
}

// requestContext ends when the handler returns, when the server is closed, and when the peer disconnects, which somebody has to look for:
// the first call of Done starts that. Until then there is nothing behind it.
type requestContext struct {
	c *served

	// Guarded by c.mu.
	over     bool
	readable bool            // the body has been read: what comes is the next request
	inner    context.Context // from the first call of Done on
	cancel   context.CancelFunc
}

// Deadline is never set.
func (x *requestContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done starts watching the connection.
func (x *requestContext) Done() <-chan struct{} {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	if x.inner == nil {
		x.inner, x.cancel = context.WithCancel(context.Background())
		if x.over {
			x.cancel()
		}
		x.watch()
	}
	return x.inner.Done()
}

// watch watches if somebody wants to know and nobody else reads. It is called with c.mu held.
func (x *requestContext) watch() {
	if x.inner != nil && x.readable && !x.over && !x.c.hasAhead {
		x.c.watching = true
		go x.c.watch(x)
	}
}

// bodyRead leaves the connection to the watch.
func (x *requestContext) bodyRead() {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	if !x.readable {
		x.readable = true
		x.watch()
	}
}

// Err is that of the context within, if there is one.
func (x *requestContext) Err() error {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	switch {
	case x.inner != nil:
		return x.inner.Err()
	case x.over:
		return context.Canceled
	}
	return nil
}

// Value shows the context within, by which package context attaches derived contexts to it without a goroutine for each.
func (x *requestContext) Value(key any) any {
	x.c.mu.Lock()
	inner := x.inner
	x.c.mu.Unlock()
	if inner == nil {
		return nil
	}
	return inner.Value(key)
}

func (x *requestContext) end() {
	x.c.mu.Lock()
	x.over = true
	cancel := x.cancel
	x.c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// requestBody is net/http's body, with a note of how far it has been read. The handler may leave reading it to another goroutine.
type requestBody struct {
	context *requestContext
	expects bool // the peer asked to be told to proceed

	mu     sync.Mutex // held while reading
	from   io.Reader
	left   int64 // of a declared length; negative if there is none
	closed bool
	ended  bool
	failed error
}

// Read reads from the connection.
func (b *requestBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.failed != nil:
		return 0, b.failed
	}
	if b.expects {
		if b.failed = b.context.c.proceed(); b.failed != nil {
			return 0, b.failed
		}
	}
	return b.take(p)
}

func (b *requestBody) take(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left > 0 {
		b.left -= int64(n)
	}
	b.failed = err
	switch {
	case err == io.EOF:
		b.ended = true
		b.context.bodyRead()
	case err != nil && b.context.c.failed != nil:
		b.context.end()
	}
	return n, err
}

// Close keeps the body from being read any more. What is left of it is the server's matter.
func (b *requestBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// abandon tells whether there is more of a body that nobody reads any more. Whoever reads it still is left alone.
func (b *requestBody) abandon() bool {
	if !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	b.closed = true
	return !b.ended
}

// drain reads what the handler has left, and tells whether the next request can be read.
func (b *requestBody) drain() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.ended {
		return true
	}
	// Who waits to be told to proceed may send the body or not: the next byte could be either's.
	if b.failed != nil || b.left > mostLeft || b.expects {
		return false
	}
	_, err := io.CopyN(io.Discard, unread{b}, mostLeft+1)
	return err == io.EOF && b.ended
}

// unread reads a body that is closed to the handler. Its lock is held.
type unread struct{ *requestBody }

func (u unread) Read(p []byte) (int, error) { return u.take(p) }
