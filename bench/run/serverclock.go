package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/serverclock"
)

// readClock estimates how far Elasticsearch's clock is from the run's: its answers tell by that clock when a search was ready.
func (b *Backend) readClock(ctx context.Context, client *http.Client) error {
	return b.estimate(ctx, func(ctx context.Context) (serverclock.Exchange, error) {
		sent := b.clock.Now()
		r, err := b.ask(ctx, client, b.searchURL(), nil, `{"size":0}`)
		return serverclock.Exchange{Sent: sent, Received: b.clock.Now(), Started: r.Started, Completed: r.Completed}, err
	})
}

// searchURL is where Elasticsearch is asked for a search that is not kept.
func (b *Backend) searchURL() string {
	return b.server.URL + "/" + url.PathEscape(b.target.indexName()) + "/_async_search?wait_for_completion_timeout=10s&keep_on_completion=false"
}

// readDashboardClock does so through a dashboard server. One that answers in Kibana's own form does not tell: then nothing is read by its clock.
func (b *Backend) readDashboardClock(ctx context.Context, by scenario.Protocol, quick time.Duration) error {
	o := browser.Options{Clock: b.clock, Epoch: b.clock.Now(), Protocol: by, Limits: scenario.Browser{HTTP1Connections: 1, H2Streams: 1}, Dial: b.network.Dial}
	b.target.Dashboard.opens(&o)
	asking := browser.New(o)
	defer asking.Close()
	err := b.estimate(ctx, func(ctx context.Context) (serverclock.Exchange, error) {
		return asking.ClockExchange(ctx, b.target.indexName())
	})
	if !errors.Is(err, serverclock.ErrUntold) {
		return err
	}
	// Then ready is reckoned from the submit's exchange, and wrong by half of what that takes at most.
	b.found.ReadyResolution = quick.Seconds() / 2
	return nil
}

// estimate plays quick searches and learns from their times.
func (b *Backend) estimate(ctx context.Context, search func(context.Context) (serverclock.Exchange, error)) error {
	b.target.say("reading the server's clock")
	offset, err := serverclock.Estimate(ctx, search)
	if err != nil {
		return fmt.Errorf("read the server's clock: %w", err)
	}
	b.target.say(fmt.Sprintf("the server's clock is %+.1f ms from ours, ± %.1f ms", offset.Ahead.Seconds()*1e3, offset.Uncertainty.Seconds()*1e3))
	b.offset = &offset
	b.found.ServerClock = &record.ServerClock{Offset: offset.Ahead.Seconds(), Uncertainty: offset.Uncertainty.Seconds()}
	return nil
}
