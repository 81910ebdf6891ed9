package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pollbench/bench/record"
	"pollbench/bench/serverclock"
)

// quick is for how long the search of [Browser.ClockExchange] is waited for, which takes some milliseconds.
const quick = 30 * time.Second

// ClockExchange plays one quick search of an index, without hits and without a delay, for [serverclock.Estimate]. An error that wraps
// [serverclock.ErrUntold] says that the server's answers do not tell when a search started and was completed, as those of a Kibana that answers in its own
// form only; then [Options.ServerClock] is not needed.
func (b *Browser) ClockExchange(ctx context.Context, index string) (serverclock.Exchange, error) {
	params := map[string]any{
		"index": index, "body": map[string]any{"size": 0}, "wait_for_completion_timeout": timeValue(quick),
	}
	body, err := json.Marshal(map[string]any{"params": params, "stream": true})
	if err != nil {
		return serverclock.Exchange{}, err
	}
	var a answer
	var seen record.Request
	ended := make(chan error, 1)
	asked := b.send(ctx, call{method: http.MethodPost, path: SearchPath, body: body, wait: quick}, func(got answer, how record.Request, err error) {
		a, seen = got, how
		ended <- err
	})
	defer context.AfterFunc(ctx, func() {
		b.guard(func() {
			if asked.leave() {
				ended <- context.Cause(ctx)
				return
			}
			asked.drop()
		})
	})()
	told, err := await(b.goroutines, ended)
	if ctx.Err() != nil { // what a server says to whom it sees leave is no answer
		told = context.Cause(ctx)
	}
	if err = cmp.Or(err, told); err != nil {
		return serverclock.Exchange{}, b.otherProtocol(err)
	}
	h, err := readHead(a.body)
	switch {
	case err != nil:
		return serverclock.Exchange{}, fmt.Errorf("read answer: %w: %s", err, beginning(a.body))
	case h.running:
		return serverclock.Exchange{}, fmt.Errorf("a search without hits takes more than %v", quick)
	case h.failed, h.partial, h.timedOut, h.failedShards:
		return serverclock.Exchange{}, fmt.Errorf("search failed: %s", beginning(a.body))
	case h.started == 0 || h.completed == 0:
		return serverclock.Exchange{}, serverclock.ErrUntold
	}
	return serverclock.Exchange{
		Sent:     b.options.Epoch.Add(length(seen.Slot)),          // recorded before anything is sent
		Received: b.options.Epoch.Add(length(seen.FirstByte + 1)), // recorded times are cut to the microsecond
		Started:  h.started, Completed: h.completed,
	}, nil
}
