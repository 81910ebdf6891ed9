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
	e := bench.Expect(s, j.plan)
	// Four waves of two loads: by the model a search of 1 s takes 2 requests under continuous and 5 under traditional polling (submit, then at 0.5, 0.8 and 1.1 s),
	// and there is one DELETE for each. A page opens six connections over HTTP/1.1, one over h2. Four variants are warmed up with 4 panels, for about 16 requests
	// each, and some 60 come before. Bystanders: one at 0.5 s, and one at 1 s where the load takes longer.
	searches := 4 * (2*2*2 + 4*2*2)
	opening := 4*6 + 4*1
	bystanders := 0
	if s.Bystanders != nil {
		bystanders = 4*1 + 4*2
	}
	if want := 60 + 4*16 + searches + 32 + opening + bystanders; e.Requests < want-8 || e.Requests > want+8 {
		t.Errorf("%d requests, want about %d", e.Requests, want)
	}
	if e.Lasts < 7*time.Second || e.Lasts > 9*time.Second || e.Peak < 5 || e.Peak > 40 {
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
