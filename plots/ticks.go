package plots

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// steps marks a linear axis at round steps: 1, 2 or 5 times a power of ten.
type steps struct{}

// Labels along an axis: more than this many and they crowd on the short side of a chart.
const mostLabels = 7

// Ticks implements plot.Ticker.
func (steps) Ticks(lo, hi float64) []plot.Tick {
	step, minor := stepOf(lo, hi)
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	// A whole number of minor steps each, so that no error adds up.
	per := int(math.Round(step / minor))
	for i := int(math.Ceil(lo/minor - 1e-9)); float64(i)*minor <= hi+1e-9*step; i++ {
		t := plot.Tick{Value: float64(i) * minor}
		if i%per == 0 {
			t.Label = decimal(t.Value, digits)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// stepOf finds the smallest round step that needs few enough labels, and the unlabelled one within it.
func stepOf(lo, hi float64) (step, minor float64) {
	if !(hi-lo > 0) || math.IsInf(hi-lo, 0) {
		return 1, 0.5
	}
	// At most one power too low, so that the loop finds the first that fits.
	unit := math.Pow(10, math.Floor(math.Log10((hi-lo)/mostLabels)))
	for {
		for _, s := range []struct{ step, minor float64 }{{1, 0.5}, {2, 1}, {5, 1}} {
			step, minor = s.step*unit, s.minor*unit
			if math.Floor(hi/step)-math.Ceil(lo/step)+1 <= mostLabels {
				return step, minor
			}
		}
		unit *= 10
	}
}

// decades marks a logarithmic axis of seconds at the powers of ten, each labelled in the unit that people read. On a short axis, where these are too few
// to read a value from, twice and five times them are labelled too.
type decades struct{}

// shortAxis spans two decades, at most: mostLabels are enough to label two and five too.
const shortAxis = 100

// Ticks implements plot.Ticker.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	label := []int{1}
	if hi/lo <= shortAxis {
		label = []int{1, 2, 5}
	}
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for i := 1; i < 10; i++ {
			v := float64(i) * math.Pow(10, float64(e))
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if slices.Contains(label, i) {
				t.Label = multiple(i, e)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// multiple writes i times 10 to the e seconds.
func multiple(i, e int) string {
	units := []struct {
		exp  int
		name string
	}{{0, " s"}, {-3, " ms"}, {-6, " µs"}}
	for _, u := range units {
		if e >= u.exp {
			return strconv.FormatFloat(float64(i)*math.Pow(10, float64(e-u.exp)), 'f', 0, 64) + u.name
		}
	}
	return strconv.FormatFloat(float64(i)*math.Pow(10, float64(e+6)), 'g', -1, 64) + " µs"
}

// seconds writes a duration for a label, to about two digits.
func seconds(v float64) string {
	switch {
	case v < 0.00995:
		return decimal(v*1e3, 1) + " ms"
	case v < 0.9995:
		return decimal(v*1e3, 0) + " ms"
	case v < 99.95:
		return decimal(v, 1) + " s"
	}
	return decimal(v, 0) + " s"
}

// decimal writes a number with a true minus sign, which is as wide as a digit.
func decimal(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" { // less than nothing rounds to nothing
		return strings.TrimPrefix(text, "-")
	}
	return strings.Replace(text, "-", "−", 1)
}

// plain writes a number without digits that say nothing: 10, 0.5.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
