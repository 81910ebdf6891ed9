package analysis

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// loads is a result of one swept group of two panels, delays of 2 and 6 s, over h2: traditional polling takes 0.7 and 2.2 s more than the
// delay, as its ticks have it, continuous 4 ms more, and each repeat a millisecond more than the one before.
func loads(repeats int) record.Result {
	s := scenario.Scenario{
		Name:    "made",
		Groups:  []scenario.Group{{Name: "panels", Panels: 2, Sweep: []clock.Seconds{{Duration: 6 * time.Second}, {Duration: 2 * time.Second}}}},
		Base:    "traditional",
		Repeats: repeats, Protocols: []scenario.Protocol{scenario.H2},
		Browser: scenario.Browser{HTTP1Connections: 6, H2Streams: 256},
	}
	for _, name := range []string{"traditional", "continuous"} {
		st, _ := strategy.Named(name)
		s.Strategies = append(s.Strategies, st)
	}
	r := record.Result{Manifest: record.Manifest{Scenario: s, Plan: plan.New(s, plan.Options{})}}
	for _, t := range r.Manifest.Plan.Trials {
		waste := map[string]record.Time{"traditional": 700_000, "continuous": 4000}[t.Strategy]
		if t.Strategy == "traditional" && t.Swept.Duration == 6*time.Second {
			waste = 2_200_000
		}
		r.Trials = append(r.Trials, made(t, waste+record.Time(t.Repeat)*1000))
	}
	return r
}

// made is a load in which each search starts 1 ms after it was asked for and wastes that much in all.
func made(t plan.Trial, waste record.Time) record.Trial {
	const intended = 1_000_000
	start := record.Time(intended + 1000)
	ready := start + record.Time(t.Delay.Duration/time.Microsecond)
	delivered := ready + waste - 1000
	search := record.Search{
		Group: "panels", Delay: t.Delay, Outcome: record.OK, Start: start, Ready: ready, Delivered: delivered,
		Requests: []record.Request{
			{Queued: intended, Slot: intended, DashboardIn: start, DashboardOut: start + 1000, Done: start + 2000, Status: 200, Protocol: "h2",
				Running: true, Wait: sleepOf(3000)}, // held all the while: a round trip takes no time
			{Queued: delivered - 500, Slot: delivered - 500, DashboardIn: delivered - 400, DashboardOut: delivered - 100, Done: delivered, Status: 200,
				Protocol: "h2", Sleep: sleepOf(1)},
		},
	}
	return record.Trial{
		Trial: t.Trial, Swept: t.Swept, Strategy: t.Strategy, Protocol: t.Protocol, Repeat: t.Repeat, Outcome: record.OK,
		Intended: intended, Started: intended, Connections: 1, Searches: []record.Search{search, search},
	}
}

func TestAnalyse(t *testing.T) {
	a := Analyse(loads(7))
	if len(a.Cells) != 4 || len(a.Comparisons) != 2 || len(a.Summary) != 1 {
		t.Fatalf("%d cells, %d comparisons, %d summaries", len(a.Cells), len(a.Comparisons), len(a.Summary))
	}
	// Cells and comparisons are in order of delay, however the sweep is written.
	c := a.Cells[0]
	if c.Delay != 2 || c.Strategy != "traditional" || c.Trials != 7 || c.Finished != 7 || *c.Connections != 1 || *c.ProtocolSeen != "h2" {
		t.Errorf("first cell %+v", c)
	}
	near(t, "load", c.Load.Median, 2.704) // the fourth of 2.701 to 2.707
	near(t, "lo", c.Load.Lo, 2.701)
	near(t, "overhead", c.Overhead.Median, 0.704)
	near(t, "wasted", c.Wasted.Mean, 0.704)
	near(t, "network", c.Wasted.Network, 0.001+0.0002) // before the start; to the dashboard and back
	near(t, "server", c.Wasted.Server, 0.0003)
	near(t, "sleep", c.Wasted.Sleep, 0.704-0.001-0.0005)
	near(t, "requests per search", c.RequestsPerSearch, 2)
	near(t, "model's load", c.Model.Load, 2.7)
	near(t, "model's waste", c.Model.Wasted.Mean, 0.7)
	six := a.Comparisons[1]
	near(t, "speed-up at 6 s", six.Speedup, 1-6.008/8.204)
	near(t, "p", six.P, 2.0/3432)
	sum := a.Summary[0]
	near(t, "best", sum.Max, 1-6.008/8.204)
	near(t, "best at", sum.MaxAt, 6)
	near(t, "mean", sum.Mean, (1-6.008/8.204+1-2.008/2.704)/2)
	near(t, "wasted by continuous", sum.Wasted.Median, 0.008)
	if sum.Wasted.N != 28 || sum.Wasted.P99 != nil { // 2 delays × 7 repeats × 2 panels
		t.Errorf("pooled %+v", sum.Wasted)
	}
	near(t, "ideal wall", &a.IdealWall, 8.2)
	near(t, "wall", a.Wall, 8.207)
}

