package scenario

import (
	"slices"
	"testing"
	"time"

	"pollbench/bench/clock"
)

func TestParseDelays(t *testing.T) {
	for list, want := range map[string][]float64{
		"10s":                {10},
		"1s..3s":             {1, 2, 3},
		"1s..2.5s":           {1, 2}, // no step ends on 2.5 s
		"5s..5s":             {5},
		"1s..2s/1h":          {1},
		"1s..2s/2562047h":    {1}, // a step near the largest duration must not overflow
		"2s, 1s":             {2, 1},
		"1s,2s,5s..10s/2s":   {1, 2, 5, 7, 9},
		" 1s .. 2s / 500ms ": {1, 1.5, 2},
		"0.5s..1.5s/0.25s":   {0.5, 0.75, 1, 1.25, 1.5}, // exact in binary, so that seconds() is
		"600s":               {600},
	} {
		var delays []clock.Seconds
		for _, n := range want {
			delays = append(delays, seconds(n))
		}
		got, err := ParseDelays(list)
		if err != nil || !slices.Equal(got, delays) {
			t.Errorf("%s: got %v, %v, want %v", list, got, err, delays)
		}
	}
}

// 1 s to 23 s by 0.1 s are 22 s / 0.1 s + 1 = 221 delays. Adding up 0.1 in floating point would drift and might miss the last.
func TestFineSweepIsExact(t *testing.T) {
	got, err := ParseDelays("1s..23s/0.1s")
	if err != nil || len(got) != 221 {
		t.Fatalf("%d delays, %v", len(got), err)
	}
	for i, d := range got {
		if want := time.Duration(10+i) * 100 * time.Millisecond; d.Duration != want {
			t.Errorf("delay %d is %v, want %v", i, d, want)
		}
	}
}

func TestParseDelaysErrors(t *testing.T) {
	for list, want := range map[string]string{
		"":                  `"" lacks a delay: write 10s, 1s..23s or 5s..10s/500ms`,
		"1s,,2s":            `"" lacks a delay: write 10s, 1s..23s or 5s..10s/500ms`,
		"1s..":              `"1s.." lacks a delay: write 10s, 1s..23s or 5s..10s/500ms`,
		"..2s":              `"..2s" lacks a delay: write 10s, 1s..23s or 5s..10s/500ms`,
		"ten":               `"ten" is not a duration: write 10s or 500ms`,
		"10":                `"10" lacks a unit: write 10s or 500ms`,
		"1..23s":            `"1..23s": "1" lacks a unit: write 10s or 500ms`,
		"1s-23s":            `"1s-23s" is not a duration: write 1s..23s for a range`,
		"0s":                `"0s": a delay is over 0 and at most 600s`,
		"-1s":               `"-1s": a delay is over 0 and at most 600s`,
		"1s..601s":          `"1s..601s": a delay is over 0 and at most 600s`,
		"23s..1s":           `"23s..1s" runs backwards: write 1s..23s`,
		"1s..2s/0s":         `"1s..2s/0s" has a step of 0s: a step is over 0`,
		"1s..2s/-1s":        `"1s..2s/-1s" has a step of -1s: a step is over 0`,
		"1s..2s/x":          `"1s..2s/x": the step "x" is not a duration: write 10s or 500ms`,
		"1s..2s/":           `"1s..2s/": the step "" is not a duration: write 10s or 500ms`,
		"1s/2s":             `"1s/2s" has a step but no range: write 10s, 1s..23s or 5s..10s/500ms`,
		"1s..2s..3s":        `"1s..2s..3s": "2s..3s" is not a duration: write 10s or 500ms`,
		"1s..600s/1ns":      `"1s..600s/1ns" makes 599000000001 delays of the list, more than 100000: take a larger step`,
		"x, 2s, 0s, 2s..1s": "\"x\" is not a duration: write 10s or 500ms\n\"0s\": a delay is over 0 and at most 600s\n\"2s..1s\" runs backwards: write 1s..2s",
	} {
		got, err := ParseDelays(list)
		if err == nil || err.Error() != want || got != nil {
			t.Errorf("%s:\ngot  %v, %v\nwant %s", list, got, err, want)
		}
	}
}
