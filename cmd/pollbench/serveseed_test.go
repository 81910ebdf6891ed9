package main

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// With this probability no connection lives for a second, and when each ends is drawn by the seed: again with the same seed, anew with another.
func TestServeSeed(t *testing.T) {
	t.Parallel()
	const off = 200 * time.Millisecond // that a busy machine may be late
	first, again, other := ages(t, "8"), ages(t, "8"), ages(t, "9")
	var apart time.Duration
	for i := range first {
		if d := (first[i] - again[i]).Abs(); d > off {
			t.Errorf("connection %d lived for %v and %v", i+1, first[i], again[i])
		}
		apart = max(apart, (first[i] - other[i]).Abs())
	}
	if apart < 2*off {
		t.Errorf("connections lived for %v, and with another seed for %v", first, other)
	}
}

// ages starts the servers with that seed and tells for how long the first connections to the dashboard server lived, in the order in which they were made.
func ages(t *testing.T, seed string) []time.Duration {
	t.Helper()
	s := serveJSON(t, "--cut", "1", "--seed", seed)
	all := make([]time.Duration, 3)
	var living sync.WaitGroup
	for i := range all {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.Dashboard, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		born := time.Now()
		living.Go(func() {
			_, _ = io.Copy(io.Discard, c) // ends with the cut, which is no orderly end
			all[i] = time.Since(born)
			_ = c.Close()
		})
	}
	living.Wait()
	s.stop(t)
	return all
}