// Where nothing is doubtful the list of warnings is empty, but a list: the document has no null there.
func TestNoWarnings(t *testing.T) {
	r := loads(7)
	r.Manifest.Scenario.Groups[0].Sweep = r.Manifest.Scenario.Groups[0].Sweep[1:]
	r.Manifest.Plan = plan.New(r.Manifest.Scenario, plan.Options{})
	r.Trials = nil
	for _, p := range r.Manifest.Plan.Trials {
		// Exactly as the model has it: 2 s are noticed after 2.7 s, or at once.
		r.Trials = append(r.Trials, made(p, map[string]record.Time{"traditional": 700_000, "continuous": 1500}[p.Strategy]))
	}
	if a := Analyse(r); a.Warnings == nil || len(a.Warnings) > 0 {
		t.Errorf("warnings %#v of a run without fault", a.Warnings)
	}
}

func warned(t *testing.T, all []string, want string) {
	t.Helper()
	if !slices.ContainsFunc(all, func(w string) bool { return strings.Contains(w, want) }) {
		t.Errorf("no warning %q in %q", want, all)
	}
}

func TestWarnings(t *testing.T) {
	r := loads(3)
	r.Trials[0].Outcome, r.Trials[0].Searches[0].Error = record.Failed, "the server is gone"
	r.Trials = r.Trials[:len(r.Trials)-3] // three loads of 2 s, the last to start, never ended
	a := Analyse(r)
	warned(t, a.Warnings, "3 of 12 planned trials have no observation: the run was interrupted")
	warned(t, a.Warnings, "1 of 9 trials failed and do not count")
	warned(t, a.Warnings, "1 trial failed: the server is gone")
	warned(t, a.Warnings, "no interval")
	warned(t, a.Warnings, "no p-value")
	for _, c := range a.Cells {
		if c.Finished > 0 {
			warned(t, c.Warnings, "6 needed")
		} else {
			warned(t, c.Warnings, "no finished trial")
		}
	}
	r = loads(7)
	for i := range r.Trials {
		r.Trials[i].Searches[1].Delivered += 50_000 // later than the model by more than 10 ms, and by more than the interval
	}
	a = Analyse(r)
	warned(t, a.Warnings, "4 of 4 cells are not explained by the model")
	warned(t, a.Cells[0].Warnings, "not explained")
}

func TestHealth(t *testing.T) {
	for name, c := range map[string]struct {
		health record.Health
		late   record.Time
		want   string
	}{
		"calm":          {record.Health{LatenessP99: 0.005, CPU: 0.8}, 50_000, ""},
		"late timers":   {record.Health{LatenessP99: 0.0051}, 0, "timers were 5.1 ms late at p99"},
		"no processor":  {record.Health{CPU: 0.81}, 0, "processor was 81 % busy"},
		"a late start":  {record.Health{}, 50_100, "started 50 ms late"},
		"no start":      {record.Health{Dropped: 2}, 0, "2 loads could not be started"},
		"late recorded": {record.Health{LateStart: 0.2}, 0, "started 200 ms late"},
	} {
		h := judge([]record.Trial{{Intended: 1_000_000, Started: 1_000_000 + c.late, Health: c.health}})
		if h.Healthy != (c.want == "") || len(h.Reasons) > 1 || c.want != "" && !strings.Contains(h.Reasons[0], c.want) {
			t.Errorf("%s: healthy %v, %q", name, h.Healthy, h.Reasons)
		}
	}
}
