package analysis

import (
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// pair is the times of one dashboard under base and other.
type pair struct{ base, other float64 }

// pairs matches the finished trials of two cells by their repeat.
func pairs(base, other *cell, of measure) []pair {
	times := map[int]float64{}
	for _, t := range base.finished {
		if v := of(t); v != nil {
			times[t.Repeat] = *v
		}
	}
	var all []pair
	for _, t := range other.finished {
		b, ok := times[t.Repeat]
		if v := of(t); ok && v != nil {
			all = append(all, pair{b, *v})
		}
	}
	return all
}

// comparePairs sets other against base, dashboard by dashboard.
func comparePairs(pairs []pair) contrast {
	if len(pairs) == 0 {
		return contrast{}
	}
	var base, other, ratios []float64
	for _, p := range pairs {
		base, other, ratios = append(base, p.base), append(other, p.other), append(ratios, p.other/p.base)
	}
	c := contrast{speedup: ptr(1 - *median(other) / *median(base))}
	if len(pairs) >= minInterval {
		slices.Sort(ratios)
		k := signTail(len(ratios))
		// The interval is about the median of the ratios, which need not be the ratio of the medians: it is widened to hold that too.
		c.lo = ptr(min(1-ratios[len(ratios)-k], *c.speedup))
		c.hi = ptr(max(1-ratios[k-1], *c.speedup))
	}
	if len(pairs) >= minP {
		c.p = ptr(signTest(pairs))
	}
	return c
}

// signTail is the largest k for which fewer than k of n values lie below their true median with a probability of at most 2.5 %: the k-th
// smallest and the k-th largest bound the median. There is none for fewer than six values.
func signTail(n int) int {
	d := stats.BinomialDist{N: n, P: 0.5}
	k := 0
	for d.CDF(float64(k)) <= (1-confidence)/2 {
		k++
	}
	return k
}

// signTest is the two-sided probability of so few signs of the rarer kind, if other is as often the slower as the faster. Equal times have no sign.
func signTest(pairs []pair) float64 {
	var faster, slower int
	for _, p := range pairs {
		switch {
		case p.other < p.base:
			faster++
		case p.other > p.base:
			slower++
		}
	}
	d := stats.BinomialDist{N: faster + slower, P: 0.5}
	return min(1, 2*d.CDF(float64(min(faster, slower))))
}

// dashboards adds up, for each repeat, the loads of two strategies over the delays of a sweep at which both have finished. Without a sweep these are
// the pairs of one cell.
func dashboards(cells [][2]*cell) []pair {
	sums := map[int]pair{}
	for _, c := range cells {
		for _, t := range c[1].finished {
			for _, b := range c[0].finished {
				if b.Repeat == t.Repeat {
					sum := sums[t.Repeat]
					sum.add(pair{loadTime(b), loadTime(t)})
					sums[t.Repeat] = sum
				}
			}
		}
	}
	var repeats []int
	for r := range sums {
		repeats = append(repeats, r)
	}
	slices.Sort(repeats)
	var all []pair
	for _, r := range repeats {
		all = append(all, sums[r])
	}
	return all
}
