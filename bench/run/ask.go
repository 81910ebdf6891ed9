package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"pollbench/bench/clock"
)

// reply is the answer to a search that is done before it: Elasticsearch's own, or what Kibana makes of it.
type reply struct {
	status int
	said   string          // as it came
	ours   map[string]bool // instants in Server-Timing that are by our clock: they lie between question and answer

	ID             string
	Running        bool `json:"is_running"`
	RunningKibanas bool `json:"isRunning"`
	// In milliseconds of the server's clock; zero: not told.
	Started   int64 `json:"start_time_in_millis"`
	Completed int64 `json:"completion_time_in_millis"`

	Response, RawResponse *struct {
		Hits struct {
			Total totalHits
		}
		Shards struct{ Total int } `json:"_shards"`
	}
}

// totalHits is a number in Kibana's own form, and an object in Elasticsearch's.
type totalHits int

// UnmarshalJSON implements json.Unmarshaler.
func (t *totalHits) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*int)(t)) == nil {
		return nil
	}
	var object struct{ Value int }
	err := json.Unmarshal(b, &object)
	*t = totalHits(object.Value)
	return err
}

// found tells how many documents the search has found, and in how many shards it looked.
func (r reply) found() (documents, shards int) {
	response := r.Response
	if response == nil {
		response = r.RawResponse
	}
	if response == nil {
		return 0, 0
	}
	return int(response.Hits.Total), response.Shards.Total
}

// maxAnswer is far more than any search without hits answers.
const maxAnswer = 1 << 20

// running tells that the answer came before the search was done.
func (r reply) running() bool { return r.Running || r.RunningKibanas }

// beginning is enough of an answer to know it by, on one line.
func (r reply) beginning() string {
	return strings.Join(strings.Fields(r.said[:min(len(r.said), 300)]), " ")
}

// errNoSearch is an answer that tells of no search.
var errNoSearch = errors.New("what it answers tells of no search")

// ask plays a search.
func (b *Backend) ask(ctx context.Context, client *http.Client, at string, header http.Header, query string) (reply, error) {
	var r reply
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(query))
	if err != nil {
		return r, err
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Content-Type", "application/json")
	sent := b.clock.Now()
	answer, err := client.Do(request)
	if err != nil {
		return r, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return r, err
	}
	r.status, r.said = answer.StatusCode, string(body)
	if r.status != http.StatusOK {
		return r, fmt.Errorf("a search is answered %d: %s", r.status, r.beginning())
	}
	if err := json.Unmarshal(body, &r); err != nil || !r.running() && r.Response == nil && r.RawResponse == nil {
		return r, fmt.Errorf("%w: %s", errNoSearch, r.beginning())
	}
	instants, err := clock.Instants(answer.Header)
	r.ours = map[string]bool{}
	for name, instant := range instants {
		r.ours[name] = !instant.Time().Before(sent.Add(-time.Microsecond)) && // instants are cut to the microsecond
			!instant.Time().After(b.clock.Now())
	}
	return r, err
}

// timed tells whether the search's instants can be taken from Server-Timing.
func (r reply) timed() bool { return r.ours[clock.SearchReady] }

// passOver lists the instants that cannot be.
func (r reply) passOver() []string {
	var names []string
	if !r.timed() {
		names = append(names, clock.SearchAccepted, clock.SearchStart, clock.SearchReady)
	}
	if ours, told := r.ours[clock.DashboardIn]; told && !ours {
		names = append(names, clock.DashboardIn, clock.DashboardOut)
	}
	return names
}
