package browser

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// SearchPath is Kibana's route of async searches. A search has its own below it, by its id.
const SearchPath = "/internal/search/ese"

const (
	syncPath   = "/internal/search/es"
	statusPath = "/api/status"
)

// submit is the first request: the whole query.
func (s *search) submit(plain strategy.Strategy) (call, error) {
	aggs := map[string]any{
		"wait": map[string]any{"shard_delay": map[string]any{"value": timeValue(s.seen.Delay.Duration)}},
	}
	if s.fault != nil {
		aggs["fault"] = map[string]any{"fault": faultBody(*s.fault)}
	}
	query := map[string]any{"size": s.page.dashboard.Hits, "aggs": aggs}
	params := map[string]any{"index": s.page.dashboard.Index, "body": query}
	path, wait := syncPath, plain.Next(strategy.State{}).Wait
	if !plain.Sync {
		path = SearchPath
		params["wait_for_completion_timeout"] = timeValue(wait)
	}
	b, err := json.Marshal(map[string]any{"params": params, "stream": true})
	return call{method: http.MethodPost, path: path, body: b, wait: wait}, err
}

// poll is what a poll asks.
type poll struct {
	id   string
	by   strategy.Ask
	wait time.Duration
}

// pollCall asks again, with nothing but the wait. Without retrieveResults the dashboard server asks for the status first.
func (s *search) pollCall(p poll) (call, error) {
	c, err := s.ask(map[string]any{
		"params":          map[string]any{"wait_for_completion_timeout": timeValue(p.wait)},
		"retrieveResults": p.by == strategy.ByResult,
		"stream":          true,
	})
	c.wait = p.wait
	if p.by == strategy.ByStatus {
		c.wait = 0 // nobody holds a status
	}
	return c, err
}

// whatThereIs asks for the results so far, without waiting.
func (s *search) whatThereIs() (call, error) {
	return s.ask(map[string]any{
		"params":                    map[string]any{"wait_for_completion_timeout": timeValue(0)},
		"retrieveResults":           true,
		"returnIntermediateResults": true,
		"stream":                    true,
	})
}

func (s *search) ask(body map[string]any) (call, error) {
	b, err := json.Marshal(body)
	return call{method: http.MethodPost, path: s.path(), body: b}, err
}

// remove deletes the search.
func (s *search) remove() call { return call{method: http.MethodDelete, path: s.path()} }

func (s *search) path() string { return SearchPath + "/" + url.PathEscape(s.id) }

// faultBody asks the embedded Elasticsearch for what is to go wrong.
func faultBody(f scenario.Fault) map[string]any {
	body := map[string]any{"kind": f.Kind}
	if len(f.On) > 0 {
		body["on"] = f.On
	}
	if f.RetryAfter.Duration > 0 {
		body["retry_after"] = timeValue(f.RetryAfter.Duration)
	}
	if f.Kind == scenario.SlowBody {
		body["over"] = timeValue(cmp.Or(f.Over.Duration, time.Second))
	}
	if f.Failed > 0 {
		body["failed"], body["of"] = f.Failed, f.Of
	}
	return body
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
