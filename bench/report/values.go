package report

import (
	"fmt"
	"math"
	"strconv"
)

const none = "–"

// delay is a query delay: exact, for it was asked for.
func delay(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) + " s" }

// duration shows a time with three digits that count, in ms below one second.
func duration(s *float64) string {
	switch {
	case s == nil:
		return none
	case math.Abs(*s) < 0.9995:
		return millis(*s)
	}
	return fmt.Sprintf("%.2f s", *s)
}

func millis(s float64) string {
	switch ms := math.Abs(s) * 1e3; {
	case ms < 0.05:
		return "0 ms"
	case ms < 9.95:
		return fmt.Sprintf("%.1f ms", s*1e3)
	}
	return fmt.Sprintf("%.0f ms", s*1e3)
}

// load shows a load time to the millisecond.
func load(s *float64) string {
	if s == nil {
		return none
	}
	return fmt.Sprintf("%.3f s", *s)
}

// difference shows by how much a load is longer than the model expects, in ms.
func difference(d *float64) string {
	if d == nil {
		return none
	}
	if math.Abs(*d) < 0.9995 {
		return fmt.Sprintf("%+.1f ms", *d*1e3)
	}
	return fmt.Sprintf("%+.2f s", *d)
}

func percent(ratio *float64) string {
	if ratio == nil {
		return none
	}
	return rounded(*ratio) + " %"
}

// rounded shows a ratio in percent, and what rounds to nothing without a sign.
func rounded(ratio float64) string {
	if math.Abs(ratio) < 0.0005 {
		return "0.0"
	}
	return fmt.Sprintf("%.1f", ratio*100)
}

// percents shows a ratio with its interval.
func percents(ratio, lo, hi *float64) string {
	if lo == nil || hi == nil {
		return percent(ratio)
	}
	return fmt.Sprintf("%s %% [%s, %s]", rounded(*ratio), rounded(*lo), rounded(*hi))
}

func protocol(p string) string {
	if p == "http1" {
		return "HTTP/1.1"
	}
	return p
}
