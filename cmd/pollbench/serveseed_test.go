package main

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// With this probability no connection lives for a second, and when each ends is drawn by the seed: again with the same seed, anew with another. Connections
// with ages drawn without regard to it would be alike as often as 0.36^8.
func TestServeSeed(t *testing.T) {
	t.Parallel()
	const (
		off   = 200 * time.Millisecond // that a busy machine may be late
		tries = 5                      // one that stalls is later still
	)
	var first, again, other []time.Duration
	for range tries {
		first, again, other = ages(t, "8"), ages(t, "8"), ages(t, "9")
		if apart(first, again) <= off && apart(first, other) >= 2*off {
			return
		}
	}
	t.Errorf("connections lived for %v, with the same seed for %v, with another for %v", first, again, other)
}

// apart is the most by which the ages of two connections of the same number differ.
func apart(one, two []time.Duration) (most time.Duration) {
	for i := range one {
		most = max(most, (one[i] - two[i]).Abs())
	}
	return most
}

// ages starts the servers with that seed and tells for how long the first connections to the dashboard server lived, in the order in which they were made.
func ages(t *testing.T, seed string) []time.Duration {
	t.Helper()
	s := serveJSON(t, "--cut", "1", "--seed", seed)
	all := make([]time.Duration, 8)
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
