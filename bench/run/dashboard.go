package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/bench/scenario"
	"pollbench/fixtures/reach"
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
	first, took, err := b.firstSearch(ctx, client, server.URL+browser.SearchPath, string(query))
	if err != nil {
		return fmt.Errorf("look at dashboard server: %w", server.noDashboard(first, err))
	}
	switch documents, shards := first.found(); {
	case shards == 0:
		return fmt.Errorf("look at dashboard server: there is no index %s: name one that has documents with --index, or have one made with --elasticsearch", b.target.indexName())
	case documents == 0:
		return fmt.Errorf("look at dashboard server: the index %s has no documents, so that no search of it would be delayed: name another with --index", b.target.indexName())
	}
	if !b.target.Elasticsearch.Given() {
		b.found.Product, b.found.AsyncSearch, b.found.ShardDelay, b.found.DelayImplementer = "Elasticsearch", true, true, ByServer
		if b.target.AtOnce == 0 {
			b.target.say(fmt.Sprintf("how many searches its Elasticsearch executes at once is not known: no more than %d are tried. Tell with --max-searches, or let it be asked with --elasticsearch", unknown))
		}
	}
	b.passOver = first.passOver()
	if first.timed() {
		b.found.ReadyResolution = readyByTimer
		return nil
	}
	b.found.ReadyResolution = readyByAnswer
	return b.readDashboardClock(ctx, s.Protocols[0], took)
}

// firstSearch plays a search until one is done before its answer, and tells how long that took. A Kibana of an early version 8 waits for a tenth of a second
// whatever it is asked for, and what has just started takes longer.
func (b *Backend) firstSearch(ctx context.Context, client *http.Client, at, query string) (r reply, took time.Duration, err error) {
	const attempts = 5
	for range attempts {
		sent := b.clock.Now()
		if r, err = b.ask(ctx, client, at, browser.Headers(), query); err != nil {
			return r, 0, err
		}
		if !r.running() {
			return r, b.clock.Now().Sub(sent), nil
		}
		b.asked.add(r.ID)
		if err := clock.SleepUntil(ctx, b.clock, b.clock.Now().Add(time.Second)); err != nil {
			return r, 0, err
		}
	}
	return r, 0, fmt.Errorf("a search without a delay is not done when it is answered, %d times in a row: is its Elasticsearch busy?", attempts)
}

// noDashboard says what stands where a dashboard server was expected, and the way out.
func (s Server) noDashboard(r reply, err error) error {
	const kibana = "give the address of a Kibana, with its base path if it has one"
	switch {
	case errors.Is(err, errNoSearch):
		return fmt.Errorf("this is no dashboard server: %w: %s", err, kibana)
	case r.status == http.StatusOK: // and still running
		return err
	case r.status == 0:
		return reach.Expected{Name: "Kibana", CAFlag: "--ca-file"}.Unanswered(s.url(), err)
	case reach.WantsTLS(r.status, []byte(r.said)):
		return reach.ErrWantsTLS
	case r.status == http.StatusUnauthorized:
		return fmt.Errorf("%w: it wants credentials, or does not take those given", err)
	case r.status == http.StatusForbidden:
		return fmt.Errorf("%w: the credentials may not search there", err)
	case strings.Contains(r.said, "shard_delay"):
		return errors.New("its Elasticsearch has no aggregation shard_delay: play against that Elasticsearch with --elasticsearch, where a delay gate can delay")
	case r.status == http.StatusNotFound || !strings.Contains(r.said, `"statusCode"`): // which each of Kibana's errors has
		return fmt.Errorf("this is no dashboard server: %w: %s", err, kibana)
	}
	return err
}
