package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"pollbench/bench/analysis/analysistest"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// Ten pairs whose ratios are 0.80 to 0.89 in some order, of very different sizes. Fewer than two of ten values lie on one side of their median with
// 11 chances of 1024, so the second and the ninth bound it: 0.81 and 0.88. All ten are faster: p = 2/1024.
func TestComparePairs(t *testing.T) {
	var all []pair
	for i := range 10 {
		base := []float64{600, 1, 5, 2, 30, 7, 3, 90, 4, 11}[i]
		all = append(all, pair{base, base * (0.80 + 0.01*float64(i*7%10))})
	}
	c := comparePairs(all)
	near(t, "lo", c.lo, 1-0.88)
	near(t, "hi", c.hi, 1-0.81)
	near(t, "p", c.p, 2.0/1024)
	// Bases 5 and 7 are in the middle, with ratios 0.84 and 0.85; of other 4.2 and 5.95.
	near(t, "speed-up", c.speedup, 1-(4.2+5.95)/2/6)
	// Two samples would not tell them apart.
	var base, other []float64
	for _, p := range all {
		base, other = append(base, p.base), append(other, p.other)
	}
	if p := compare(base, other).p; *p < 0.5 {
		t.Errorf("p of unpaired samples is %v", *p)
	}
	absent(t, "p of six pairs", comparePairs(all[:6]).p)
	absent(t, "lo of five pairs", comparePairs(all[:5]).lo)
	absent(t, "speed-up of none", comparePairs(nil).speedup)
}

// From tables of the binomial distribution: of 7 signs one is of the rarer kind, 2·(1+7)/128. Ties have no sign.
func TestSignTest(t *testing.T) {
	all := []pair{{2, 1}, {2, 1}, {2, 1}, {2, 1}, {2, 1}, {2, 1}, {1, 2}, {3, 3}}
	p := signTest(all)
	near(t, "p", &p, 2*8.0/128)
	p = signTest([]pair{{1, 1}})
	near(t, "p of a tie", &p, 1)
	for n, want := range map[int]int{6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 20: 6, 40: 14, 100: 40} { // as printed for the sign test, plus one
		if got := signTail(n); got != want {
			t.Errorf("signTail(%d) = %d, want %d", n, got, want)
		}
	}
}

// mixed is the dashboard of the tests below: eight panels, most of which are short.
func mixed(repeats int) scenario.Scenario {
	s := dashboard([]string{"traditional", "continuous"}, scenario.Group{
		Name: "panels", Panels: 8, Distribution: &scenario.Distribution{Lognormal: &scenario.Lognormal{P50: ms(2000), P95: ms(12_000)}},
	})
	s.Repeats = repeats
	return s
}

// The truth of the mix is the gain over very many dashboards; of many intervals about 95 % must hold it, of six dashboards as of thirty. The plain 2.5 %
// at each end would have 85 % and 93 % here. 500 draws have a standard error of 1 %.
func TestGainIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var many pair
	for range 300_000 {
		many.add(drawnPair(random))
	}
	truth := many.gain()
	for _, n := range []int{6, 30} {
		const draws = 500
		held := 0
		for range draws {
			var some []pair
			for range n {
				some = append(some, drawnPair(random))
			}
			if lo, hi := gainInterval(some, 1000, random); lo <= truth && truth <= hi {
				held++
			}
		}
		if got := float64(held) / draws; got < 0.92 || got > 0.98 {
			t.Errorf("%.1f %% of the intervals over %d dashboards hold the gain of %.4f", got*100, n, truth)
		}
	}
}

// drawnPair is the longest of eight lognormal delays, median 2 s and 95th percentile 12 s, and when Kibana's table notices it.
func drawnPair(random *rand.Rand) pair {
	ticks := []float64{0.2, 0.5, 0.8, 1.1, 1.4, 1.7, 2.7, 3.7, 4.7, 5.7, 8.2, 10.7, 13.2, 15.7, 18.2, 20.7}
	sigma := math.Log(6) / 1.6449
	var delay float64
	for range 8 {
		delay = max(delay, 2*math.Exp(sigma*random.NormFloat64()))
	}
	for _, tick := range ticks {
		if tick >= delay {
			return pair{tick, delay}
		}
	}
	return pair{20.7 + 5*math.Ceil((delay-20.7)/5), delay}
}

