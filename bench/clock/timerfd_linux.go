package clock

import (
	"container/heap"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Precise is a clock over one timerfd: a heap of pending calls, and a goroutine that reads the descriptor
// through Go's poller, so that no thread is held while it waits.
type Precise struct {
	fd   int
	file *os.File

	mu      sync.Mutex
	pending calls
	closed  bool
}

// New starts a precise clock. Close ends its goroutine.
func New() (*Precise, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create timerfd: %w", err)
	}
	p := &Precise{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
	go p.run()
	return p, nil
}

// Now is the present instant.
func (p *Precise) Now() time.Time { return time.Now() }

// At implements [Clock].
func (p *Precise) At(t time.Time, f func()) func() bool {
	c := &call{at: t, f: f}
	p.mu.Lock()
	defer p.mu.Unlock()
	heap.Push(&p.pending, c)
	if c.index == 0 {
		p.arm()
	}
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.index < 0 {
			return false
		}
		heap.Remove(&p.pending, c.index)
		return true
	}
}

// Close stops the clock: calls still pending are never made.
func (p *Precise) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return p.file.Close()
}

// arm sets the descriptor to the earliest pending call. A zero setting would disarm it, so a call already due gets 1 ns.
func (p *Precise) arm() {
	if p.closed || len(p.pending) == 0 {
		return
	}
	in := max(time.Until(p.pending[0].at), 1)
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(in))}
	// The only errors are a bad descriptor and a bad setting: neither can happen before Close.
	_ = unix.TimerfdSettime(p.fd, 0, &spec, nil)
}

func (p *Precise) run() {
	var expirations [8]byte
	for {
		if _, err := p.file.Read(expirations[:]); err != nil {
			return
		}
		for _, c := range p.due() {
			c.f()
		}
	}
}

// due takes the calls whose time has come off the heap and arms the timer for the next.
func (p *Precise) due() []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var due []*call
	for now := time.Now(); len(p.pending) > 0 && !p.pending[0].at.After(now); {
		due = append(due, heap.Pop(&p.pending).(*call))
	}
	p.arm()
	return due
}

// call is one pending call; index is its place in the heap, -1 once it has left it.
type call struct {
	at    time.Time
	f     func()
	index int
}

type calls []*call

func (c calls) Len() int           { return len(c) }
func (c calls) Less(i, j int) bool { return c[i].at.Before(c[j].at) }
func (c calls) Swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].index, c[j].index = i, j
}

func (c *calls) Push(x any) {
	added := x.(*call)
	added.index = len(*c)
	*c = append(*c, added)
}

func (c *calls) Pop() any {
	last := len(*c) - 1
	gone := (*c)[last]
	(*c)[last] = nil
	*c = (*c)[:last]
	gone.index = -1
	return gone
}
