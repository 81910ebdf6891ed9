package wire_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/fixtures/elastic"
)

// TestServerElastic serves what the server is for: a search is submitted and waited for.
func TestServerElastic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := elastic.New(elastic.Options{Clock: clock.Standard()})
		defer handler.Close()
		s := host(t, handler.ServeHTTP)
		client, start := s.client(), time.Now()
		ask := func(method, path, body string) (answer struct {
			ID      string
			Running bool `json:"is_running"`
		}) {
			r, _ := http.NewRequest(method, s.url(path), strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			raw, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != 200 || json.Unmarshal(raw, &answer) != nil {
				t.Fatalf("%s %s: %s, %v: %s", method, path, response.Status, err, raw)
			}
			return answer
		}
		begun := ask("POST", "/pollbench/_async_search?wait_for_completion_timeout=1s",
			`{"size":1,"aggs":{"d":{"shard_delay":{"value":"20s"}}}}`)
		if after := time.Since(start); !begun.Running || after != time.Second {
			t.Errorf("running %v after %v", begun.Running, after)
		}
		ended := ask("GET", "/_async_search/"+begun.ID+"?wait_for_completion_timeout=30s", "")
		if after := time.Since(start); ended.Running || after != 20*time.Second {
			t.Errorf("running %v after %v", ended.Running, after)
		}
		ask("DELETE", "/_async_search/"+begun.ID, "")
	})
}
