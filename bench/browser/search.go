package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/strategy"
)

// Kibana's routes.
const (
	asyncPath  = "/internal/search/ese"
	syncPath   = "/internal/search/es"
	statusPath = "/api/status"
)

// Index holds the documents that the dashboards search. Each hit has HitSize bytes, so that a result's size can be asked for.
const (
	Index   = "pollbench"
	HitSize = 256
)

// search is one panel's search on its way. It has no goroutine while it waits: what comes next is called by the clock, by the queue of slots or
// with the answer, one at a time, and [search.abort] may cut in between.
type search struct {
	page     *Page
	strategy strategy.Strategy
	payload  int
	asked    time.Time // by the page
	seen     *record.Search
	finished func() // called once, when seen is complete

	id     string
	asking call // the poll, made once: it is the same each time

	mu      sync.Mutex
	aborted error
	cancel  func() bool // keeps what comes next from being called; nil once it has been
}

// head is the part of Elasticsearch's answer that a page looks at.
type head struct {
	id               string
	running, partial bool
	failed, timedOut bool
	failedShards     bool
}

func readHead(body []byte) (head, error) {
	var h head
	err := members(body, func(name, value []byte) {
		switch string(name) {
		case "id":
			h.id = string(bytes.Trim(value, `"`)) // base64: nothing in it is escaped
		case "is_running":
			h.running = string(value) == "true"
		case "is_partial":
			h.partial = string(value) == "true"
		case "timed_out":
			h.timedOut = string(value) == "true"
		case "error":
			h.failed = true
		case "_shards":
			var shards struct{ Failed int }
			h.failedShards = json.Unmarshal(value, &shards) != nil || shards.Failed > 0
		}
	})
	return h, err
}

// begin asks for the search.
func (s *search) begin(ctx context.Context) {
	s.seen.Outcome = record.OK
	s.asked = s.page.options.Clock.Now()
	c, err := s.submit(s.strategy.Next(strategy.State{}).Wait)
	if err != nil {
		s.end(err)
		return
	}
	s.ask(ctx, c)
}

// ask queues a request.
func (s *search) ask(ctx context.Context, c call) {
	s.next(func() func() bool {
		return s.page.send(ctx, c, func(a answer, seen record.Request, err error) { s.answered(ctx, a, seen, err) })
	})
}

// answered goes on from an answer: to the end, or to the next poll after the strategy's sleep.
func (s *search) answered(ctx context.Context, a answer, seen record.Request, err error) {
	var done bool
	if err == nil {
		done, err = s.read(a, &seen)
	}
	s.seen.Requests = append(s.seen.Requests, seen)
	if err != nil {
		s.end(err)
		return
	}
	arrived := s.page.options.Clock.Now()
	decision := s.strategy.Next(strategy.State{Elapsed: arrived.Sub(s.asked), Attempt: len(s.seen.Requests), Done: done})
	if decision.Stop {
		s.seen.Delivered = s.page.since(arrived)
		s.end(s.complete())
		return
	}
	if s.asking.body == nil {
		if s.asking, err = s.poll(decision.Wait); err != nil {
			s.end(err)
			return
		}
	}
	c := s.asking
	c.sleep = decision.Sleep
	if c.sleep == 0 {
		s.ask(ctx, c)
		return
	}
	s.next(func() func() bool {
		return s.page.options.Clock.At(arrived.Add(c.sleep), func() { go s.ask(ctx, c) })
	})
}

// next sets off what comes next, unless the search has been aborted.
func (s *search) next(begin func() (cancel func() bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aborted != nil {
		s.end(s.aborted)
		return
	}
	s.cancel = begin()
}

// abort ends the search early. A request that is under way has to be ended by closing its connection.
func (s *search) abort(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aborted = why
	if s.cancel != nil && s.cancel() {
		s.end(why)
	}
}

// end completes the record.
func (s *search) end(err error) {
	if err != nil {
		s.seen.Outcome, s.seen.Error, s.seen.Delivered = record.Failed, err.Error(), 0
	}
	s.finished()
}

// complete checks that the server told when the search started and was ready: without these its time cannot be split.
func (s *search) complete() error {
	if s.seen.Start == 0 || s.seen.Ready == 0 {
		return errors.New("answer has no Server-Timing with the search's start and ready")
	}
	return nil
}

// read takes over what the answer says of the search.
func (s *search) read(a answer, seen *record.Request) (done bool, err error) {
	h, err := readHead(a.body)
	if err != nil {
		return false, fmt.Errorf("read answer: %w: %s", err, beginning(a.body))
	}
	if start, ok := a.instants[clock.SearchStart]; ok {
		s.seen.Start = s.page.since(start.Time())
	}
	if ready, ok := a.instants[clock.SearchReady]; ok {
		s.seen.Ready = s.page.since(ready.Time())
	}
	if h.id != "" {
		s.id = h.id
	}
	seen.Running = h.running
	switch {
	case h.running && s.id == "":
		return false, errors.New("search runs on, but its answer has no id")
	case h.running:
		return false, nil
	case h.failed, h.partial, h.timedOut, h.failedShards:
		return true, fmt.Errorf("search failed: %s", beginning(a.body))
	}
	return true, nil
}

// submit is the first request: the whole query.
func (s *search) submit(wait time.Duration) (call, error) {
	query := map[string]any{
		"size": (s.payload + HitSize - 1) / HitSize,
		"aggs": map[string]any{
			"wait": map[string]any{"shard_delay": map[string]any{"value": timeValue(s.seen.Delay.Duration)}},
		},
	}
	params := map[string]any{"index": Index, "body": query}
	path := syncPath
	if !s.strategy.Sync {
		path = asyncPath
		params["wait_for_completion_timeout"] = timeValue(wait)
	}
	b, err := json.Marshal(map[string]any{"params": params, "stream": true})
	return call{method: http.MethodPost, path: path, body: b, wait: wait}, err
}

// poll asks again, with nothing but the wait. Without retrieveResults the dashboard server asks for the status first.
func (s *search) poll(wait time.Duration) (call, error) {
	b, err := json.Marshal(map[string]any{
		"params":          map[string]any{"wait_for_completion_timeout": timeValue(wait)},
		"retrieveResults": s.strategy.Poll == strategy.ByResult,
		"stream":          true,
	})
	c := call{method: http.MethodPost, path: asyncPath + "/" + url.PathEscape(s.id), body: b, wait: wait}
	if s.strategy.Poll == strategy.ByStatus {
		c.wait = 0 // nobody holds a status
	}
	return c, err
}

// timeValue writes a duration in Elasticsearch's units, in the largest that is exact.
func timeValue(d time.Duration) string {
	switch {
	case d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	case d%time.Millisecond == 0:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + "ms"
	case d%time.Microsecond == 0:
		return strconv.FormatInt(int64(d/time.Microsecond), 10) + "micros"
	}
	return strconv.FormatInt(int64(d), 10) + "nanos"
}
