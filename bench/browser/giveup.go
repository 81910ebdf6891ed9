package browser

import (
	"context"
	"fmt"

	"pollbench/bench/record"
)

// ended stands where the outcome of giving up would, once there is nothing left to give up.
const ended = "ended"

// giveUp has the page lose interest in the search, as Kibana's does at its time-out and when its tab is hidden. The request that is under way is
// dropped, as by an AbortController: on HTTP/1.1 with its connection. Then follow the requests of [search.part].
func (s *search) giveUp(ctx context.Context, outcome string) {
	s.mu.Lock()
	if s.given != "" || s.aborted != nil {
		s.mu.Unlock()
		return
	}
	s.given = outcome
	idle := s.cancel != nil && s.cancel()
	request := s.request
	s.mu.Unlock()
	switch {
	case idle:
		s.part(ctx)
	case request != nil:
		request.drop() // then its answer, an error, comes to part
	}
}

// fail ends the search after a failed request. A page that knows its id deletes it: it might still run.
func (s *search) fail(ctx context.Context, err error) {
	s.mu.Lock()
	given := s.given
	if given == "" {
		s.given = ended
	}
	s.mu.Unlock()
	switch {
	case given != "":
		s.part(ctx)
	case s.id == "" || ctx.Err() != nil:
		s.end(err)
	default:
		s.last(ctx, s.remove(), func() { s.end(err) })
	}
}

func (s *search) givenUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given != "" && s.aborted == nil
}

// part says good-bye to the server: at a time-out the page asks once more for whatever there is, and in any case it deletes the search.
// A search that has no id yet is cancelled by its dropped submit alone.
func (s *search) part(ctx context.Context) {
	s.seen.Outcome = s.given
	s.seen.Error = map[string]string{
		record.TimedOut: fmt.Sprintf("given up after %v", s.page.dashboard.SearchTimeout),
		record.Hidden:   "its tab was hidden",
	}[s.given]
	if s.id == "" {
		s.end(nil)
		return
	}
	if s.given == record.Hidden {
		s.last(ctx, s.remove(), func() { s.end(nil) })
		return
	}
	c, err := s.whatThereIs()
	if err != nil {
		s.end(err)
		return
	}
	s.last(ctx, c, func() { s.last(ctx, s.remove(), func() { s.end(nil) }) })
}

// last sends one of the last requests. What the server says to it changes nothing any more.
func (s *search) last(ctx context.Context, c call, then func()) {
	send := func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.aborted == nil {
			s.cancel = s.page.send(ctx, c, func(_ answer, seen record.Request, err error) {
				if err != nil {
					seen.Error = err.Error()
				}
				s.seen.Ending = append(s.seen.Ending, seen)
				then()
			}).leave
		}
		return s.aborted
	}
	if aborted := send(); aborted != nil {
		s.end(aborted)
	}
}
