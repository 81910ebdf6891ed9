package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// faulty is a dashboard of which half has a fault, loaded with these strategies, without and with asking again where they poll.
func faulty(f scenario.Fault, names ...string) scenario.Scenario {
	s := with(odd(), names...)
	for _, st := range s.Strategies {
		if !st.Sync {
			s.Strategies = append(s.Strategies, retrying(st.Name, 1))
		}
	}
	s.Groups = []scenario.Group{{Name: "faulty", Panels: 2, Delay: ms(2030), Fault: &f}, {Name: "sound", Panels: 2, Delay: ms(2030)}}
	return s
}

// What each way of failing does to each strategy, through the whole program: the first failed poll is the end, unless the strategy asks again; then
// nothing is lost, but for a search that has itself failed.
func TestReactionsToFaults(t *testing.T) {
	for _, c := range []struct {
		fault    scenario.Fault
		passes   bool   // for who asks again
		harmless bool   // for everybody
		says     string // the outcome's error
	}{
		{fault: scenario.Fault{Kind: scenario.SearchFails}, says: "status_exception"},
		{fault: scenario.Fault{Kind: scenario.SearchFails, Failed: 1, Of: 3}, says: "search failed"},
		{fault: scenario.Fault{Kind: scenario.TooManyRequests, RetryAfter: ms(1000)}, passes: true, says: "status 429"},
		{fault: scenario.Fault{Kind: scenario.Unavailable, RetryAfter: ms(2000)}, passes: true, says: "status 503"},
		{fault: scenario.Fault{Kind: scenario.CutAnswer}, passes: true, says: "/internal/search/ese/"},
		{fault: scenario.Fault{Kind: scenario.TruncatedBody}, passes: true, says: "not a whole JSON object"},
		{fault: scenario.Fault{Kind: scenario.MalformedBody}, passes: true, says: "not a whole JSON object"},
		{fault: scenario.Fault{Kind: scenario.SlowBody}, passes: true, harmless: true},
		{fault: scenario.Fault{Kind: scenario.SlowBody, Over: ms(700)}, passes: true, harmless: true},
	} {
		t.Run(fmt.Sprint(c.fault.Kind, c.fault.Failed), func(t *testing.T) {
			s := faulty(c.fault, "traditional", "continuous", "auto", "auto-by-server")
			synctest.Test(t, func(t *testing.T) {
				trials, err := play(t.Context(), t, s, plan.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, seen := range trials {
					survives := c.harmless || c.passes && strings.HasSuffix(seen.Strategy, "-retry")
					for _, search := range seen.Searches {
						want := record.OK
						if search.Group == "faulty" && !survives {
							want = record.Failed
						}
						if search.Outcome != want {
							t.Errorf("%s over %s: %s panel is %s, want %s: %s", seen.Strategy, seen.Protocol, search.Group, search.Outcome, want, search.Error)
						}
						if want == record.Failed && !strings.Contains(search.Error, c.says) {
							t.Errorf("%s over %s: %q does not say %q", seen.Strategy, seen.Protocol, search.Error, c.says)
						}
						if deletes := len(search.Ending); deletes > 1 || (deletes == 1) != (want == record.Failed) {
							t.Errorf("%s over %s: %s panel, %s, was deleted %d times", seen.Strategy, seen.Protocol, search.Group, search.Outcome, deletes)
						}
						if retried := search.Group == "faulty" && survives && !c.harmless; retried != (search.Retries == 1) {
							t.Errorf("%s over %s: %s panel asked again %d times", seen.Strategy, seen.Protocol, search.Group, search.Retries)
						}
					}
				}
			})
		})
	}
}

// A submit that goes wrong has failed, whoever asked: without an id nothing can be asked again, nor deleted. To a plain search there is no other request. Only
// a body that drips does no harm.
func TestReactionsToFaultsOfTheSubmit(t *testing.T) {
	for _, c := range []struct {
		fault scenario.Fault
		says  string // the outcome's error; "" where there is none
	}{
		{scenario.Fault{Kind: scenario.TooManyRequests, RetryAfter: ms(1000)}, "status 429"},
		{scenario.Fault{Kind: scenario.Unavailable}, "status 503"},
		{scenario.Fault{Kind: scenario.CutAnswer}, "/internal/search/es"},
		{scenario.Fault{Kind: scenario.TruncatedBody}, "not a whole JSON object"},
		{scenario.Fault{Kind: scenario.MalformedBody}, "not a whole JSON object"},
		{scenario.Fault{Kind: scenario.SlowBody}, ""},
	} {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			c.fault.On = []int{0}
			s := faulty(c.fault, "traditional", "continuous", "auto", "auto-by-server", "rally", "sync")
			synctest.Test(t, func(t *testing.T) {
				trials, err := play(t.Context(), t, s, plan.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, seen := range trials {
					for _, search := range seen.Searches {
						want := record.OK
						if search.Group == "faulty" && c.says != "" {
							want = record.Failed
						}
						if search.Outcome != want || want == record.Failed && !strings.Contains(search.Error, c.says) {
							t.Errorf("%s over %s: %s panel is %s, want %s with %q: %s",
								seen.Strategy, seen.Protocol, search.Group, search.Outcome, want, c.says, search.Error)
						}
						if n := len(search.Requests); search.Retries != 0 || len(search.Ending) != 0 || (want == record.Failed || seen.Strategy == "sync") != (n == 1) {
							t.Errorf("%s over %s: %s panel, %s: %d requests, %d of them again, and %d last ones",
								seen.Strategy, seen.Protocol, search.Group, search.Outcome, n, search.Retries, len(search.Ending))
						}
					}
				}
			})
		})
	}
}

