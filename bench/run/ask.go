package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"pollbench/bench/clock"
)

// reply is the answer to a search that is done before it: Elasticsearch's own, or what Kibana makes of it.
type reply struct {
	status int
	said   string // as it came
	timed  bool   // the server tells instants by our clock

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

// ask plays a search.
func ask(ctx context.Context, client *http.Client, at string, header http.Header, query string) (reply, error) {
	var r reply
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader([]byte(query)))
	if err != nil {
		return r, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", "application/json")
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
		return r, fmt.Errorf("a search is answered %d: %s", r.status, r.said[:min(len(r.said), 300)])
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("read the answer to a search: %w: %s", err, r.said[:min(len(r.said), 300)])
	}
	instants, err := clock.Instants(answer.Header)
	_, r.timed = instants[clock.SearchReady]
	return r, err
}
