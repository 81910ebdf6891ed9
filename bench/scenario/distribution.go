package scenario

import (
	"math"
	"math/rand/v2"
	"time"

	"pollbench/bench/clock"
)

// Distribution is where a panel's delay is drawn from. One of its fields is set.
type Distribution struct {
	Lognormal *Lognormal      `json:"lognormal,omitempty"`
	Empirical []clock.Seconds `json:"empirical_s,omitempty"` // measured delays, each as likely as the other
	Mix       []Share         `json:"mix,omitempty"`
	Fixed     clock.Seconds   `json:"fixed_s,omitzero"` // a share of a mix that is always the same
}

// Lognormal is the distribution that query durations commonly have: most are short, a few take very long.
type Lognormal struct {
	P50 clock.Seconds `json:"p50_s"`
	P95 clock.Seconds `json:"p95_s"`
}

// Share is a part of a mix.
type Share struct {
	Weight float64      `json:"weight"` // against the sum of all
	Of     Distribution `json:"of"`
}

const (
	// z95 is the 95th percentile of the standard normal distribution.
	z95 = 1.6448536269514722
	// Drawn delays are whole milliseconds, as Elasticsearch's took is.
	drawnStep = time.Millisecond
)

// Draw takes one delay. A value beyond the limits of a delay is set to the nearer one: of 1 ms or [MaxDelay].
func (d Distribution) Draw(random *rand.Rand) clock.Seconds {
	drawn := d.draw(random).Round(drawnStep)
	return clock.Seconds{Duration: max(drawnStep, min(drawn, MaxDelay*time.Second))}
}

func (d Distribution) draw(random *rand.Rand) time.Duration {
	switch {
	case d.Lognormal != nil:
		mu := math.Log(d.Lognormal.P50.Seconds())
		sigma := (math.Log(d.Lognormal.P95.Seconds()) - mu) / z95
		seconds := math.Exp(mu + sigma*random.NormFloat64())
		return time.Duration(min(seconds, MaxDelay) * float64(time.Second))
	case len(d.Empirical) > 0:
		return d.Empirical[random.IntN(len(d.Empirical))].Duration
	case len(d.Mix) > 0:
		return d.share(random).draw(random)
	}
	return d.Fixed.Duration
}

// share picks one by weight.
func (d Distribution) share(random *rand.Rand) Distribution {
	var all float64
	for _, s := range d.Mix {
		all += s.Weight
	}
	at := random.Float64() * all
	for _, s := range d.Mix {
		if at -= s.Weight; at < 0 {
			return s.Of
		}
	}
	return d.Mix[len(d.Mix)-1].Of // rounding: at was all
}