// A plain search that fails has failed, in whole or in part.
func TestReactionOfSyncToFailure(t *testing.T) {
	for _, f := range []scenario.Fault{{Kind: scenario.SearchFails}, {Kind: scenario.SearchFails, Failed: 1, Of: 3}} {
		s := faulty(f, "sync")
		synctest.Test(t, func(t *testing.T) {
			trials, err := play(t.Context(), t, s, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, seen := range trials {
				for _, search := range seen.Searches {
					if failed := search.Outcome == record.Failed; failed != (search.Group == "faulty") || search.Retries != 0 || len(search.Requests) != 1 {
						t.Errorf("over %s, %d of %d shards: %s panel is %s after %d requests: %s",
							seen.Protocol, f.Failed, f.Of, search.Group, search.Outcome, len(search.Requests), search.Error)
					}
				}
			}
		})
	}
}

// A server that says when to come again is asked no sooner. The poll that fails is continuous's first, 0.2 s after the start: it has been refused
// at once, so that the next one comes at 3.2 s and is held until the search ends.
func TestRetryAfterIsKept(t *testing.T) {
	s := odd()
	s.Strategies = append(s.Strategies, retrying("continuous", 1))
	s.Groups = []scenario.Group{{Name: "faulty", Panels: 1, Delay: ms(4030),
		Fault: &scenario.Fault{Kind: scenario.TooManyRequests, RetryAfter: ms(3000)}}}
	synctest.Test(t, func(t *testing.T) {
		trials, err := play(t.Context(), t, s, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range trials {
			search := seen.Searches[0]
			var queued []record.Time
			for _, r := range search.Requests {
				queued = append(queued, r.Queued-seen.Intended)
			}
			if want := []record.Time{0, 200_000, 3_200_000}; !slices.Equal(queued, want) || search.Delivered-seen.Intended != 4_030_000 {
				t.Errorf("over %s: asked at %v µs, want %v; delivered after %d µs", seen.Protocol, queued, want, search.Delivered-seen.Intended)
			}
			if r := search.Requests[1]; r.Status != 429 || r.Error == "" {
				t.Errorf("the refused poll is recorded as %+v", r)
			}
		}
	})
}

// At its time-out the page drops what is under way, asks once more and deletes the search, in that order; and the load has failed.
func TestSearchTimeout(t *testing.T) {
	s := with(odd(), "traditional", "continuous")
	s.SearchTimeout = ms(4100)
	s.Bystanders = nil
	synctest.Test(t, func(t *testing.T) {
		trials, err := play(t.Context(), t, s, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range trials {
			if seen.Outcome != record.Failed {
				t.Errorf("%s over %s: the load is %s", seen.Strategy, seen.Protocol, seen.Outcome)
			}
			for _, search := range seen.Searches {
				if search.Group == "fast" && seen.Protocol == scenario.H2 && search.Outcome != record.OK {
					t.Errorf("%s: a fast panel is %s: %s", seen.Strategy, search.Outcome, search.Error)
				}
				if search.Group == "slow" {
					checkGivenUp(t, seen, search)
				}
			}
		}
	})
}

func checkGivenUp(t *testing.T, seen record.Trial, s record.Search) {
	t.Helper()
	if s.Outcome != record.TimedOut || len(s.Ending) != 2 || s.Delivered != 0 || !strings.Contains(s.Error, "4.1s") {
		t.Errorf("%s over %s: %s with %d last requests: %s", seen.Strategy, seen.Protocol, s.Outcome, len(s.Ending), s.Error)
		return
	}
	for _, r := range s.Ending {
		if r.Queued-seen.Intended != 4_100_000 {
			t.Errorf("%s over %s: a last request at %d µs", seen.Strategy, seen.Protocol, r.Queued-seen.Intended)
		}
	}
	// Between short polls nothing was under way, and both find the search. A long poll was: its drop has cancelled the search already, or does so at
	// this very instant, so that the question finds it gone or just cancelled, and so does the DELETE.
	last, removed := s.Ending[0].Status, s.Ending[1].Status
	if seen.Strategy == "traditional" && (last != 200 || removed != 200) ||
		seen.Strategy == "continuous" && (last != 404 && last != 400 && last != 200 || removed != 404 && removed != 200) {
		t.Errorf("%s over %s: the last requests were answered %d and %d", seen.Strategy, seen.Protocol, last, removed)
	}
}

// A cut at a known instant ends every request on an h2 connection, and on HTTP/1.1 each connection's one. The browser sends them again by itself; but
// Kibana's dashboard server has taken the cut for a user who has left and deletes the searches, unless it keeps them. A strategy that asks again does
// not help against that.
func TestCutOnTheLastHop(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s := with(odd(), "traditional", "continuous")
		s.Strategies = append(s.Strategies, retrying("continuous", 2))
		s.Groups = []scenario.Group{{Name: "panels", Panels: 4, Delay: ms(6130)}}
		s.Bystanders = nil
		s.KeepOnDisconnect = keep
		s.Networks = []scenario.Network{{Name: "cut", LastHop: scenario.Conditions{Cuts: []clock.Seconds{ms(3313)}}}}
		synctest.Test(t, func(t *testing.T) {
			trials, err := play(t.Context(), t, s, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, seen := range trials {
				// Traditional polling sleeps at 3.313 s: it finds its connections gone and opens new ones, as many as its polls need at once.
				want, resent := record.OK, 0
				if seen.Strategy != "traditional" {
					resent = 4
					if !keep {
						want = record.Failed
					}
				}
				connections := map[scenario.Protocol]int{scenario.HTTP1: 6 + 4, scenario.H2: 1 + 1}[seen.Protocol]
				if seen.Outcome != want || seen.Connections != connections && seen.Strategy != "traditional" {
					t.Errorf("%s over %s, keep %v: %s on %d connections, want %s on %d: %s",
						seen.Strategy, seen.Protocol, keep, seen.Outcome, seen.Connections, want, connections, seen.FirstError())
				}
				var again int
				for _, search := range seen.Searches {
					for _, r := range search.Requests {
						if r.Resent && r.Queued-seen.Intended < 3_313_000 {
							again++
						}
					}
				}
				if again != resent {
					t.Errorf("%s over %s, keep %v: %d long polls were sent again by the browser, want %d", seen.Strategy, seen.Protocol, keep, again, resent)
				}
			}
		})
	}
}
