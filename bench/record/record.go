// Package record is the result folder: what a run writes and everything else reads.
//
// A folder holds manifest.json, which says what is going to be measured and is on disk before the first request, and
// observations.ndjson, one line for each dashboard load as it ends. A line is written by one call, so that a process killed at any
// moment leaves whole lines and at most one torn one at the end, which [Open] leaves out with a warning. analysis.json
// and the charts are made from these two files alone.
package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
)

// Time is a point in time of a run: microseconds since its epoch, written in JSON as decimal seconds. The epoch lies before all that is
// recorded; so zero stands for what has not happened.
type Time int64

// MarshalJSON writes seconds, exact to the microsecond.
func (t Time) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(t)/1e6, 'f', -1, 64), nil
}

// UnmarshalJSON reads seconds, rounded to the microsecond.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s float64
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read time %s: %w", b, err)
	}
	us := math.Round(s * 1e6)
	if math.Abs(us) > 1e15 {
		return fmt.Errorf("read time %s: out of range", b)
	}
	*t = Time(us)
	return nil
}

// Seconds converts to seconds since the run's epoch.
func (t Time) Seconds() float64 { return float64(t) / 1e6 }

// Outcomes of a search. A trial is OK or Failed: Failed if any of its searches is, or has timed out.
const (
	OK       = "ok"
	Failed   = "failed"  // a request failed beyond what the strategy retries, or the server said that the search did
	TimedOut = "timeout" // the browser gave it up, at the scenario's search timeout
	Hidden   = "hidden"  // its tab was hidden before it was done, and cancelled it
)

// Trial is one observation: one dashboard load with all that was seen of it.
type Trial struct {
	Trial       int               `json:"trial"` // its number in the plan
	Swept       clock.Seconds     `json:"swept_s,omitzero"`
	Strategy    string            `json:"strategy"`
	Protocol    scenario.Protocol `json:"protocol"`
	Topology    string            `json:"topology,omitempty"` // the path's name; none: direct
	Repeat      int               `json:"repeat"`
	Outcome     string            `json:"outcome"`
	Error       string            `json:"error,omitempty"` // why the page could not be opened
	Intended    Time              `json:"intended_s"`
	Started     Time              `json:"started_s"`
	Connections int               `json:"connections"` // that the page opened
	Searches    []Search          `json:"searches"`
	Bystanders  []Bystander       `json:"bystanders,omitempty"`
	Health      Health            `json:"health"` // of the run so far
}

// LateStart is how late a load may start before that counts against the run's health.
const LateStart = 50 * time.Millisecond

// FirstError is an example of what failed in the load; empty if nothing is known to have.
func (t Trial) FirstError() string {
	if t.Error != "" {
		return t.Error
	}
	for _, s := range t.Searches {
		if s.Error != "" && s.Outcome != Hidden {
			return s.Error
		}
	}
	return ""
}

// Search is one panel's search. Accepted, Start and Ready are the server's instants; a failed search may lack them, and Delivered.
type Search struct {
	Tab      int           `json:"tab,omitempty"`       // where there are several: the first is 1
	Intended Time          `json:"intended_s,omitzero"` // start of its tab; zero: the load's
	Group    string        `json:"group"`
	Delay    clock.Seconds `json:"delay_s"`
	Outcome  string        `json:"outcome"`
	Error    string        `json:"error,omitempty"`
	// Accepted is when the server took the search, where it tells: the search may have queued there from then to Start. Where it does not tell
	// when it began to execute the search, Start is the larger of Accepted and Ready − Delay: execution cannot have begun later. It may have begun earlier
	// and the result have waited to be put together, as on an Elasticsearch with few threads; that wait is then counted as one before.
	Accepted  Time      `json:"accepted_s,omitzero"`
	Start     Time      `json:"start_s,omitzero"`
	Ready     Time      `json:"ready_s,omitzero"`
	Delivered Time      `json:"delivered_s,omitzero"`
	Requests  []Request `json:"requests"`
	// Retries counts the failed polls that were asked again.
	Retries int `json:"retries,omitempty"`
	// Ending are the requests that follow a failure or the giving up: the last one for intermediate results, and the DELETE.
	Ending []Request `json:"ending,omitempty"`
}

// From is the instant at which the page of a search was meant to start.
func (t Trial) From(s Search) Time {
	if s.Intended != 0 {
		return s.Intended
	}
	return t.Intended
}

// Bystander is one small request of the page.
type Bystander struct {
	Tab      int     `json:"tab,omitempty"`
	Intended Time    `json:"intended_s"`
	Error    string  `json:"error,omitempty"`
	Request  Request `json:"request"`
}

// Request is one HTTP exchange as the browser saw it, with the instants at which the dashboard server took and answered it.
// Instants that were not reached are zero.
type Request struct {
	Queued       Time          `json:"queued_s"`
	Slot         Time          `json:"slot_s,omitzero"` // given
	Sent         Time          `json:"sent_s,omitzero"`
	FirstByte    Time          `json:"first_byte_s,omitzero"`
	Done         Time          `json:"done_s,omitzero"`
	DashboardIn  Time          `json:"dashboard_in_s,omitzero"`
	DashboardOut Time          `json:"dashboard_out_s,omitzero"`
	SocketWait   clock.Seconds `json:"socket_wait_s,omitzero"` // of the dashboard server, for a connection to Elasticsearch
	Sleep        clock.Seconds `json:"sleep_s,omitzero"`       // that the strategy wanted before it
	Wait         clock.Seconds `json:"wait_s,omitzero"`        // for which the server might hold it
	Connection   int           `json:"connection"`             // the browser's first is 1
	Resent       bool          `json:"resent,omitempty"`       // by the browser, as its connection broke before anything of the answer was there
	Protocol     string        `json:"protocol,omitempty"`     // that the answer came over
	Status       int           `json:"status,omitempty"`
	Running      bool          `json:"running,omitempty"` // the answer said that the search still runs
	Error        string        `json:"error,omitempty"`   // why there was no answer, or none of use
}

// Health is how well the machine kept up, from the run's start to the moment of writing.
type Health struct {
	LatenessP50 float64 `json:"timer_lateness_p50_s"`
	LatenessP99 float64 `json:"timer_lateness_p99_s"`
	LatenessMax float64 `json:"timer_lateness_max_s"`
	CPU         float64 `json:"cpu_fraction"`  // busy share of all the machine's cores, by anyone
	OwnCores    float64 `json:"process_cores"` // cores that this process kept busy
	Memory      uint64  `json:"memory_peak_bytes"`
	LateStart   float64 `json:"start_lateness_max_s"`
	LateStarts  int     `json:"late_starts"` // starts more than 50 ms late
	Dropped     int     `json:"dropped_starts"`
}
