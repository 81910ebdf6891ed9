package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Each edge speaks to the browser what its name says, and nothing else.
func TestServeEdge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   string
		speaks map[string]bool
	}{
		{"edge-h2", map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false}},
		{"edge-http1", map[string]bool{"HTTP/2.0": false, "HTTP/1.1": true}},
		{"edge-idle-timeout=5s", map[string]bool{"HTTP/2.0": true, "HTTP/1.1": true}}, // no answer takes that long, on a machine that stalls too
	} {
		s := serveJSON(t, "--edge", c.kind)
		for protocol, speaks := range c.speaks {
			r, err := s.client(t, protocol).Get(s.Edge + "/api/status")
			if err == nil {
				_ = r.Body.Close()
			}
			if speaks != (err == nil && r.StatusCode == http.StatusOK && r.Proto == protocol && r.Header.Get("Via") != "") {
				t.Errorf("%s over %s: %v, %v", c.kind, protocol, r, err)
			}
			if strings.Contains(c.kind, "idle") {
				if status, _, _ := ask(t, s.client(t, protocol), "POST", s.Edge+"/internal/search/es", search("30s")); status != http.StatusGatewayTimeout {
					t.Errorf("a search of 30 s behind %s: status %d", c.kind, status)
				}
			}
			if status, _ := s.get(t, protocol, s.Dashboard+"/api/status"); status != http.StatusOK {
				t.Errorf("the dashboard server behind %s: status %d", c.kind, status)
			}
		}
		s.stop(t)
	}
}

// search is the body of a search through the dashboard server.
func search(delay string) string {
	return `{"params":{"index":"pollbench","wait_for_completion_timeout":"0ms","body":{"size":0,"aggs":{"d":{"shard_delay":{"value":"` +
		delay + `"}}}}},"stream":true}`
}

// submit starts a search, without waiting for it, and returns its id.
func submit(t *testing.T, c *http.Client, dashboard, delay string) string {
	t.Helper()
	var answer struct{ ID string }
	_, _, text := ask(t, c, "POST", dashboard+"/internal/search/ese", search(delay))
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.ID == "" {
		t.Fatalf("%s, %v", text, err)
	}
	return answer.ID
}

// An answer over a connection that is open already takes one round trip more. How much more than that is the machine's matter.
func TestServeNetwork(t *testing.T) {
	t.Parallel()
	const rtt, narrow = 60 * time.Millisecond, 150 * time.Millisecond
	for _, c := range []struct {
		args         []string
		method, path string
		body         string
		least        time.Duration
	}{
		{[]string{"--rtt", rtt.String(), "--jitter", "0s"}, "GET", "/api/status", "", rtt},
		{[]string{"--edge", "edge-h2", "--rtt", rtt.String()}, "GET", "/api/status", "", rtt},
		{[]string{"--elasticsearch-rtt", rtt.String()}, "POST", "/internal/search/es", search("0s"), rtt},
		// 20 KiB of documents, of which half cannot have left before.
		{[]string{"--bandwidth", "64KiB/s"}, "POST", "/internal/search/es", strings.Replace(search("0s"), `"size":0`, `"size":80`, 1), narrow},
	} {
		s := serveJSON(t, c.args...)
		client := s.client(t, "HTTP/2.0")
		url := s.browser() + c.path
		ask(t, client, c.method, url, c.body)
		began := time.Now()
		status, _, answer := ask(t, client, c.method, url, c.body)
		if took := time.Since(began); status != http.StatusOK || took < c.least {
			t.Errorf("%v: status %d after %v, want %v or more; %d bytes", c.args, status, took, c.least, len(answer))
		}
		s.stop(t)
	}
}

// A connection that is cut costs a request, not the servers: with this probability none grows older than a second.
func TestServeCuts(t *testing.T) {
	t.Parallel()
	s := serveJSON(t, "--cut", "1")
	client := s.client(t, "HTTP/1.1")
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.Dashboard+"/internal/search/es", strings.NewReader(search("30s"))) // longer than a machine stalls
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Kbn-Xsrf": {"test"}, "Elastic-Api-Version": {"1"}}
	if answer, err := client.Do(r); err == nil {
		_ = answer.Body.Close()
		t.Errorf("a connection lived for 30 s: status %d", answer.StatusCode)
	}
	if status, _ := s.get(t, "HTTP/1.1", s.Elasticsearch); status != http.StatusOK {
		t.Errorf("Elasticsearch, whose own connections are not cut: status %d", status)
	}
	s.stop(t)
}

// --strict refuses what a release 8.19 does not know; the dashboard server copes.
func TestServeStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want int
	}{{nil, http.StatusOK}, {[]string{"--strict"}, http.StatusBadRequest}} {
		s := serveJSON(t, c.args...)
		client := s.client(t, "HTTP/1.1")
		at := "/_async_search/" + url.PathEscape(submit(t, client, s.Dashboard, "30s"))
		status, _, answer := ask(t, client, "GET", s.Elasticsearch+at+"?return_intermediate_results=false", "")
		if status != c.want {
			t.Errorf("%v: status %d, want %d: %s", c.args, status, c.want, answer)
		}
		s.stop(t)
	}
}

// What becomes of a search whose client leaves: it is asked for in Elasticsearch itself.
func TestServeOnDisconnect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		on   string
		wait string // for the search's end: until it is deleted, or long enough for that
		kept bool
	}{{"cancel", "50s", false}, {"keep", "300ms", true}} {
		s := serveJSON(t, "--on-disconnect", c.on)
		client := s.client(t, "HTTP/1.1")
		id := url.PathEscape(submit(t, client, s.Dashboard, "1m"))
		at := s.Elasticsearch + "/_async_search/"
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", s.Dashboard+"/internal/search/ese/"+id,
			strings.NewReader(`{"params":{"wait_for_completion_timeout":"50s","keep_alive":"1h"},"retrieveResults":true,"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Kbn-Xsrf": {"test"}, "Elastic-Api-Version": {"1"}}
		polled := make(chan error, 1)
		go func() {
			_, err := client.Do(r)
			polled <- err
		}()
		// The poll is dropped while Elasticsearch holds it, which shows in that the search is now kept for an hour and no minute.
		for asker := s.client(t, "HTTP/1.1"); lifetime(t, asker, at+"status/"+id) < time.Hour; time.Sleep(10 * time.Millisecond) {
		}
		leave()
		if err := <-polled; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the poll that was to be dropped: %v", c.on, err)
		}
		status, _, answer := ask(t, client, "GET", at+id+"?wait_for_completion_timeout="+c.wait, "")
		if kept := status == http.StatusOK; kept != c.kept {
			t.Errorf("%s: status %d: %s", c.on, status, answer)
		}
		s.stop(t)
	}
}

// lifetime is how long after its start a search expires, by its status.
func lifetime(t *testing.T, c *http.Client, url string) time.Duration {
	t.Helper()
	var state struct {
		Start      int64 `json:"start_time_in_millis"`
		Expiration int64 `json:"expiration_time_in_millis"`
	}
	status, _, text := ask(t, c, "GET", url, "")
	if err := json.Unmarshal([]byte(text), &state); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", url, status, text, err)
	}
	return time.Duration(state.Expiration-state.Start) * time.Millisecond
}
