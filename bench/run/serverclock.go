package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"pollbench/bench/browser"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/serverclock"
)

// readClock estimates how far Elasticsearch's clock is from the run's: its answers tell by that clock when a search was ready.
func (b *Backend) readClock(ctx context.Context, client *http.Client) error {
	at := b.server.URL + "/" + url.PathEscape(b.target.indexName()) + "/_async_search?wait_for_completion_timeout=10s&keep_on_completion=false"
	return b.estimate(ctx, func(ctx context.Context) (serverclock.Exchange, error) {
		sent := b.clock.Now()
		r, err := ask(ctx, client, at, nil, `{"size":0}`)
		return serverclock.Exchange{Sent: sent, Received: b.clock.Now(), Started: r.Started, Completed: r.Completed}, err
	})
}

// readDashboardClock does so through a dashboard server. One that answers in Kibana's own form does not tell: then nothing is read by its clock.
func (b *Backend) readDashboardClock(ctx context.Context, by scenario.Protocol) error {
	o := browser.Options{Clock: b.clock, Epoch: b.clock.Now(), Protocol: by, Limits: scenario.Browser{HTTP1Connections: 1, H2Streams: 1}, Dial: b.network.Dial}
	b.target.Dashboard.opens(&o)
	asking := browser.New(o)
	defer asking.Close()
	err := b.estimate(ctx, func(ctx context.Context) (serverclock.Exchange, error) {
		return asking.ClockExchange(ctx, b.target.Index)
	})
	if errors.Is(err, serverclock.ErrUntold) {
		return nil
	}
	return err
}

// estimate plays quick searches and learns from their times.
func (b *Backend) estimate(ctx context.Context, search func(context.Context) (serverclock.Exchange, error)) error {
	b.target.say("reading the server's clock")
	offset, err := serverclock.Estimate(ctx, search)
	if err != nil {
		return fmt.Errorf("read the server's clock: %w", err)
	}
	b.offset = &offset
	b.found.ServerClock = &record.ServerClock{Offset: offset.Ahead.Seconds(), Uncertainty: offset.Uncertainty.Seconds()}
	return nil
}
