package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"pollbench/bench/scenario"
	"pollbench/fixtures/documents"
)

// print tells the world where the servers are, in one write.
func (a addresses) print(out io.Writer, set settings) error {
	var text bytes.Buffer
	if set.json {
		if err := json.NewEncoder(&text).Encode(a); err != nil {
			return fmt.Errorf("write addresses: %w", err)
		}
	} else {
		a.describe(&text, set)
	}
	if _, err := out.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	return nil
}

// query is a search that takes some seconds: long enough to see it running, short enough to wait for.
const query = `{"size":0,"aggs":{"wait":{"shard_delay":{"value":"3s"}}}}`

func (a addresses) describe(out *bytes.Buffer, set settings) {
	name := "dashboard server"
	if a.Edge != "" {
		name = "edge"
	}
	for _, s := range []struct{ what, at string }{
		{"Elasticsearch", a.Elasticsearch}, {"dashboard server", a.Dashboard}, {"edge", a.Edge}, {"CA certificate", a.CAFile},
	} {
		switch {
		case s.at == "":
		case s.at == a.Edge:
			fmt.Fprintf(out, "%-16s  %s (%s: connect here)\n", s.what, s.at, set.serveFlags.edge)
		default:
			fmt.Fprintf(out, "%-16s  %s\n", s.what, s.at)
		}
	}
	set.serveFlags.lastHop.describe(out, "last hop")
	set.serveFlags.elasticsearch.describe(out, "Elasticsearch")
	of := "A search of 3 s"
	if a.Elasticsearch != "" {
		fmt.Fprintf(out, "\n%s in Elasticsearch: submitted, looked at, awaited and deleted. The first line is needed for those after it.\n\n", of)
		for _, line := range a.elasticsearchSamples() {
			fmt.Fprintf(out, "  %s\n", line)
		}
		of = "The same"
	}
	if a.browser() == "" {
		return
	}
	for _, p := range set.protocols() {
		fmt.Fprintf(out, "\n%s over %s through the %s, as a page asks that polls continuously.\n\n", of, protocolNames[p], name)
		for _, line := range a.dashboardSamples(p, set.edge.IdleTimeout.Duration) {
			fmt.Fprintf(out, "  %s\n", line)
		}
		of = "The same"
	}
}

// describe says under which conditions a hop is, if any.
func (h hop) describe(out io.Writer, where string) {
	var all []string
	if h.rtt > 0 {
		trip := fmt.Sprintf("round trip %v", h.rtt)
		if h.jitter > 0 {
			trip += fmt.Sprintf(" ± %v each way", h.jitter)
		}
		all = append(all, trip)
	}
	if h.bandwidth > 0 {
		all = append(all, "at most "+h.bandwidth.String())
	}
	if h.cut > 0 {
		all = append(all, fmt.Sprintf("%v %% of connections cut each second", 100*h.cut))
	}
	if len(all) > 0 {
		fmt.Fprintf(out, "network           to %s: %s\n", where, strings.Join(all, ", "))
	}
}

var protocolNames = map[scenario.Protocol]string{scenario.H2: "h2", scenario.HTTP1: "HTTP/1.1"}

const (
	// contained puts a search's id into a variable of the shell, and shows it. Elasticsearch's answers begin with it.
	contained = `ID=$(%s | sed 's/^{"id":"\([^"]*\)".*/\1/'); echo "$ID"`
	// told shows what the bodies do not say.
	told = `-w '\nHTTP/%{http_version} %{http_code} after %{time_total} s\n'`
)

func (a addresses) elasticsearchSamples() []string {
	curl := func(method, path string, more ...string) string {
		return strings.Join(append([]string{"curl -sSf -X", method, `"` + a.Elasticsearch + path + `"`}, more...), " ")
	}
	return []string{
		fmt.Sprintf(contained, curl("POST", "/"+documents.Index+"/_async_search?wait_for_completion_timeout=200ms&keep_alive=1m",
			"-H 'content-type: application/json'", "-d '"+query+"'")),
		curl("GET", "/_async_search/status/$ID", told),
		curl("GET", "/_async_search/$ID?wait_for_completion_timeout=30s", told),
		curl("DELETE", "/_async_search/$ID", told),
	}
}

// dashboardSamples stay below the idle time-out of an edge, unless that is 0.
func (a addresses) dashboardSamples(p scenario.Protocol, idle time.Duration) []string {
	wait := func(most time.Duration) string {
		if idle > 0 {
			most = min(most, idle/2)
		}
		return strconv.FormatInt(most.Milliseconds(), 10) + "ms"
	}
	flag := "--http2"
	if p == scenario.HTTP1 {
		flag = "--http1.1"
	}
	curl := func(method, path, body string, more ...string) string {
		words := []string{
			"curl -sSf", flag, "--cacert", quoted(a.CAFile), "-X", method, `"` + a.browser() + path + `"`,
			"-H 'kbn-xsrf: curl' -H 'elastic-api-version: 1' -H 'x-elastic-internal-origin: Kibana'",
		}
		if body != "" {
			words = append(words, "-H 'content-type: application/json'", "-d '"+body+"'")
		}
		return strings.Join(append(words, more...), " ")
	}
	submit := `{"params":{"index":"` + documents.Index + `","body":` + query + `,"wait_for_completion_timeout":"` + wait(200*time.Millisecond) + `"},"stream":true}`
	poll := `{"params":{"wait_for_completion_timeout":"` + wait(30*time.Second) + `"},"retrieveResults":true,"stream":true}`
	return []string{
		fmt.Sprintf(contained, curl("POST", "/internal/search/ese", submit)),
		curl("POST", "/internal/search/ese/$ID", poll, told),
		curl("DELETE", "/internal/search/ese/$ID", "", told),
	}
}

// quoted makes one word of the shell out of any text.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
