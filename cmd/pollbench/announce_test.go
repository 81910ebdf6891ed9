package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pollbench/bench/plan"
	bench "pollbench/bench/run"
	"pollbench/bench/scenario"
	"pollbench/scenarios"
)

// one is a scenario of 1 × 2 × 2 × 2 loads of 4 panels of 1 s.
func one(t *testing.T) scenario.Scenario {
	t.Helper()
	text, _ := scenarios.Source("smoke")
	s, err := scenario.Decode("smoke", text, scenarios.File)
	if err != nil {
		t.Fatal(err)
	}
	s.Groups[0].Sweep = s.Groups[0].Sweep[:1]
	return s
}

// What goes to another machine is told before, and refused when it is more than was allowed.
func TestAnnounce(t *testing.T) {
	s := one(t)
	j := job{scenario: s, plan: plan.New(s, plan.Options{Spacing: plan.RealSpacing, AtOnce: 8})}
	if tr := j.plan.Trials; len(tr) != 8 || tr[7].Wave != 4 {
		t.Fatalf("%+v", tr)
	}
	e := (bench.Target{Elasticsearch: bench.Server{URL: "https://es.example"}, DelayBy: bench.ByServer, Rate: 100}).Expect(s, j.plan)
	// Four waves of two loads: by the model a search of 1 s takes 2 requests under continuous and 5 under traditional polling (submit, then at 0.5, 0.8 and 1.1 s, and
	// one for the result), and there is one DELETE for each. Warming up is two times two variants of 4 panels of 0.6 s: 2 requests, or submit, two polls and the
	// result. 50 come before, and the index is removed.
	if want := 50 + 4*(2*2+2*4) + 4*(2*2*2+2*2*5) + 32 + 1 + 16; e.Requests < want-8 || e.Requests > want+8 {
		t.Errorf("%d requests, want about %d", e.Requests, want)
	}
	// The waves take 7 to 8 s, warming up two times 0.8 s and a half before each, and the DELETEs half a second after one of silence.
	if e.Lasts < 11*time.Second || e.Lasts > 14*time.Second || e.Peak < 50 || e.Peak > 80 {
		t.Errorf("%+v", e)
	}
	var said []string
	say := func(line string) { said = append(said, line) }
	quiet := &target{}
	if err := quiet.announce(j, say); err != nil || said != nil {
		t.Errorf("of this machine it tells %q, %v", said, err)
	}
	far := &target{remote: "es.example", Target: bench.Target{Rate: 100}}
	if err := far.announce(j, say); err != nil || len(said) != 1 || !strings.Contains(said[0], "requests go to es.example in ") || !strings.Contains(said[0], "8 loads with at most 8 searches at once") {
		t.Errorf("%q, %v", said, err)
	}
	far.Rate = 1
	if err := far.announce(j, say); err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "allow it with --max-rate") {
		t.Errorf("%v", err)
	}
}

// The last part of a server's log is kept where the result is, and one server's is not another's.
func TestServerLogIsKept(t *testing.T) {
	var l serverLog
	dir := t.TempDir()
	if err := l.keep(dir); err != nil {
		t.Errorf("of nothing it says %v", err)
	}
	_, _ = l.Write([]byte("first\n"))
	l.begin()
	for range 3 * keptLog / 8 {
		_, _ = l.Write([]byte("line of\n"))
	}
	_, _ = l.Write([]byte("last words\n"))
	err := l.keep(dir)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, serverLogFile)) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, serverLogFile))
	if err != nil || len(text) < keptLog || len(text) > 2*keptLog || !strings.HasSuffix(string(text), "last words\n") || strings.Contains(string(text), "first") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// Nobody has to allow more for a scenario that we ship.
func TestShippedScenariosKeepToTheRate(t *testing.T) {
	far := bench.Target{Elasticsearch: bench.Server{URL: "https://es.example"}, AtOnce: remoteSearches, Rate: remoteRate}
	played, most := 0, 0.0
	for _, name := range scenarios.Names() {
		text, _ := scenarios.Source(name)
		s, err := scenario.Decode(name, text, scenarios.File)
		if err != nil {
			t.Fatal(err)
		}
		if far.Plays(s) != nil {
			continue
		}
		played++
		e := far.Expect(s, plan.New(s, plan.Options{Spacing: plan.RealSpacing, AtOnce: remoteSearches}))
		most = max(most, e.Peak)
		if e.Peak > remoteRate {
			t.Errorf("%s: %.0f requests in a second", name, e.Peak)
		}
	}
	if played < 5 || most < remoteRate/2 {
		t.Errorf("%d scenarios, %.0f requests in the busiest second of all", played, most)
	}
}
