package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pollbench/bench/clock"
)

// delayForm is what every message about delays shows.
const delayForm = "write 10s, 1s..23s or 5s..10s/500ms"

// ParseDelays reads a list of delays, in the order given: values and ranges FROM..TO[/STEP], separated by commas.
//
//	10s                  one delay
//	1s..23s              23 delays: the step is 1s when none is given
//	1s..23s/0.1s         221 delays, each an exact multiple of 100 ms
//	1s, 2s, 5s..10s/2s   1 2 5 7 9 s: TO itself is there only if a step ends on it
//
// Each delay is over 0 and at most [MaxDelay] seconds, and all of them at most [MaxLoad]. The error names each part
// that is wrong, a line each. A delay that comes twice is found by [Decode] and [Scenario.With].
func ParseDelays(list string) ([]clock.Seconds, error) {
	var delays []clock.Seconds
	var errs []error
	for part := range strings.SplitSeq(list, ",") {
		more, err := appendDelays(delays, part)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		delays = more
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return delays, nil
}

// appendDelays adds the delays of one value or range. It counts them before it makes them: a step of 1ns is quickly written.
func appendDelays(delays []clock.Seconds, part string) ([]clock.Seconds, error) {
	part = strings.TrimSpace(part)
	from, to, step, err := parseRange(part)
	if err != nil {
		return nil, err
	}
	n := (to-from)/step + 1
	if all := int64(len(delays)) + int64(n); all > MaxLoad {
		return nil, fmt.Errorf("%s makes %d delays of the list, more than %d: take a larger step", quote(part), all, MaxLoad)
	}
	for i := range n {
		delays = append(delays, clock.Seconds{Duration: from + i*step})
	}
	return delays, nil
}

func parseRange(part string) (from, to, step time.Duration, err error) {
	span, stepText, stepped := strings.Cut(part, "/")
	fromText, toText, ranged := strings.Cut(span, "..")
	if stepped && !ranged {
		return 0, 0, 0, fmt.Errorf("%s has a step but no range: %s", quote(part), delayForm)
	}
	if from, err = parseDelay(part, fromText); err != nil {
		return 0, 0, 0, err
	}
	to, step = from, time.Second
	if ranged {
		if to, err = parseDelay(part, toText); err != nil {
			return 0, 0, 0, err
		}
	}
	if stepped {
		if step, err = parseDuration(stepText); err != nil {
			return 0, 0, 0, fmt.Errorf("%s: the step %w", quote(part), err)
		}
	}
	switch {
	case from > to:
		return 0, 0, 0, fmt.Errorf("%s runs backwards: write %s..%s", quote(part), strings.TrimSpace(toText), strings.TrimSpace(fromText))
	case step <= 0:
		return 0, 0, 0, fmt.Errorf("%s has a step of %v: a step is over 0", quote(part), step)
	}
	return from, to, step, nil
}

// parseDelay reads one end of a range, or the whole of a part that is none.
func parseDelay(part, text string) (time.Duration, error) {
	if strings.TrimSpace(text) == "" {
		return 0, fmt.Errorf("%s lacks a delay: %s", quote(part), delayForm)
	}
	d, err := parseDuration(text)
	if err != nil && text != part {
		return 0, fmt.Errorf("%s: %w", quote(part), err)
	}
	if err != nil {
		return 0, err
	}
	if !validDelay(d) {
		return 0, fmt.Errorf("%s: %s", quote(part), delayLimits)
	}
	return d, nil
}

var delayLimits = fmt.Sprintf("a delay is over 0 and at most %ds", MaxDelay)

func validDelay(d time.Duration) bool { return d > 0 && d <= MaxDelay*time.Second }

func parseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, fmt.Errorf("%s lacks a unit: write 10s or 500ms", quote(text))
	}
	if from, to, ok := strings.Cut(text, "-"); ok && isDuration(from) && isDuration(to) {
		return 0, fmt.Errorf("%s is not a duration: write %s..%s for a range", quote(text), from, to)
	}
	return 0, fmt.Errorf("%s is not a duration: write 10s or 500ms", quote(text))
}

func isDuration(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil
}
