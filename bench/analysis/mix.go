package analysis

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

const (
	// resamples are enough for an end of the interval to move by a fiftieth of its width between two seeds, and for a quantile of 0.2 %, which the
	// smallest samples need.
	resamples = 10_000
	// mixStream keeps the resampling apart from other streams of the same seed.
	mixStream = 0x6d6978
)

// mix is the gain over dashboards, with the seed of the plan, so that the same result always gives the same interval.
func mix(dashboards []pair, seed uint64) Mix {
	m := Mix{N: len(dashboards)}
	if m.N == 0 {
		return m
	}
	var sum pair
	for _, p := range dashboards {
		sum.add(p)
	}
	m.Gain = ptr(sum.gain())
	if m.N >= minInterval {
		lo, hi := gainInterval(dashboards, resamples, rand.New(rand.NewPCG(seed, mixStream)))
		m.Lo, m.Hi = &lo, &hi
	}
	return m
}

func (p *pair) add(other pair) {
	p.base += other.base
	p.other += other.other
}

func (p pair) gain() float64 { return 1 - p.other/p.base }

// gainInterval is a percentile bootstrap: the gains over as many dashboards, drawn from these with replacement, less a tail at each end. Resamples vary
// less than samples do, by (n−1)/n, and know no more of the tails than the sample shows; so the tails are cut as a t distribution would have it
// (T. Hesterberg, What Teachers Should Know About the Bootstrap, 2015: the expanded percentile interval). With the plain 2.5 % an interval of 6 dashboards
// holds the truth in 85 % of cases, of 30 in 93 %; with this one it does in 92 to 94 %.
func gainInterval(dashboards []pair, resamples int, random *rand.Rand) (lo, hi float64) {
	n := len(dashboards)
	gains := make([]float64, resamples)
	for i := range gains {
		var sum pair
		for range n {
			sum.add(dashboards[random.IntN(n)])
		}
		gains[i] = sum.gain()
	}
	slices.Sort(gains)
	s := stats.Sample{Xs: gains, Sorted: true}
	tail := expandedTail(n)
	return s.Quantile(tail), s.Quantile(1 - tail)
}

// expandedTail is what to cut at each end of a bootstrap of n values for 95 %.
func expandedTail(n int) float64 {
	t := stats.InvCDF(stats.TDist{V: float64(n - 1)})(1 - (1-confidence)/2)
	return stats.StdNormal.CDF(-t * math.Sqrt(float64(n)/float64(n-1)))
}
