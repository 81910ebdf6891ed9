package run

import (
	"net/http"
	"testing"
	"time"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// checkEndings sees to it that a page deletes each search that it gives up and knows by an id, which it does once the submit has been answered, and no other.
// A hidden tab does so at once; the search is there, unless the drop of the request that was under way has had it cancelled.
func checkEndings(t *testing.T, s scenario.Scenario, seen record.Trial) {
	t.Helper()
	for i, search := range seen.Searches {
		want, dropped := 0, false
		if search.Outcome != record.OK && search.Requests[0].Status == http.StatusOK {
			want, dropped = 1, search.Requests[len(search.Requests)-1].Error != ""
		}
		if len(search.Ending) != want {
			t.Errorf("%s over %s: panel %d, %s, has %d last requests, want %d", seen.Strategy, seen.Protocol, i, search.Outcome, len(search.Ending), want)
			continue
		}
		if want == 0 || search.Outcome != record.Hidden {
			continue
		}
		hidden := seen.Intended + record.Time((s.Tabs.Start(search.Tab-1)+s.Tabs.Hide.Duration)/time.Microsecond)
		r := search.Ending[0]
		if r.Queued != hidden || r.Status != http.StatusOK && !(dropped && r.Status == http.StatusNotFound) {
			t.Errorf("%s over %s: panel %d is deleted at %v µs, want %v, with status %d: %s", seen.Strategy, seen.Protocol, i, r.Queued, hidden, r.Status, r.Error)
		}
	}
}
