package browser

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// At its time-out a page asks once more for what there is by then, which Elasticsearch tells of a search that still runs only who wants intermediate results,
// and does not wait for more; then it deletes the search. Polls do not ask for them: the body that they would have to carry is of no use.
func TestLastRequestsOfATimeout(t *testing.T) {
	for _, protocol := range scenario.Protocols() {
		synctest.Test(t, func(t *testing.T) {
			type asked struct {
				method, path string
				body         any
			}
			var mu sync.Mutex
			var all []asked
			page := opened(t, protocol, func(w http.ResponseWriter, r *http.Request) {
				one := asked{r.Method, r.URL.EscapedPath(), nil}
				if text, _ := io.ReadAll(r.Body); len(text) > 0 {
					if err := json.Unmarshal(text, &one.body); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				all = append(all, one)
				mu.Unlock()
				answered(w, true)
			})
			seen, err := page.Load(t.Context(), time.Now(), Dashboard{
				Strategy: strategy.Fallback(), SearchTimeout: 400 * time.Millisecond, // between the first poll, at 0.3 s, and the second
				Panels: []Panel{{Group: "g", Delay: clock.Seconds{Duration: time.Second}}},
			})
			if err != nil || seen.Searches[0].Outcome != record.TimedOut {
				t.Fatalf("over %s: %s, %v", protocol, seen.Searches[0].Outcome, err)
			}
			ask := func(also map[string]any) map[string]any {
				body := map[string]any{"params": map[string]any{"wait_for_completion_timeout": "0s"}, "retrieveResults": true, "stream": true}
				for name, value := range also {
					body[name] = value
				}
				return body
			}
			const path = SearchPath + "/abc="
			want := []asked{
				{http.MethodPost, path, ask(nil)},
				{http.MethodPost, path, ask(map[string]any{"returnIntermediateResults": true})},
				{http.MethodDelete, path, nil},
			}
			if len(all) != 4 || !reflect.DeepEqual(all[1:], want) {
				t.Errorf("over %s, after the submit:\n%v\nwant\n%v", protocol, all[1:], want)
			}
		})
	}
}
