package serverclock

import (
	"time"

	"pollbench/bench/record"
)

// Contradicted tells by how much recorded searches contradict the offset that their instants were converted with, beyond its uncertainty: a search that seems to have
// started before it was sent, or a result that seems to have been received before it was there. Zero is what a clock gives that was left alone. It also tells how
// many searches were looked at: those whose instants may have been converted, all that went well and have an Accepted. A run that is contradicted
// by more than a few milliseconds has booked that much wrongly.
func (o Offset) Contradicted(trials []record.Trial) (by time.Duration, searches int) {
	for _, t := range trials {
		for _, s := range t.Searches {
			if s.Outcome != record.OK || s.Accepted == 0 || len(s.Requests) == 0 || s.Requests[0].Resent {
				continue // of a request that was sent twice only the second time is known
			}
			searches++
			submit, last := s.Requests[0], s.Requests[len(s.Requests)-1]
			early := span(submit.Slot-s.Accepted) - halfStarted
			late := span(s.Ready-last.FirstByte) - halfCompleted
			by = max(by, early-o.Uncertainty, late-o.Uncertainty)
		}
	}
	return by, searches
}

// span is a length of recorded time.
func span(t record.Time) time.Duration { return time.Duration(t) * time.Microsecond }
