package record

import (
	"pollbench/bench/plan"
	"pollbench/bench/scenario"
)

// Schema names the form of a result folder.
const Schema = "pollbench/result/1"

// Manifest says what a run is going to measure, with what and on what. It is on disk before the first request.
type Manifest struct {
	Schema       string            `json:"schema"`
	Created      string            `json:"created"` // RFC 3339
	Command      []string          `json:"command"` // as it could be typed again
	Scenario     scenario.Scenario `json:"scenario"`
	ScenarioHash string            `json:"scenario_sha256"`
	Plan         plan.Plan         `json:"plan"`
	Versions     Versions          `json:"versions"`
	Machine      Machine           `json:"machine"`
	Backend      Backend           `json:"backend"`
}

// Versions of what took part.
type Versions struct {
	Pollbench string `json:"pollbench"`
	Commit    string `json:"commit"`
	Go        string `json:"go"`
}

// Machine is the hardware, without any name of it or of its user.
type Machine struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memory_bytes"`
}

// Backend is what the dashboards were played against.
type Backend struct {
	Kind                string       `json:"kind"` // embedded, node or container, started for the run; elasticsearch or dashboard, there before
	Product             string       `json:"product"`
	Version             string       `json:"version"`
	Health              string       `json:"health,omitempty"` // of the cluster
	DashboardServers    int          `json:"dashboard_servers"`
	SocketsPerServer    int          `json:"sockets_per_server"` // each dashboard server's pool towards Elasticsearch
	ReadyResolution     float64      `json:"ready_resolution_s"`
	ServerClock         *ServerClock `json:"server_clock,omitempty"` // where ready is read from it
	DelayImplementer    string       `json:"delay_by"`               // server, or gate: a proxy in front of it
	AsyncSearch         bool         `json:"async_search"`
	ShardDelay          bool         `json:"shard_delay"`
	IntermediateResults bool         `json:"return_intermediate_results"`
	ElasticsearchHTTP   string       `json:"elasticsearch_http"` // protocol of the hop to Elasticsearch
	SearchPool          *SearchPool  `json:"search_pool"`        // nil: not known
}

// On tells on which kind of Elasticsearch a result was measured: nothing if it is the embedded one, which is what a result is on unless it says otherwise.
func (b Backend) On() string {
	if b.Kind == "embedded" {
		return ""
	}
	return b.Kind
}

// SearchPool is how many searches the node with the fewest threads executes at once, a thread for each shard, and how many may queue; -1: any number.
type SearchPool struct {
	Nodes int `json:"nodes"` // that hold data
	Size  int `json:"size"`
	Queue int `json:"queue"`
}

// ServerClock is how far the server's clock is from the run's, in seconds.
type ServerClock struct {
	Offset      float64 `json:"offset_s"`
	Uncertainty float64 `json:"uncertainty_s"` // either way
}
