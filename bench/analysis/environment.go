package analysis

import "pollbench/bench/record"

// Environment is what was measured with and on, as the manifest of the run has it.
type Environment struct {
	Created  string          `json:"created"`
	Command  []string        `json:"command"`
	Versions record.Versions `json:"versions"`
	Machine  record.Machine  `json:"machine"`
	Backend  record.Backend  `json:"backend"`
	// RoundTrip is, by protocol, the median time of a request that nobody held.
	RoundTrip map[string]float64 `json:"round_trip_s"`
}

// Health is how well the machine kept up, and the judgement on it.
type Health struct {
	Healthy bool `json:"healthy"`
	record.Health
	// SocketWaits is the number of requests that queued for one of a dashboard server's connections to Elasticsearch.
	SocketWaits   int     `json:"socket_waits"`
	SocketWaitMax float64 `json:"socket_wait_max_s"`
	// Queued is the number of searches that queued on Elasticsearch, for [queuedFrom] or longer.
	Queued    int      `json:"queued_searches"`
	QueuedMax float64  `json:"queued_max_s"`
	Reasons   []string `json:"reasons"` // why it is not healthy
}
