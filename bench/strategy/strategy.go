// Package strategy describes ways of waiting for an async search, as plain values.
//
// A [Strategy] says how long the first request may be held, how long each poll may be held, what a poll asks for,
// and how long to sleep before it. It has no clock, no goroutine and no source of chance: [Strategy.Next] is a function of what
// has happened so far. The virtual browser and the model therefore run the very same value and can be held
// against each other. A strategy marshals to JSON, so that a result tells exactly what was measured.
package strategy

import (
	"fmt"
	"strings"
	"time"

	"pollbench/bench/clock"
)

// Ask is what a poll asks the server for.
type Ask string

const (
	// ByResult asks for the result itself, which comes once it is there.
	ByResult Ask = "result"
	// ByStatus asks only whether the search still runs; when it has ended, the dashboard server fetches the result
	// within the same browser request.
	ByStatus Ask = "status"
)

// Strategy is one way of waiting.
type Strategy struct {
	Name string `json:"name"`
	// Sync sends one plain search and waits for its answer: no submit, no polls, and no other field counts.
	Sync bool `json:"sync,omitempty"`
	// SubmitWait is how long the server may hold the first request for the result.
	SubmitWait clock.Seconds `json:"submit_wait_s"`
	// PollWait is how long it may hold each later one: 0 is a short poll, answered at once.
	PollWait clock.Seconds `json:"poll_wait_s"`
	// Poll is what a poll asks for. A status is never held, so by status PollWait is how long the server may hold
	// the fetch of the result that follows.
	Poll Ask `json:"poll,omitempty"`
	// AtOnce sends the first poll as soon as the submit has been answered; the tiers hold from the second on.
	AtOnce bool `json:"at_once,omitempty"`
	// Tiers give the sleep before a poll by the time elapsed since the search was asked for. None: no sleep at all.
	Tiers []Tier `json:"tiers,omitempty"`
	// Retry is how many failed polls of one search may be asked again, by its id. With none, as in Kibana, the first one fails the search.
	Retry int `json:"retry,omitempty"`
	// Choice makes the page pick between two strategies; then no field above counts but the name and Retry. See [Strategy.On].
	Choice *Choice `json:"choice,omitempty"`
}

// Tier is the sleep that holds while less than Under has elapsed. Only the last tier may leave Under zero: otherwise.
type Tier struct {
	Under clock.Seconds `json:"under_s,omitzero"`
	Sleep clock.Seconds `json:"sleep_s"`
}

// State is what a strategy may know when an answer has just arrived.
type State struct {
	// Elapsed is counted from when the page asked for the search, the wait for a connection slot included, to the
	// arrival of the answer.
	Elapsed time.Duration
	// Attempt is the number of answers so far; 0 before the first request has been sent.
	Attempt int
	// Done is true when the last answer ended the search, well or badly.
	Done bool
	// Failed is true when the last poll failed in a way that may pass: no answer, one that cannot be read, 429, or a server's
	// trouble. RetryAfter is what such an answer asked for, and Failures counts them, this one included.
	Failed     bool
	RetryAfter time.Duration
	Failures   int
}

// retryPause is the least sleep before a failed poll is asked again; it is the shortest that Kibana's strategies know. Without it a strategy that does not
// sleep would use up its tries before a restarting server is back.
const retryPause = 300 * time.Millisecond

// Decision is what to do next: stop, or sleep and then send a request that the server may hold for Wait.
type Decision struct {
	Stop  bool
	Sleep time.Duration
	Wait  time.Duration
}

// Next decides, from what has happened so far, what to do.
func (s Strategy) Next(now State) Decision {
	switch {
	case now.Done || s.Sync && now.Attempt > 0 || now.Failed && now.Failures > s.Retry:
		return Decision{Stop: true}
	case now.Failed:
		return Decision{Sleep: max(s.sleep(now.Elapsed), now.RetryAfter, retryPause), Wait: s.PollWait.Duration}
	case now.Attempt == 0:
		return Decision{Wait: s.SubmitWait.Duration}
	case now.Attempt == 1 && s.AtOnce:
		return Decision{Wait: s.PollWait.Duration}
	}
	return Decision{Sleep: s.sleep(now.Elapsed), Wait: s.PollWait.Duration}
}

func (s Strategy) sleep(elapsed time.Duration) time.Duration {
	for _, t := range s.Tiers {
		if t.Under.Duration == 0 || elapsed < t.Under.Duration {
			return t.Sleep.Duration
		}
	}
	return 0
}

// Describe says in one line what the strategy does.
func (s Strategy) Describe() string {
	if s.Choice != nil {
		return s.Choice.describe() + s.retries()
	}
	if s.Sync {
		return "one plain search, held to its end"
	}
	return s.waits() + s.retries()
}

// retries says what becomes of a failed poll, if that is out of the ordinary.
func (s Strategy) retries() string {
	if s.Retry == 0 {
		return ""
	}
	return fmt.Sprintf(", up to %d failed polls asked again", s.Retry)
}

func (s Strategy) waits() string {
	poll := "then asks for the " + string(s.Poll)
	if s.PollWait.Duration > 0 && s.Poll == ByResult {
		poll += ", held " + s.PollWait.String()
	}
	if len(s.Tiers) == 0 {
		return fmt.Sprintf("submit held %v, %s, again and again", s.SubmitWait, poll)
	}
	if s.AtOnce {
		poll += ", the first time at once"
	}
	var sleeps []string
	for _, t := range s.Tiers {
		sleep := t.Sleep.String()
		if t.Under.Duration > 0 {
			sleep += " until " + t.Under.String()
		}
		sleeps = append(sleeps, sleep)
	}
	return fmt.Sprintf("submit held %v, %s, after sleeps of %s", s.SubmitWait, poll, strings.Join(sleeps, ", "))
}
