package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"pollbench/bench/browser"
	"pollbench/bench/clock"
	"pollbench/fixtures/documents"
)

// searches are the ids of what the browsers have asked for. A search that was not done within its submit is kept by the server for a while,
// also when it has been delivered.
type searches struct {
	mu  sync.Mutex
	ids []string
}

func (s *searches) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, id)
}

const (
	// deleters is how many DELETEs are under way at once: few enough that nobody else on the server notices.
	deleters = 8
	// takingBack is how long a server may take over all of them, beside what its rate makes of it. What is left expires by itself, a minute after it was last
	// asked for.
	takingBack = time.Minute
	// pause is kept before them where a server may get only so many requests a second: the last of the loads are a second's too.
	pause = time.Second
)

// takeBack deletes what the run has left on servers that go on: its searches, and its index. It may take a minute, and says so before: who hears nothing
// after Ctrl-C presses it again.
func (b *Backend) takeBack() error {
	if b.target.ours() {
		return nil
	}
	var left []string
	if n := len(b.asked.ids); n > 0 {
		left = append(left, fmt.Sprintf("%d searches", n))
	}
	if b.lent {
		left = append(left, "the index "+documents.Index)
	}
	if len(left) == 0 {
		return nil
	}
	b.target.say("deleting " + strings.Join(left, " and ") + " on the server: a second Ctrl-C would leave the rest there")
	return errors.Join(b.deleteSearches(), b.deleteIndex())
}

func (b *Backend) deleteSearches() error {
	limit, each := takingBack, time.Duration(0)
	if rate := b.target.Rate; rate > 0 {
		each = time.Duration(float64(time.Second) / rate)
		limit += pause + time.Duration(len(b.asked.ids))*each
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	server, route := b.server, "/_async_search"
	if b.target.Dashboard.Given() {
		server, route = b.target.Dashboard, browser.SearchPath
	}
	client := server.client(b.network)
	defer client.CloseIdleConnections()
	ids := make(chan string)
	var deleting sync.WaitGroup
	var mu sync.Mutex
	var left int
	var first error
	for range deleters {
		deleting.Go(func() {
			for id := range ids {
				err := browser.Guard(func() error { return removeSearch(ctx, client, server.URL+route+"/"+url.PathEscape(id)) })
				if err == nil {
					continue
				}
				mu.Lock()
				left++
				first = cmp.Or(first, err)
				mu.Unlock()
			}
		})
	}
	if each > 0 && len(b.asked.ids) > 0 {
		_ = clock.SleepUntil(ctx, b.clock, b.clock.Now().Add(pause))
	}
	for _, id := range b.asked.ids {
		_ = clock.SleepUntil(ctx, b.clock, b.clock.Now().Add(each)) // once it is over, every DELETE fails at once and is counted
		ids <- id
	}
	close(ids)
	deleting.Wait()
	if left > 0 {
		return fmt.Errorf("%d of %d searches could not be deleted (%w): they expire by themselves; wait a minute before the next run on that server", left, len(b.asked.ids), first)
	}
	return nil
}

func (b *Backend) deleteIndex() error {
	if !b.lent {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := b.server.client(b.network)
	defer client.CloseIdleConnections()
	if err := documents.Delete(ctx, client, b.server.URL); err != nil {
		return fmt.Errorf("%w: remove it with DELETE /%s", err, documents.Index)
	}
	return nil
}

// indexGone makes an error of a load's failure after which every load would fail, or worse; nil is any other.
func (b *Backend) indexGone(failure string) error {
	if !strings.Contains(failure, browser.Nowhere) {
		return nil
	}
	why := "a run that has made it removes it at its end: play runs one after the other, or on an index of your own, by --index"
	if b.target.Index != "" {
		why = "name one that stays with --index"
	}
	return fmt.Errorf("%s %s: %s", browser.Nowhere, b.target.indexName(), why)
}

// removeSearch deletes a search. One that the server no longer knows is gone as well.
func removeSearch(ctx context.Context, client *http.Client, at string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, at, nil)
	if err != nil {
		return err
	}
	r.Header = browser.Headers()
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // all of it, so that the connection can be used again
	if answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("status %d: %s", answer.StatusCode, reply{said: string(said)}.beginning())
}
