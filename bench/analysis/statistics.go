package analysis

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

const confidence = 0.95

// median of any number of values, nil of none.
func median(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	return ptr(stats.Sample{Xs: values}.Quantile(0.5))
}

func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	return ptr(stats.Mean(values))
}

// quantile is nil when there are fewer values than needed to tell it.
func quantile(values []float64, q float64, needed int) *float64 {
	if len(values) < needed {
		return nil
	}
	return ptr(stats.Sample{Xs: values}.Quantile(q))
}

// interval is the median of one value per trial and its confidence interval, which a small number of trials does not have.
func interval(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	s := benchmath.AssumeNothing.Summary(sample(values), confidence)
	i := Interval{Median: ptr(s.Center)}
	if len(values) >= minInterval && !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		i.Lo, i.Hi = ptr(s.Lo), ptr(s.Hi)
	}
	return i
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// contrast is what can be said of two samples of times.
type contrast struct {
	speedup, lo, hi, p *float64
}

// compare sets other against base, each one time per trial.
func compare(base, other []float64) contrast {
	if len(base) == 0 || len(other) == 0 {
		return contrast{}
	}
	c := contrast{speedup: ptr(1 - *median(other) / *median(base))}
	n := min(len(base), len(other))
	if n >= minInterval {
		lo, hi := ratioInterval(base, other)
		// The interval is about the middle of all ratios, which need not be the ratio of the middles: it is widened to hold that too.
		c.lo, c.hi = ptr(min(1-hi, *c.speedup)), ptr(max(1-lo, *c.speedup))
	}
	if n >= minP {
		c.p = ptr(benchmath.AssumeNothing.Compare(sample(base), sample(other)).P)
	}
	return c
}

// ratioInterval bounds other/base by inverting the Mann–Whitney test: of all ratios of one value of other to one of base, in order,
// it leaves out as many at each end as the test allows at 95 %. It so agrees with the p-value of [compare], and like it assumes
// nothing about the distributions.
func ratioInterval(base, other []float64) (lo, hi float64) {
	ratios := make([]float64, 0, len(base)*len(other))
	for _, b := range base {
		for _, o := range other {
			ratios = append(ratios, o/b)
		}
	}
	slices.Sort(ratios)
	k := tail(len(base), len(other))
	return ratios[k-1], ratios[len(ratios)-k]
}

// tail is the largest k for which the rank sum statistic is below k with a probability of at most 2.5 %: the k-th smallest and the k-th
// largest ratio bound the interval. Beyond 50 values a side the normal distribution gives it, as in benchmath's own test. There is no
// such k with fewer than four values a side.
func tail(n1, n2 int) int {
	const exact = 50
	if n1 > exact || n2 > exact {
		n, m := float64(n1), float64(n2)
		return int(max(1, math.Floor(n*m/2-1.96*math.Sqrt(n*m*(n+m+1)/12))))
	}
	d := stats.UDist{N1: n1, N2: n2}
	k := 0
	for d.CDF(float64(k)) <= (1-confidence)/2 {
		k++
	}
	return k
}

func ptr[T any](v T) *T { return &v }
