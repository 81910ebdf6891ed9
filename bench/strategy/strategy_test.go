package strategy

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// ticks are the instants, at zero latency, at which the answer to a request that the server did not hold arrives:
// written out by hand from the published tables of Kibana's and Rally's sources, independently of this package.
func TestTicks(t *testing.T) {
	tests := map[string][]float64{
		"traditional":     {0.2, 0.5, 0.8, 1.1, 1.4, 1.7, 2.7, 3.7, 4.7, 5.7, 8.2, 10.7, 13.2, 15.7, 18.2, 20.7, 25.7, 30.7},
		"fallback":        {0.2, 0.5, 0.8, 1.1, 1.4, 1.7, 2.7, 3.7, 4.7, 5.7, 8.2, 10.7, 13.2, 15.7, 18.2, 20.7, 25.7, 30.7},
		"continuous":      {0.2, 30.2, 60.2},
		"kibana-8.5":      {0.1, 1.2, 2.3, 3.4, 4.5, 5.6}, // each the end of a wait of 0.1
		"kibana-8.6":      {0.1, 1.1, 2.1, 3.1, 4.1, 5.1, 7.6, 10.1, 12.6, 15.1, 17.6, 20.1, 25.1, 30.1},
		"no-backoff":      {0.2, 0.5, 0.8, 1.1, 1.4, 1.7, 2.0, 2.3, 2.6, 2.9, 3.2},
		"long-first-wait": {3, 4, 5, 7.5, 10, 12.5, 15, 17.5, 20, 25, 30},
		"rally":           {0, 0, 0.5, 1, 1.5, 2, 2.5, 3},
	}
	for name, want := range tests {
		s, ok := Named(name)
		if !ok {
			t.Fatalf("no strategy %q", name)
		}
		var now time.Duration
		for attempt, tick := range want {
			d := s.Next(State{Elapsed: now, Attempt: attempt})
			hold := d.Wait
			if attempt > 0 && s.Poll == ByStatus {
				hold = 0 // nobody holds a status
			}
			now += d.Sleep + hold
			if got := now.Seconds(); d.Stop || got != tick {
				t.Errorf("%s: answer %d at %v s (stop %v), want %v s", name, attempt+1, got, d.Stop, tick)
			}
		}
		if !s.Next(State{Elapsed: now, Attempt: len(want), Done: true}).Stop {
			t.Errorf("%s: goes on after the search has ended", name)
		}
	}
}

func TestSyncSendsOneRequest(t *testing.T) {
	s := Sync()
	if s.Next(State{}).Stop {
		t.Error("stops before its request")
	}
	if !s.Next(State{Attempt: 1}).Stop {
		t.Error("goes on after its request")
	}
}

func TestEveryNameIsAStrategy(t *testing.T) {
	for _, name := range Names() {
		if s, ok := Named(name); !ok || s.Name != name {
			t.Errorf("Named(%q) = %q, %v", name, s.Name, ok)
		}
	}
	if _, ok := Named("telepathy"); ok {
		t.Error("there is a strategy that nobody wrote")
	}
}

func TestJSON(t *testing.T) {
	for _, name := range Names() {
		want, _ := Named(name)
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Strategy
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s became %+v", name, b, got)
		}
	}
	b, err := json.Marshal(Kibana85())
	want := `{"name":"","submit_wait_s":0.1,"poll_wait_s":0.1,"poll":"result","tiers":[{"sleep_s":1}]}`
	if err != nil || string(b) != want {
		t.Errorf("got %s, %v; want %s", b, err, want)
	}
}
