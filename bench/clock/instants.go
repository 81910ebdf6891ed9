package clock

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Instant is a point in time in microseconds on the machine's monotonic clock, the same in each of its processes. Servers
// put instants into their answers, so that the one who measures can tell the search's own time from everybody's waiting.
type Instant int64

// origin ties Go's monotonic reading, which has no zero that can be asked for, to the machine's.
var origin, originInstant = time.Now(), machineInstant()

// InstantOf converts a time that has a monotonic reading.
func InstantOf(t time.Time) Instant {
	return originInstant + Instant(t.Sub(origin)/time.Microsecond)
}

// Time is the inverse of [InstantOf], to the microsecond.
func (i Instant) Time() time.Time {
	return origin.Add(time.Duration(i-originInstant) * time.Microsecond)
}

// Names of the instants in a Server-Timing header. SocketWait alone is a length of time, in microseconds too.
const (
	SearchAccepted = "search-accepted" // Elasticsearch took the search, which may then have queued; told only where it can
	SearchStart    = "search-start"    // it began to execute the search
	SearchReady    = "search-ready"    // its result could be given out
	DashboardIn    = "dashboard-in"    // the dashboard server had read the request
	DashboardOut   = "dashboard-out"   // it began to answer
	SocketWait     = "socket-wait"     // it queued for a connection to Elasticsearch
)

const serverTiming = "Server-Timing"

// AddInstant appends one value to the Server-Timing header of an answer.
func AddInstant(h http.Header, name string, value Instant) {
	h.Add(serverTiming, name+";dur="+strconv.FormatInt(int64(value), 10))
}

// Instants reads the Server-Timing values of an answer that have the names above. Others' metrics, such as a proxy's, are passed over; ours without
// a whole number of microseconds are an error.
func Instants(h http.Header) (map[string]Instant, error) {
	found := map[string]Instant{}
	for _, line := range h.Values(serverTiming) {
		for metric := range strings.SplitSeq(line, ",") {
			metric = strings.TrimSpace(metric)
			name, parameters, _ := strings.Cut(metric, ";")
			switch name {
			case SearchAccepted, SearchStart, SearchReady, DashboardIn, DashboardOut, SocketWait:
			default:
				continue
			}
			value, ok := strings.CutPrefix(parameters, "dur=")
			if !ok {
				return nil, fmt.Errorf("read %s %q: no duration", serverTiming, metric)
			}
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("read %s %q: %w", serverTiming, metric, err)
			}
			found[name] = Instant(n)
		}
	}
	return found, nil
}
