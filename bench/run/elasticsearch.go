package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/fixtures/delaygate"
	"pollbench/fixtures/documents"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/probe"
)

// elasticsearch brings one up, or finds the one that is there, and puts in front of it or into it what it lacks. Dashboard servers that are started
// later ask it.
func (b *Backend) elasticsearch(ctx context.Context, s scenario.Scenario) error {
	if err := b.begin(ctx, s); err != nil {
		return err
	}
	client := b.server.client(b.network)
	defer client.CloseIdleConnections()
	b.target.say("asking Elasticsearch what it can do")
	found, err := probe.Probe(ctx, client, b.server.URL)
	if err != nil {
		return err
	}
	b.see(found)
	if b.found.DelayImplementer, err = b.delayBy(s, found); err != nil {
		return err
	}
	shards, err := b.index(ctx, client)
	if err != nil {
		return err
	}
	if b.found.DelayImplementer == ByGate {
		return b.gate()
	}
	b.atOnce = room(found.SearchPool, shards)
	if err := b.queues(s); err != nil {
		return err
	}
	if b.target.Dashboard.Given() { // which is asked for searches, and tells when they are ready
		return nil
	}
	return b.readiness(ctx, client)
}

// readiness finds out how *ready* is told: by our clock, as servers of ours do on this machine, or by the server's.
func (b *Backend) readiness(ctx context.Context, client *http.Client) error {
	if b.target.embedded() {
		b.found.ReadyResolution = readyByTimer
		return nil
	}
	first, err := b.ask(ctx, client, b.searchURL(), nil, `{"size":0}`)
	if err != nil {
		return fmt.Errorf("look at Elasticsearch: %w", err)
	}
	b.passOver = first.passOver()
	if first.timed() {
		b.found.ReadyResolution = readyByTimer
		return nil
	}
	b.found.ReadyResolution = readyByAnswer
	return b.readClock(ctx, client)
}

// What *ready* is known to: the embedded server and the delay gate tell it in microseconds, any other in milliseconds.
const (
	readyByTimer  = 1e-6
	readyByAnswer = 1e-3
)

// begin starts what has to be started, and notes where Elasticsearch is.
func (b *Backend) begin(ctx context.Context, s scenario.Scenario) error {
	switch {
	case b.target.Elasticsearch.Given():
		b.server = b.target.Elasticsearch
	case b.target.Begin != nil:
		started, err := b.target.Begin(ctx, size(s))
		if err != nil {
			return err
		}
		b.started = started
		b.server.URL = started.URL()
	default:
		listener, err := b.network.Listen()
		if err != nil {
			return err
		}
		b.server.URL = "http://" + listener.Addr().String()
		b.site.Elasticsearch(listener, elastic.Options{SearchThreads: s.SearchPool})
	}
	return nil
}

// see takes over what the probe has found.
func (b *Backend) see(found probe.Capabilities) {
	b.found.Product, b.found.Version, b.found.ElasticsearchHTTP = found.Product, found.Version, found.HTTP
	b.found.Health, b.found.AsyncSearch, b.found.ShardDelay = found.Health, found.AsyncSearch, found.ShardDelay
	b.found.IntermediateResults = found.IntermediateResults
	if pool := found.SearchPool; pool != nil {
		b.found.SearchPool = &record.SearchPool{Nodes: pool.Nodes, Size: pool.Size, Queue: pool.Queue}
	}
}

// delayBy chooses who delays the searches.
func (b *Backend) delayBy(s scenario.Scenario, found probe.Capabilities) (string, error) {
	by := b.target.DelayBy
	switch {
	case by == "" && found.ShardDelay:
		by = ByServer
	case by == "" && b.target.Dashboard.Given():
		return by, errors.New("the Elasticsearch of the dashboard server has no aggregation shard_delay: play against that Elasticsearch with --elasticsearch alone, where a delay gate can delay")
	case by == "":
		b.target.say(fmt.Sprintf("%s %s has no shard_delay: a delay gate in front of it delays the searches", found.Product, found.Version))
		by = ByGate
	case by == ByServer && !found.ShardDelay:
		return by, fmt.Errorf("%s %s has no aggregation shard_delay, which only snapshot builds have, and nodes of ours: leave it to a delay gate (--delay-by gate)",
			found.Product, found.Version)
	}
	b.target.DelayBy = by
	return by, b.target.Plays(s)
}

// index has the documents there that dashboards search, and tells over how many shards they are spread.
func (b *Backend) index(ctx context.Context, client *http.Client) (shards int, err error) {
	if name := b.target.Index; name != "" {
		_, shards, err = documents.Check(ctx, client, b.server.URL, name)
		return shards, err
	}
	b.target.say("looking for the index " + documents.Index)
	created, err := documents.Create(ctx, client, b.server.URL)
	b.lent = created && !b.target.ours()
	return 1, err
}

// gate puts a delay gate in front of Elasticsearch.
func (b *Backend) gate() error {
	listener, err := b.network.Listen()
	if err != nil {
		return err
	}
	b.found.ReadyResolution = readyByTimer
	return b.site.Gate(listener, delaygate.Options{Elasticsearch: b.server.URL, TLS: b.server.tls(), Dial: b.network.Dial})
}

// asks has a dashboard server ask this Elasticsearch, or the delay gate in front of it.
func (b *Backend) asks(o *kibana.Options) {
	o.Authorization = b.server.Authorization
	if b.found.DelayImplementer == ByServer {
		o.Elasticsearch, o.Roots = b.server.URL, b.server.Roots
	}
}
