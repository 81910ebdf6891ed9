// Package serverclock converts the instants that Elasticsearch tells of a search, in milliseconds on its own wall clock, to instants on the clock that
// everything else of a run is measured with.
//
// Elasticsearch tells start_time_in_millis, which is cut to the millisecond, and completion_time_in_millis, which is that and `took`, cut as well. So a
// search told to have started at S did so within [S, S+1) ms, and one told to be completed at C within [C, C+2) ms. [Offset.Started] and
// [Offset.Completed] give the middle.
//
// How far the server's clock is ahead of ours follows from causes and effects: a search starts after its request was sent, and is complete before its
// answer is received. Each [Exchange] therefore bounds the offset from both sides, and many of them, at different fractions of a millisecond, leave little
// room; nothing is taken for granted about the network being as fast one way as the other. The middle of what is left is the estimate, half its width
// the uncertainty. Local instants are converted by their monotonic reading, so that only a change of the server's clock can make an estimate wrong;
// [Offset.Contradicted] looks for that in what a run has recorded.
package serverclock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Exchange is one search, asked for by a request that brought its result.
type Exchange struct {
	// Sent is a local instant before the request was sent, Received one after the answer began to arrive.
	Sent, Received time.Time
	// Started and Completed are what the answer tells, in milliseconds since 1970.
	Started, Completed int64
}

// Offset is where the server's clock stands.
type Offset struct {
	// Reference is a local instant, whose wall clock and monotonic reading tie the two together.
	Reference time.Time
	// Ahead is by how much the server's wall clock is ahead of Reference's.
	Ahead time.Duration
	// Uncertainty is by how much Ahead may be wrong, in either direction.
	Uncertainty time.Duration
	// Contradiction is by how much the exchanges contradict each other; zero: some offset agrees with all of them. Else a clock was set while they were made, or
	// they run at different speeds: Ahead is then the middle of all that any exchange allows, and Uncertainty reaches to its ends.
	Contradiction time.Duration
}

// ErrUntold is that a server's answers do not tell when a search started and was completed, as those in Kibana's own form: there is nothing to convert then.
var ErrUntold = errors.New("the answers do not tell when a search started and was completed")

// Bound finds the offset that some exchanges allow. At least one is needed.
func Bound(exchanges []Exchange) (Offset, error) {
	if len(exchanges) == 0 {
		return Offset{}, errors.New("bound server clock: no exchange")
	}
	o := Offset{Reference: exchanges[0].Sent}
	var within, hull interval
	for i, x := range exchanges {
		if x.Received.Before(x.Sent) || x.Completed < x.Started {
			return Offset{}, fmt.Errorf("bound server clock: exchange %d ends before it begins", i+1)
		}
		allowed := interval{
			lo: millis(x.Completed) - o.local(x.Received),
			hi: millis(x.Started+1) - o.local(x.Sent),
		}
		if i == 0 {
			within, hull = allowed, allowed
		}
		within = interval{max(within.lo, allowed.lo), min(within.hi, allowed.hi)}
		hull = interval{min(hull.lo, allowed.lo), max(hull.hi, allowed.hi)}
	}
	if within.lo > within.hi {
		o.Contradiction = within.lo - within.hi
		within = hull
	}
	o.Ahead = within.lo + (within.hi-within.lo)/2
	o.Uncertainty = within.hi - o.Ahead
	return o, nil
}

// interval is what the server's clock may be ahead.
type interval struct{ lo, hi time.Duration }

// millis is an instant of the server's clock as the time since 1970.
func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// local is a local instant as the time since 1970 by the reference's wall clock.
func (o Offset) local(t time.Time) time.Duration {
	return time.Duration(o.Reference.UnixNano()) + t.Sub(o.Reference)
}

// exchanges are enough to meet many fractions of a millisecond, and take a tenth of a second on a fast network.
const exchanges = 30

// Estimate makes some 30 exchanges, one after the other, and finds the offset that they allow. Each should be as quick as can be: what it takes beyond the
// search itself is the room that it leaves.
func Estimate(ctx context.Context, ask func(context.Context) (Exchange, error)) (Offset, error) {
	made := make([]Exchange, exchanges)
	for i := range made {
		x, err := ask(ctx)
		if err != nil {
			return Offset{}, fmt.Errorf("estimate server clock: %w", err)
		}
		made[i] = x
	}
	return Bound(made)
}

// Half of what Elasticsearch cuts off: once from a start, twice from a completion.
const (
	halfStarted   = 500 * time.Microsecond
	halfCompleted = time.Millisecond
)

// Started is when a search started, of which start_time_in_millis is told: wrong by at most 0.5 ms and the uncertainty.
func (o Offset) Started(ms int64) time.Time { return o.at(millis(ms) + halfStarted) }

// Completed is when a search was completed, of which completion_time_in_millis is told: wrong by at most [Offset.Resolution].
func (o Offset) Completed(ms int64) time.Time { return o.at(millis(ms) + halfCompleted) }

// Took is how long a search took that is told to have taken so many whole milliseconds: wrong by at most 0.5 ms.
func Took(ms int64) time.Duration { return millis(ms) + halfStarted }

func (o Offset) at(server time.Duration) time.Time {
	return o.Reference.Add(server - time.Duration(o.Reference.UnixNano()) - o.Ahead)
}

// Resolution is by how much the instant of a completion may be wrong, in either direction: 1 ms and the uncertainty.
func (o Offset) Resolution() time.Duration { return halfCompleted + o.Uncertainty }
