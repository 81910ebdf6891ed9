package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	"pollbench/fixtures/network"
	"pollbench/fixtures/reach"
)

const (
	// patience is how long a server on a perfect network may take to answer: far more than it ever needs.
	patience = 10 * time.Second
	// handshake is more than TLS, the question and its answer need: round trips, and bytes each way.
	handshakeTrips = 8
	handshakeBytes = 16 << 10
	// maxAnswer is more than a server's status has, in bytes.
	maxAnswer = 1 << 20
)

// addresses are where the servers answer that were started, as --json prints them.
type addresses struct {
	Elasticsearch string `json:"elasticsearch,omitempty"`
	Dashboard     string `json:"dashboard,omitempty"`
	Edge          string `json:"edge,omitempty"`
	CAFile        string `json:"ca_file,omitempty"`
}

// browser is what a browser connects to, at the near end of the last hop; empty if there is nothing of the kind.
func (a addresses) browser() string {
	if a.Edge != "" {
		return a.Edge
	}
	return a.Dashboard
}

// await returns when every server has answered. Until then no network may cut connections.
func (a addresses) await(ctx context.Context, trust *tls.Config, lastHop network.Conditions) error {
	client := asking(trust)
	for _, ask := range []struct{ name, base, path string }{
		{"Elasticsearch", a.Elasticsearch, "/"},
		{"the dashboard server", a.Dashboard, "/api/status"},
		{"the edge", a.Edge, "/api/status"},
	} {
		if ask.base == "" {
			continue
		}
		within := patience
		if ask.base == a.browser() {
			within += slowness(lastHop)
		}
		if err := get(ctx, client, ask.base+ask.path, reach.Expected{Name: ask.name}, within); err != nil {
			return fmt.Errorf("%s does not answer: %w", ask.name, err)
		}
	}
	return nil
}

// slowness is how much longer an exchange may take under those conditions.
func slowness(c network.Conditions) time.Duration {
	slow := handshakeTrips * (c.RTT + c.Jitter)
	if c.Bandwidth > 0 {
		slow += time.Duration(float64(handshakeBytes) / float64(c.Bandwidth) * float64(time.Second))
	}
	return slow
}

// asking is a client for single questions, whose connections do not stay. It has no Proxy, and is led nowhere else: whoever names an address means that address.
func asking(trust *tls.Config) *http.Client {
	return &http.Client{CheckRedirect: reach.Stay, Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
}

// get wants an answer of status 200 within a time, of whoever is expected there.
func get(ctx context.Context, client *http.Client, at string, expected reach.Expected, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("GET %s: %w", at, expected.Unanswered(r.URL, err))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s: its answer breaks off: %w", at, err)
	case reach.WantsTLS(response.StatusCode, body):
		return fmt.Errorf("GET %s: %w", at, reach.ErrWantsTLS)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("GET %s: status %s", at, response.Status)
	}
	return nil
}
