package clock

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Seconds is a duration that travels in JSON as decimal seconds, exact to the nanosecond.
type Seconds struct{ time.Duration }

// MarshalJSON writes seconds without trailing zeros: 1.5 s is 1.5.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, s.Duration.Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON reads decimal seconds.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("read seconds %s: %w", b, err)
	}
	ns := math.Round(v * 1e9)
	if math.Abs(ns) >= math.MaxInt64 {
		return fmt.Errorf("read seconds %s: out of range", b)
	}
	s.Duration = time.Duration(ns)
	return nil
}
