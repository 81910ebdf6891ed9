//go:build !linux

package clock

// Precise is, where there is no timerfd, the standard clock.
type Precise struct{ standard }

// New returns the platform's best clock.
func New() (*Precise, error) { return &Precise{}, nil }

// Close does nothing: there is nothing to release.
func (*Precise) Close() error { return nil }
