package strategy

import (
	"testing"
	"time"
)

// answers are the instants at which answers arrive, at zero latency, when the server holds each request for as long as it may. The page
// knows what the hop multiplexes from the given answer on; 0 is before the search.
func answers(s Strategy, multiplexes bool, knownFrom, n int) (at []float64) {
	var now time.Duration
	for attempt := range n {
		plain := s.On(multiplexes && knownFrom == 0, multiplexes && attempt >= knownFrom)
		d := plain.Next(State{Elapsed: now, Attempt: attempt})
		now += d.Sleep + d.Wait
		at = append(at, now.Seconds())
	}
	return at
}

// The instants follow from Kibana's tables. Its sleep is settled when a search begins and its poll's wait is asked anew: so a search that began
// before the first answer sleeps 0.3 s after its submit, is held 30 s, and then, beyond 20 s, sleeps 5 s between long polls.
func TestChoiceTicks(t *testing.T) {
	fallback := []float64{0.2, 0.5, 0.8, 1.1, 1.4, 1.7, 2.7, 3.7, 4.7, 5.7, 8.2}
	for _, c := range []struct {
		name        string
		multiplexes bool
		knownFrom   int
		want        []float64
	}{
		{"auto", true, 1, []float64{0.2, 30.5, 65.5, 100.5}},
		{"auto", true, 0, []float64{0.2, 30.2, 60.2}}, // a panel that is added later
		{"auto", true, 3, []float64{0.2, 0.5, 0.8, 31.1, 66.1}},
		{"auto", false, 1, fallback},
		{"auto-by-server", true, 0, []float64{0.2, 30.2, 60.2}},
		{"auto-by-server", false, 0, fallback},
	} {
		s, _ := Named(c.name)
		for i, got := range answers(s, c.multiplexes, c.knownFrom, len(c.want)) {
			if got != c.want[i] {
				t.Errorf("%s, multiplexes %v, known from answer %d: answer %d at %v s, want %v s", c.name, c.multiplexes, c.knownFrom, i+1, got, c.want[i])
			}
		}
	}
}

func TestChoiceIsByTheHop(t *testing.T) {
	for name, want := range map[string]Hop{"auto": LastHop, "auto-by-server": ServerHop} {
		if s, _ := Named(name); s.Choice == nil || s.Choice.By != want {
			t.Errorf("%s goes by %+v", name, s.Choice)
		}
	}
}

// What a search follows keeps the name and the retries of what the scenario lists; any other strategy is itself on every hop.
func TestOnIsPlain(t *testing.T) {
	s := Auto()
	s.Name, s.Retry = "patient", 3
	for _, multiplexes := range []bool{false, true} {
		if plain := s.On(multiplexes, multiplexes); plain.Choice != nil || plain.Name != "patient" || plain.Retry != 3 || plain.Poll != ByResult {
			t.Errorf("on a hop that multiplexes (%v): %+v", multiplexes, plain)
		}
		if plain := Traditional().On(!multiplexes, multiplexes); plain.Poll != ByStatus || len(plain.Tiers) != 4 || plain.PollWait != ms(200) {
			t.Errorf("traditional became %+v", plain)
		}
	}
}

// A failed poll is asked again after the sleep that would have come anyway, what the answer asked for or 0.3 s, whichever is the longest.
func TestRetries(t *testing.T) {
	const s = time.Second
	patient := func(like Strategy) Strategy { like.Retry = 2; return like }
	for name, c := range map[string]struct {
		strategy Strategy
		now      State
		want     Decision
	}{
		"none":             {Continuous(), State{Attempt: 2, Failed: true, Failures: 1}, Decision{Stop: true}},
		"first":            {patient(Continuous()), State{Attempt: 2, Failed: true, Failures: 1}, Decision{Sleep: 300 * time.Millisecond, Wait: 30 * s}},
		"second":           {patient(Continuous()), State{Attempt: 3, Failed: true, Failures: 2}, Decision{Sleep: 300 * time.Millisecond, Wait: 30 * s}},
		"third":            {patient(Continuous()), State{Attempt: 4, Failed: true, Failures: 3}, Decision{Stop: true}},
		"retry after":      {patient(Continuous()), State{Attempt: 2, Failed: true, Failures: 1, RetryAfter: s}, Decision{Sleep: s, Wait: 30 * s}},
		"longer tier":      {patient(Traditional()), State{Attempt: 9, Elapsed: 6 * s, Failed: true, Failures: 1, RetryAfter: s}, Decision{Sleep: 2500 * time.Millisecond, Wait: 200 * time.Millisecond}},
		"first poll":       {patient(Rally()), State{Attempt: 1, Failed: true, Failures: 1}, Decision{Sleep: 500 * time.Millisecond}}, // not at once
		"goes on after it": {patient(Continuous()), State{Attempt: 3, Failures: 2}, Decision{Wait: 30 * s}},
		"ended":            {patient(Continuous()), State{Attempt: 3, Done: true, Failures: 1}, Decision{Stop: true}},
	} {
		if got := c.strategy.Next(c.now); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	patient := AutoByServer()
	patient.Retry = 3
	for want, s := range map[string]Strategy{
		"continuous where the browser's connection is h2, after a first sleep, since an answer has to show it, else fallback": Auto(),
		"continuous where the dashboard server speaks h2, else fallback, up to 3 failed polls asked again":                    patient,
		"submit held 200ms, then asks for the status, after sleeps of 300ms until 1.5s, 1s until 5s, 2.5s until 20s, 5s":      Traditional(),
		"submit held 0s, then asks for the result, the first time at once, after sleeps of 500ms":                             Rally(),
		"submit held 200ms, then asks for the result, held 30s, again and again":                                              Continuous(),
		"one plain search, held to its end": Sync(),
	} {
		if got := s.Describe(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
