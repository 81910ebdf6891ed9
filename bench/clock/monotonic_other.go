//go:build !linux

package clock

import "time"

// machineInstant stands in with the wall clock: all processes of the machine share it, and only its value at start counts.
func machineInstant() Instant { return Instant(time.Now().UnixMicro()) }
