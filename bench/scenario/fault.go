package scenario

import "pollbench/bench/clock"

// Fault is what goes wrong with each search of a group. It travels in the query, as the delay does, and only the embedded Elasticsearch understands it.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// On lists the requests to Elasticsearch about the search at which it happens, the submit being 0. None: 1, the first poll's. A
	// [SearchFails] happens whenever it is asked.
	On         []int         `json:"on,omitempty"`
	RetryAfter clock.Seconds `json:"retry_after_s,omitzero"` // said in the answer of [TooManyRequests] and [Unavailable]; whole seconds
	Over       clock.Seconds `json:"over_s,omitzero"`        // how long the body of [SlowBody] takes; zero: 1 s
	// Failed of Of shards fail in a [SearchFails]; zero: the whole search.
	Failed int `json:"failed,omitzero"`
	Of     int `json:"of,omitzero"`
}

// FaultKind is a way for a search or an answer to go wrong.
type FaultKind string

// The faults that can be asked for. All but the first leave the search itself alone: asked again, it gives its result.
const (
	SearchFails     FaultKind = "failure"           // after its delay
	TooManyRequests FaultKind = "too_many_requests" // 429
	Unavailable     FaultKind = "unavailable"       // 503
	CutAnswer       FaultKind = "cut"               // the connection is cut half-way through the answer
	TruncatedBody   FaultKind = "truncated"         // JSON that ends half-way
	MalformedBody   FaultKind = "malformed"         // no JSON at all
	SlowBody        FaultKind = "slow"              // a body that drips
)

// FaultKinds lists them, in the order in which they are shown.
func FaultKinds() []FaultKind {
	return []FaultKind{SearchFails, TooManyRequests, Unavailable, CutAnswer, TruncatedBody, MalformedBody, SlowBody}
}
