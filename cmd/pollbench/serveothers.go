package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pollbench/fixtures/documents"
	"pollbench/fixtures/probe"
	"pollbench/fixtures/reach"
)

// starts are the servers that the command starts. In place of the others there are those that are named by their URLs.
type starts struct{ elasticsearch, dashboard, edge bool }

// behind is the dashboard server behind the edge.
type behind struct {
	server string      // host:port
	trust  *tls.Config // nil: the certificate of servers started here
}

// retry is the time between two attempts to reach a server that does not answer yet.
const retry = 250 * time.Millisecond

// checkStarts finds out which servers are to be started, and refuses what is said about the rest.
func (set *settings) checkStarts() error {
	var errs []error
	set.starts = starts{
		elasticsearch: set.elasticsearchURL == "" && set.dashboardURL == "",
		dashboard:     !set.elasticsearchOnly && set.dashboardURL == "",
		edge:          !set.elasticsearchOnly && set.edge.HasEdge(),
	}
	instead := "--elasticsearch-only"
	if !set.elasticsearchOnly {
		instead = "--dashboard"
	}
	for _, about := range []struct {
		what    string
		here    bool
		instead string
		flags   []string
	}{
		{"the embedded Elasticsearch", set.starts.elasticsearch, "--elasticsearch or --dashboard", []string{"elasticsearch-only", "elasticsearch-port", "strict"}},
		{"the dashboard server", set.starts.dashboard, instead, []string{
			"elasticsearch", "dashboard-port", "on-disconnect", "elasticsearch-rtt", "elasticsearch-jitter", "elasticsearch-bandwidth", "elasticsearch-cut",
		}},
		{"what browsers connect to", !set.elasticsearchOnly, instead, []string{"dashboard", "edge", "rtt", "jitter", "bandwidth", "cut", "ca-file"}},
	} {
		for _, name := range about.flags {
			if !about.here && set.flags.Changed(name) {
				errs = append(errs, fmt.Errorf("--%s: this is about %s, which is not started with %s", name, about.what, about.instead))
			}
		}
	}
	if set.dashboardURL != "" && !set.edge.HasEdge() {
		errs = append(errs, errors.New("--dashboard: choose the proxy in front of it with --edge"))
	}
	if set.dashboardCA != "" && set.dashboardURL == "" {
		errs = append(errs, errors.New("--dashboard-ca: name the dashboard server whose certificate it is with --dashboard"))
	}
	var err error
	if set.dashboardRoots, err = readCA("--dashboard-ca", set.dashboardCA); err != nil {
		errs = append(errs, err)
	}
	if set.wait <= 0 {
		errs = append(errs, fmt.Errorf("--wait %v: a time is more than 0s", set.wait))
	}
	for _, named := range []struct{ flag, url, scheme string }{
		{"--elasticsearch", set.elasticsearchURL, "http"}, {"--dashboard", set.dashboardURL, "https"},
	} {
		if named.url == "" && !set.flags.Changed(named.flag[2:]) {
			continue
		}
		u, err := serverURL(named.url, named.scheme)
		switch {
		case err != nil && named.scheme == "http" && strings.HasPrefix(named.url, "https:"):
			errs = append(errs, fmt.Errorf("%s: our dashboard server asks its Elasticsearch without TLS: give one that is asked by http://", named.flag))
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", named.flag, err))
		case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
			errs = append(errs, fmt.Errorf("%s: the address has a path, a query or a fragment: give it without", named.flag))
		case !set.allowRemote && !loopback(u):
			errs = append(errs, fmt.Errorf("%s %s: that is another machine: say --allow-remote if the requests are welcome there", named.flag, named.url))
		}
	}
	return errors.Join(errs...)
}

// awaitNamed returns once the servers that were named answer, and Elasticsearch has what dashboards search.
func (s *serving) awaitNamed(ctx context.Context, set settings) (behind, error) {
	if set.elasticsearchURL != "" {
		return behind{}, s.awaitElasticsearch(ctx, set)
	}
	if set.dashboardURL != "" {
		return s.awaitDashboard(ctx, set)
	}
	return behind{}, nil
}

func (s *serving) awaitElasticsearch(ctx context.Context, set settings) error {
	// It has no Proxy: whoever names an address means that address.
	client := &http.Client{CheckRedirect: reach.Stay, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var can probe.Capabilities
	err := s.within(ctx, set.wait, func(ctx context.Context) (err error) {
		can, err = probe.Probe(ctx, client, set.elasticsearchURL)
		return err
	})
	if err != nil {
		return err
	}
	s.log.Printf("%s %s answers on %s", can.Product, can.Version, set.elasticsearchURL)
	if !can.ShardDelay {
		s.log.Print("warning: it has no shard_delay, and will refuse every search that asks for a delay")
	}
	made, err := documents.Create(ctx, client, set.elasticsearchURL)
	if err != nil {
		return err
	}
	if made {
		s.log.Printf("made its index %s", documents.Index)
	}
	return nil
}

func (s *serving) awaitDashboard(ctx context.Context, set settings) (behind, error) {
	u, err := serverURL(set.dashboardURL, "https")
	if err != nil {
		return behind{}, err
	}
	b := behind{server: u.Host, trust: &tls.Config{RootCAs: set.dashboardRoots}}
	if u.Port() == "" {
		b.server += ":443"
	}
	client := asking(b.trust)
	expected := reach.Expected{Name: "the dashboard server", CAFlag: "--dashboard-ca", TLSOnly: true}
	err = s.within(ctx, set.wait, func(ctx context.Context) error {
		return get(ctx, client, "https://"+b.server+"/api/status", expected, set.wait)
	})
	if err != nil {
		return behind{}, fmt.Errorf("the dashboard server does not answer: %w", err)
	}
	s.log.Printf("a dashboard server answers on %s", set.dashboardURL)
	return b, nil
}

// within asks until it succeeds, for so long at the most, and returns the last error. It says why it waits.
func (s *serving) within(ctx context.Context, most time.Duration, ask func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := ask(limited)
	if err != nil {
		s.log.Printf("waiting, up to %v: %v", most, err)
	}
	for err != nil {
		select {
		case <-limited.Done():
			return fmt.Errorf("%w (after %v: --wait allows more)", err, most)
		case <-time.After(retry):
		}
		// What is cut off by the end of the time says less than what was wrong before.
		if again := ask(limited); again == nil || limited.Err() == nil {
			err = again
		}
	}
	return nil
}
