package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"pollbench/bench/browser"
	"pollbench/bench/scenario"
)

// dashboard looks whether a dashboard server that runs already can be played against: it plays a search without delay there.
func (b *Backend) dashboard(ctx context.Context, s scenario.Scenario) error {
	server := b.target.Dashboard
	client := server.client(b.network)
	defer client.CloseIdleConnections()
	b.target.say("asking the dashboard server for a search")
	query, err := json.Marshal(map[string]any{
		"params": map[string]any{
			"index": b.target.indexName(), "wait_for_completion_timeout": "10s",
			"body": map[string]any{"size": 0, "track_total_hits": true, "aggs": map[string]any{"wait": map[string]any{"shard_delay": map[string]any{"value": "0ms"}}}},
		},
		"stream": true,
	})
	if err != nil {
		return err
	}
	first, err := ask(ctx, client, server.URL+browser.SearchPath, browser.Headers(), string(query))
	if err != nil {
		return fmt.Errorf("look at dashboard server: %w", noDashboard(first, err))
	}
	switch documents, shards := first.found(); {
	case shards == 0:
		return fmt.Errorf("look at dashboard server: there is no index %s: name one that has documents with --index, or have one made with --elasticsearch", b.target.indexName())
	case documents == 0:
		return fmt.Errorf("look at dashboard server: the index %s has no documents, so that no search of it would be delayed: name another with --index", b.target.indexName())
	}
	if b.found.Product == "" { // Elasticsearch itself was not asked
		b.found.Product, b.found.AsyncSearch, b.found.ShardDelay, b.found.DelayImplementer = "Elasticsearch", true, true, ByServer
	}
	if first.timed {
		b.found.ReadyResolution = readyByTimer
		return nil
	}
	b.found.ReadyResolution = readyByAnswer
	return b.readDashboardClock(ctx, s.Protocols[0])
}

// noDashboard says what stands where a dashboard server was expected, and the way out.
func noDashboard(r reply, err error) error {
	switch {
	case r.status == 0:
		return fmt.Errorf("%w: give the address of a Kibana, and its certificate's CA with --ca-file", err)
	case r.status == http.StatusUnauthorized:
		return fmt.Errorf("%w: it wants credentials, or does not take those given", err)
	case r.status == http.StatusForbidden:
		return fmt.Errorf("%w: the credentials may not search there", err)
	case strings.Contains(r.said, "shard_delay"):
		return fmt.Errorf("its Elasticsearch has no aggregation shard_delay: play against that Elasticsearch with --elasticsearch, where a delay gate can delay")
	case r.status == http.StatusNotFound || !strings.Contains(r.said, `"statusCode"`): // which each of Kibana's errors has
		return fmt.Errorf("this is no dashboard server: %w: give the address of a Kibana, with its base path if it has one", err)
	}
	return err
}
