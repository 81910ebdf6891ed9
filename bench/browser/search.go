package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
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

// searchTimeout is Kibana's `search:timeout`, here on top of the delay that was asked for: it ends what hangs.
const searchTimeout = 600 * time.Second

// search is one panel's search on its way.
type search struct {
	page     *Page
	strategy strategy.Strategy
	asked    time.Time // by the page
	seen     *record.Search
	id       string
	asking   call // the poll, made once: it is the same each time
}

// body is the part of Elasticsearch's answer that a page looks at.
type body struct {
	ID        string          `json:"id"`
	IsRunning bool            `json:"is_running"`
	IsPartial bool            `json:"is_partial"`
	Error     json.RawMessage `json:"error"`
	TimedOut  bool            `json:"timed_out"` // of a plain search
	Shards    struct {
		Failed int `json:"failed"`
	} `json:"_shards"`
}

// run plays the strategy until the search has ended. first is the place in the queue that the page took for the submit.
func (s *search) run(ctx context.Context, first *ticket, payload int) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.seen.Delay.Duration+searchTimeout,
		fmt.Errorf("search not done %v after its delay", searchTimeout))
	defer cancel()
	s.seen.Outcome = record.OK
	if err := s.loop(ctx, first, payload); err != nil {
		s.seen.Outcome, s.seen.Error = record.Failed, err.Error()
		s.seen.Delivered = 0
	}
}

func (s *search) loop(ctx context.Context, first *ticket, payload int) error {
	next := s.strategy.Next(strategy.State{})
	c, err := s.submit(next.Wait, payload)
	if err != nil {
		return err
	}
	queued, t := s.asked, first
	for attempt := 1; ; attempt++ {
		answer, seen, err := s.page.send(ctx, t, queued, c)
		var done bool
		if err == nil {
			done, err = s.read(answer, &seen)
		}
		seen.Sleep.Duration = next.Sleep
		s.seen.Requests = append(s.seen.Requests, seen)
		if err != nil {
			return err
		}
		arrived := s.page.options.Clock.Now()
		if next = s.strategy.Next(strategy.State{Elapsed: arrived.Sub(s.asked), Attempt: attempt, Done: done}); next.Stop {
			s.seen.Delivered = s.page.since(arrived)
			return s.complete()
		}
		if err := clock.SleepUntil(ctx, s.page.options.Clock, arrived.Add(next.Sleep)); err != nil {
			return err
		}
		if s.asking.body == nil {
			if s.asking, err = s.poll(next.Wait); err != nil {
				return err
			}
		}
		c = s.asking
		queued, t = s.page.options.Clock.Now(), s.page.slots.queue()
	}
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
	var b body
	if err := json.Unmarshal(a.body, &b); err != nil {
		return false, fmt.Errorf("read answer of %s: %w", syncOrAsync(s.strategy), err)
	}
	instants, err := clock.Instants(a.header)
	if err != nil {
		return false, err
	}
	if start, ok := instants[clock.SearchStart]; ok {
		s.seen.Start = s.page.since(start.Time())
	}
	if ready, ok := instants[clock.SearchReady]; ok {
		s.seen.Ready = s.page.since(ready.Time())
	}
	if b.ID != "" {
		s.id = b.ID
	}
	seen.Running = b.IsRunning
	switch {
	case b.IsRunning && s.id == "":
		return false, errors.New("search runs on, but its answer has no id")
	case b.IsRunning:
		return false, nil
	case b.Error != nil, b.IsPartial, b.TimedOut, b.Shards.Failed > 0:
		return true, fmt.Errorf("search failed: %s", a.body[:min(len(a.body), 300)])
	}
	return true, nil
}

// submit is the first request: the whole query.
func (s *search) submit(wait time.Duration, payload int) (call, error) {
	query := map[string]any{
		"size": (payload + HitSize - 1) / HitSize,
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
	return call{http.MethodPost, path, b, wait}, err
}

// poll asks again, with nothing but the wait. Without retrieveResults the dashboard server asks for the status first.
func (s *search) poll(wait time.Duration) (call, error) {
	b, err := json.Marshal(map[string]any{
		"params":          map[string]any{"wait_for_completion_timeout": timeValue(wait)},
		"retrieveResults": s.strategy.Poll == strategy.ByResult,
		"stream":          true,
	})
	c := call{http.MethodPost, asyncPath + "/" + url.PathEscape(s.id), b, wait}
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

func syncOrAsync(s strategy.Strategy) string {
	if s.Sync {
		return "search"
	}
	return "async search"
}
