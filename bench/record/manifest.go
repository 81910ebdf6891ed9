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
	Kind              string  `json:"kind"` // embedded
	Product           string  `json:"product"`
	Version           string  `json:"version"`
	DashboardServers  int     `json:"dashboard_servers"`
	SocketsPerServer  int     `json:"sockets_per_server"` // each dashboard server's pool towards Elasticsearch
	ReadyResolution   float64 `json:"ready_resolution_s"`
	DelayImplementer  string  `json:"delay_by"` // server
	AsyncSearch       bool    `json:"async_search"`
	ShardDelay        bool    `json:"shard_delay"`
	ElasticsearchHTTP string  `json:"elasticsearch_http"` // protocol of the hop to Elasticsearch
}
