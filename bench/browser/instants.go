package browser

import (
	"errors"
	"fmt"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/serverclock"
)

// take takes over the instants of a Server-Timing header. They are exact, and on the run's own clock.
func (s *search) take(told map[string]clock.Instant) {
	one := func(name string, into *record.Time) {
		if instant, ok := told[name]; ok {
			*into = s.page.since(instant.Time())
		}
	}
	one(clock.SearchAccepted, &s.seen.Accepted)
	one(clock.SearchStart, &s.seen.Start)
	one(clock.SearchReady, &s.seen.Ready)
}

// complete sees to it that a search which has its result also has the instants at which it was started and ready: without these its time cannot be split.
// Where no Server-Timing had them they come from the result's own answer, of which two things can be known:
//
// Elasticsearch's body tells when the search was accepted and completed, in milliseconds on its own clock; see package serverclock.
//
// Kibana's own form and the answer to a plain search tell only how long the search took. It was accepted after the submit was sent, and so much before the submit's
// answer as that was held: the wait that was asked for if the search ran on, else the whole search. The middle of these is taken, and is wrong by half a
// round trip at most.
//
// In either case nobody tells when execution began: see [record.Search].
func (s *search) complete() error {
	seen, h := s.seen, s.result
	if seen.Start != 0 && seen.Ready != 0 {
		return nil
	}
	var accepted, ready time.Time
	switch {
	case h.started != 0 && h.completed != 0:
		at := s.page.options.ServerClock
		if at == nil {
			return errors.New("answer has no Server-Timing with the search's start and ready, and where its server's clock stands is not known")
		}
		accepted, ready = at.Started(h.started), at.Completed(h.completed)
	case h.took != untold:
		took := serverclock.Took(h.took)
		accepted = s.page.options.Epoch.Add(middle(seen.Requests[0], took))
		ready = accepted.Add(took)
	default:
		return errors.New("answer has no Server-Timing with the search's start and ready, nor anything else that tells of them")
	}
	seen.Accepted, seen.Ready = s.page.since(accepted), s.page.since(ready)
	seen.Start = max(seen.Accepted, seen.Ready-record.Time(seen.Delay.Duration/time.Microsecond))
	if seen.Accepted <= 0 || seen.Ready < seen.Accepted {
		return fmt.Errorf("answer tells of a search from %.3f to %.3f s after the run's beginning: the server's clock was set, or is another one",
			seen.Accepted.Seconds(), seen.Ready.Seconds())
	}
	return nil
}

// middle of the instants at which a search may have been accepted that took so long, by the exchange of its submit; since the epoch.
func middle(submit record.Request, took time.Duration) time.Duration {
	from, to := length(submit.Sent), length(submit.FirstByte)
	switch held := to - submit.Wait.Duration; {
	case !submit.Running:
		to = max(from, to-took)
	case held >= from: // else the server has not waited for as long as it was asked to
		to = held
	}
	return from + (to-from)/2
}

// length is a recorded time as a duration.
func length(t record.Time) time.Duration { return time.Duration(t) * time.Microsecond }
