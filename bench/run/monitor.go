package run

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/bench/record"
)

// Monitor watches whether the machine keeps up, for a number that was measured on one that did not is worth nothing. Its own timer,
// set every 10 ms, is as late as everybody else's; the processor's counters tell how busy the machine was, whoever caused it.
type Monitor struct {
	stop    context.CancelFunc
	stopped sync.WaitGroup

	mu         sync.Mutex
	lateness   *hdrhistogram.Histogram // µs
	lateMax    time.Duration
	lateStarts int
	dropped    int
	cores      int
	began      time.Time
	self       *process.Process
	before     usage
	now        usage
}

// usage is what the processor and this process have used up.
type usage struct {
	at               time.Time
	busy, total, own float64 // seconds of CPU
	memory           uint64
}

const (
	probeEvery = 10 * time.Millisecond
	usageEvery = 250 * time.Millisecond
	// The histogram holds lateness up to ten minutes with an error of at most 1 %.
	maxLateness = int64(10 * time.Minute / time.Microsecond)
	digits      = 2
)

// NewMonitor begins to watch. What keeps it from going on is told.
func NewMonitor(c clock.Clock, failed func(error)) *Monitor {
	ctx, stop := context.WithCancel(context.Background())
	m := &Monitor{stop: stop, lateness: hdrhistogram.New(1, maxLateness, digits), cores: runtime.NumCPU(), began: c.Now()}
	// Without a handle of our own process its CPU and memory stay at zero; on the platforms we know it cannot fail.
	m.self, _ = process.NewProcess(int32(os.Getpid()))
	m.before = m.usage(c.Now())
	m.now = m.before
	m.stopped.Go(func() {
		if err := browser.Guard(func() error { m.watch(ctx, c); return nil }); err != nil {
			failed(err)
		}
	})
	return m
}

// Stop ends the watch.
func (m *Monitor) Stop() {
	m.stop()
	m.stopped.Wait()
}

// Started tells how late a load started.
func (m *Monitor) Started(late time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lateMax = max(m.lateMax, late)
	if late > record.LateStart {
		m.lateStarts++
	}
}

// Dropped tells that a load could not be started at all.
func (m *Monitor) Dropped() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropped++
}

// Health is what has been seen so far.
func (m *Monitor) Health() record.Health {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := record.Health{
		LatenessP50: seconds(m.lateness.ValueAtQuantile(50)),
		LatenessP99: seconds(m.lateness.ValueAtQuantile(99)),
		LatenessMax: seconds(m.lateness.Max()),
		Memory:      m.now.memory,
		LateStart:   m.lateMax.Seconds(),
		LateStarts:  m.lateStarts,
		Dropped:     m.dropped,
	}
	if total := m.now.total - m.before.total; total > 0 {
		h.CPU = min(max((m.now.busy-m.before.busy)/total, 0), 1)
	}
	if wall := m.now.at.Sub(m.before.at).Seconds(); wall > 0 {
		h.OwnCores = (m.now.own - m.before.own) / wall
	}
	return h
}

func (m *Monitor) watch(ctx context.Context, c clock.Clock) {
	next, measured := c.Now(), c.Now()
	for {
		next = next.Add(probeEvery)
		if clock.SleepUntil(ctx, c, next) != nil {
			return
		}
		now := c.Now()
		m.late(now.Sub(next))
		if now.Sub(measured) >= usageEvery {
			measured = now
			m.measure(now)
		}
		if now.Sub(next) > probeEvery {
			next = now // the machine stood still: that was one late timer, not a hundred
		}
	}
}

func (m *Monitor) late(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.lateness.RecordValue(min(int64(by/time.Microsecond), maxLateness))
}

func (m *Monitor) measure(now time.Time) {
	u := m.usage(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	u.memory = max(u.memory, m.now.memory)
	m.now = u
}

// usage reads the counters. One that the platform does not have stays zero.
func (m *Monitor) usage(now time.Time) usage {
	u := usage{at: now}
	if all, err := cpu.Times(false); err == nil && len(all) == 1 {
		t := all[0]
		u.busy = t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
		u.total = u.busy + t.Idle + t.Iowait
	}
	if m.self == nil {
		return u
	}
	if t, err := m.self.Times(); err == nil {
		u.own = t.User + t.System
	}
	if memory, err := m.self.MemoryInfo(); err == nil {
		u.memory = memory.RSS
	}
	return u
}

func seconds(µs int64) float64 { return float64(µs) / 1e6 }