func TestMix(t *testing.T) {
	a := Analyse(analysistest.Play(mixed(30), 0))
	sum := a.Summary[1]
	if sum.Protocol != "h2" || sum.Mix == nil || sum.Mix.N != 30 {
		t.Fatalf("summary %+v", sum)
	}
	// By hand: each dashboard's longest delay, and the tick that notices it.
	var base, other float64
	s := mixed(30)
	for repeat := 1; repeat <= 30; repeat++ {
		base += played(s, repeat, "traditional")
		other += played(s, repeat, "continuous")
	}
	near(t, "gain", sum.Mix.Gain, 1-other/base)
	if !(*sum.Mix.Lo < *sum.Mix.Gain && *sum.Mix.Gain < *sum.Mix.Hi && *sum.Mix.Lo > 0) {
		t.Errorf("gain %v in [%v, %v]", *sum.Mix.Gain, *sum.Mix.Lo, *sum.Mix.Hi)
	}
	again := Analyse(analysistest.Play(mixed(30), 0)).Summary[1]
	if *again.Mix.Lo != *sum.Mix.Lo || *again.Mix.Hi != *sum.Mix.Hi {
		t.Error("the same result has another interval")
	}
	if x := a.Comparisons[1]; x.N != 30 || *x.P > 1e-6 || *x.Lo < 0 {
		t.Errorf("comparison %+v", x)
	}
	for _, c := range a.Cells {
		if !c.Explained() || !c.Expected() {
			t.Errorf("%s over %s: %v", c.Strategy, c.Protocol, c.Warnings)
		}
		if g := c.Groups[0].Delay; g < 1.5 || g > 2.7 { // of 240 draws with a median of 2 s
			t.Errorf("the group's delay is %v", g)
		}
	}
	c := cellOf(t, a, "continuous", "h2", "direct")
	within(t, "overhead", c.Overhead.Median, 0.001, 0.0001) // each load against its own ideal
	var longests []float64
	for repeat := 1; repeat <= 30; repeat++ {
		longests = append(longests, s.Longest(ms(0), repeat).Seconds())
	}
	near(t, "delay", &c.Delay, *median(longests))
	near(t, "model's load", c.Model.Load, *median(longests))
}

// played is the load time of one trial of h2.
func played(s scenario.Scenario, repeat int, strategy string) float64 {
	for _, t := range analysistest.Play(s, 0).Trials {
		if t.Repeat == repeat && t.Strategy == strategy && t.Protocol == scenario.H2 {
			return loadTime(t)
		}
	}
	return math.NaN()
}

// A dashboard that one of the two has not loaded is no pair; what the model gives is of the finished ones.
func TestMixWithFailures(t *testing.T) {
	r := analysistest.Play(mixed(7), 0)
	for i := range r.Trials {
		x := &r.Trials[i]
		if x.Protocol == scenario.H2 && (x.Strategy == "continuous" && x.Repeat == 3 || x.Strategy == "traditional" && x.Repeat == 4) {
			x.Outcome = record.Failed
		}
	}
	a := Analyse(r)
	if n := a.Comparisons[1].N; n != 5 {
		t.Errorf("%d pairs compared", n)
	}
	if m := a.Summary[1].Mix; m.N != 5 || m.Lo != nil || m.Gain == nil {
		t.Errorf("mix %+v", m)
	}
	warned(t, a.Warnings, "the gain over the mix has no interval: it needs 6 dashboards")
	if m := a.Summary[0].Mix; m.N != 7 || m.Lo == nil {
		t.Errorf("mix %+v on HTTP/1.1", m)
	}
	c := cellOf(t, a, "continuous", "h2", "direct")
	if !c.Explained() || c.Finished != 6 {
		t.Errorf("%d finished, %v", c.Finished, c.Warnings)
	}
	var longests []float64
	for _, repeat := range []int{1, 2, 4, 5, 6, 7} {
		longests = append(longests, mixed(7).Longest(ms(0), repeat).Seconds())
	}
	near(t, "model's load", c.Model.Load, *median(longests))
	// 50 ms are lost in the spread of the mix, but not against each repeat's own expectation.
	for i := range r.Trials {
		for j := range r.Trials[i].Searches {
			r.Trials[i].Searches[j].Delivered += 50_000
		}
	}
	warned(t, Analyse(r).Warnings, "4 of 4 cells are not explained by the model")
}
