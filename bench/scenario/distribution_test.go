package scenario

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pollbench/bench/clock"
)

const draws = 200_000

// share is how many of many draws are as told.
func share(d Distribution, told func(time.Duration) bool) (n int) {
	random := rand.New(rand.NewPCG(1, 1))
	for range draws {
		if told(d.Draw(random).Duration) {
			n++
		}
	}
	return n
}

// expect holds a count against its probability. The count of independent draws is binomial, with the standard deviation √(n·p·(1 − p)); it is beyond
// five of them once in two million seeds, and the seed is fixed. Each of the quantiles below is found when it is off by 5 % of itself, which for the
// rarest, 0.99, is 5.4 deviations: the normal density there, 0.0267, times ln 1.05 / σ, over √(0.99·0.01/n).
func expect(t *testing.T, what string, count int, probability float64) {
	t.Helper()
	want := draws * probability
	if off := 5 * math.Sqrt(want*(1-probability)); math.Abs(float64(count)-want) > off {
		t.Errorf("%s: %d of %d draws, want %.0f ± %.0f", what, count, draws, want, off)
	}
}

// The logarithm of the delay is normal. With z the standard normal's quantiles and σ = ln(p95/p50) / z(0.95), the quantile q is at p50 · e^(σ·z(q)),
// that is p50 · (p95/p50)^(z(q)/z(0.95)): for z(0.05) = −z(0.95) it is p50²/p95. z(0.95) = 1.644854 and z(0.99) = 2.326348 are tables' values.
func TestLognormalQuantiles(t *testing.T) {
	d := Distribution{Lognormal: &Lognormal{P50: seconds(2), P95: seconds(12)}}
	for _, c := range []struct{ probability, quantile float64 }{
		{0.05, 2. * 2 / 12},
		{0.50, 2},
		{0.95, 12},
		{0.99, 2 * math.Pow(6, 2.326348/1.644854)}, // 25.2 s
	} {
		limit := time.Duration(c.quantile * float64(time.Second))
		expect(t, limit.String(), share(d, func(delay time.Duration) bool { return delay <= limit }), c.probability)
	}
}

func TestMixTakesSharesByWeight(t *testing.T) {
	fixed := func(s float64) Distribution { return Distribution{Fixed: seconds(s)} }
	d := Distribution{Mix: []Share{
		{Weight: 1, Of: fixed(1)},
		{Weight: 2.5, Of: fixed(2)},
		{Weight: 1.5, Of: Distribution{Empirical: []clock.Seconds{seconds(3), seconds(4)}}},
	}}
	for delay, probability := range map[float64]float64{1: 1. / 5, 2: 2.5 / 5, 3: 0.75 / 5, 4: 0.75 / 5} {
		expect(t, seconds(delay).String(), share(d, func(d time.Duration) bool { return d == seconds(delay).Duration }), probability)
	}
}

func TestMeasuredDelaysAreAsOftenAsMeasured(t *testing.T) {
	d := Distribution{Empirical: []clock.Seconds{seconds(1), seconds(2), seconds(1), seconds(5)}}
	for delay, probability := range map[float64]float64{1: 0.5, 2: 0.25, 5: 0.25} {
		expect(t, seconds(delay).String(), share(d, func(d time.Duration) bool { return d == seconds(delay).Duration }), probability)
	}
}

func TestDrawsKeepTheLimitsOfADelay(t *testing.T) {
	ms := func(n float64) clock.Seconds {
		return clock.Seconds{Duration: time.Duration(n * float64(time.Millisecond))}
	}
	lowest := Distribution{Lognormal: &Lognormal{P50: ms(1), P95: ms(100)}}
	// Half of the draws are below 1 ms, and those from there to 1.5 ms are rounded down to it: σ = ln 100 / 1.644854 = 2.7997, so that 1.5 ms is at
	// z = ln 1.5 / σ = 0.14482, whose probability is 0.55758.
	expect(t, "1ms", share(lowest, func(d time.Duration) bool { return d == time.Millisecond }), 0.55758)
	expect(t, "below 1ms", share(lowest, func(d time.Duration) bool { return d < time.Millisecond }), 0)
	highest := Distribution{Lognormal: &Lognormal{P50: seconds(500), P95: seconds(600)}}
	expect(t, "600s", share(highest, func(d time.Duration) bool { return d == 600*time.Second }), 0.05)
	expect(t, "above 600s", share(highest, func(d time.Duration) bool { return d > 600*time.Second }), 0)
	for drawn, want := range map[clock.Seconds]clock.Seconds{ms(0.001): ms(1), ms(1.4): ms(1), ms(1.5): ms(2), ms(600_000): ms(600_000)} {
		equal(t, Distribution{Fixed: drawn}.Draw(nil), want)
	}
}

const drawing = `name: d
dashboard:
  panels:
    - {name: fixed, count: 1, delay: 3s}
    - {name: drawn, count: 20, delay: {lognormal: {p50: 2s, p95: 12s}}}
    - {name: swept, count: 2, delay: {sweep: "1s, 5s"}}
`

func TestDrawnPanelsAreThoseOfTheRepeat(t *testing.T) {
	s := decode(t, drawing)
	first := s.Panels(seconds(1), 1)
	equal(t, s.Panels(seconds(1), 1), first)
	equal(t, first[0], Panel{0, seconds(3)})
	equal(t, first[21:], []Panel{{2, seconds(1)}, {2, seconds(1)}})
	if first[1].Delay == first[2].Delay {
		t.Errorf("panels of a group have the same delay: %v", first)
	}
	equal(t, s.Panels(seconds(5), 1)[:21], first[:21])
	if reflect.DeepEqual(s.Panels(seconds(1), 2)[1:21], first[1:21]) {
		t.Error("two repeats have the same delays")
	}
	seeded := s
	seeded.Seed++
	if reflect.DeepEqual(seeded.Panels(seconds(1), 1)[1:21], first[1:21]) {
		t.Error("two seeds have the same delays")
	}
	// What competes, and over what, does not matter.
	changed, err := s.With(Overrides{Strategies: []string{"sync"}, Protocols: []string{"h2"}, Topologies: []string{"edge-h2"}, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, changed.Panels(seconds(1), 1), first)
	equal(t, []bool{s.Drawn(), decode(t, head).Drawn()}, []bool{true, false})
}

func TestIdealIsTheLongestDelayFromTheLastTab(t *testing.T) {
	s := decode(t, drawing)
	for repeat := 1; repeat <= 3; repeat++ {
		var longest time.Duration
		for _, p := range s.Panels(seconds(5), repeat) {
			longest = max(longest, p.Delay.Duration)
		}
		equal(t, s.Longest(seconds(5), repeat).Duration, longest)
	}
	tabs := decode(t, head+"tabs: {count: 4, every: 200ms, hide: 1s}\n") // of 1 s, the last starting after 3 × 200 ms
	equal(t, tabs.Longest(clock.Seconds{}, 1), seconds(1))
	equal(t, tabs.Ideal(clock.Seconds{}, 1), clock.Seconds{Duration: 1600 * time.Millisecond})
	equal(t, []bool{tabs.Tabs.Hidden(0), tabs.Tabs.Hidden(2), tabs.Tabs.Hidden(3)}, []bool{true, true, false})
	single := decode(t, head).Tabs
	equal(t, single.Number(), 1)
	equal(t, []bool{single.Hidden(0), Tabs{Count: 2}.Hidden(0)}, []bool{false, false})
}
