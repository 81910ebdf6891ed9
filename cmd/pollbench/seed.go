package main

import (
	"fmt"
	"math"
	"strconv"
)

// seed is a flag's value.
type seed uint64

func (s *seed) String() string { return strconv.FormatUint(uint64(*s), 10) }

func (s *seed) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("a seed is a whole number from 0 to %d", uint64(math.MaxUint64))
	}
	*s = seed(n)
	return nil
}

// Type is what help says of a flag that names its value otherwise.
func (s *seed) Type() string { return "seed" }
