// Package clock gives the program its time: one monotonic clock for every instant that is recorded, and timers precise enough
// to measure a millisecond.
//
// Go's own timers are rounded to whole milliseconds by the runtime's poller: an idle time.Sleep wakes 0.6 ms late at the median and
// more than 1 ms at p99, as much as what is to be measured. On Linux [New] therefore schedules on a timerfd, which wakes
// within about 0.1 ms. Everywhere else, and inside a testing/synctest bubble (where a poller's read is not durably
// blocking, so that virtual time would stand still), [Standard] offers the same interface on time.AfterFunc.
//
// A clock is passed in, never reached for: the same code then runs against real and virtual time.
package clock

import (
	"context"
	"time"
)

// Clock tells the time and calls back at an instant.
type Clock interface {
	// Now is the present instant, with Go's monotonic reading.
	Now() time.Time
	// At calls f once, not before t. f runs on the clock's own goroutine or one of its own and must not block: it
	// closes a channel, or starts a goroutine. The function returned stops the call; it reports whether it was
	// in time to do so.
	At(t time.Time, f func()) (stop func() bool)
}

// Standard is the clock of Go's own timers.
func Standard() Clock { return standard{} }

type standard struct{}

func (standard) Now() time.Time { return time.Now() }

func (standard) At(t time.Time, f func()) func() bool {
	in := time.Until(t)
	if in <= 0 {
		go f() // as AfterFunc does, but without a timer
		return func() bool { return false }
	}
	return time.AfterFunc(in, f).Stop
}

// SleepUntil returns nil at t, or the context's error as soon as it is done. An instant that has passed returns at once.
func SleepUntil(ctx context.Context, c Clock, t time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.Now().Before(t) {
		return nil
	}
	fired := make(chan struct{})
	stop := c.At(t, func() { close(fired) })
	select {
	case <-fired:
		return nil
	case <-ctx.Done():
		stop()
		return ctx.Err()
	}
}
