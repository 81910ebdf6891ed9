package main

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each server can be a process of its own. A search goes through all three.
func TestServeApart(t *testing.T) {
	t.Parallel()
	elasticsearch := serveJSON(t, "--elasticsearch-only", "--strict")
	dashboard := serveJSON(t, "--elasticsearch", elasticsearch.Elasticsearch)
	edge := serveJSON(t, "--dashboard", dashboard.Dashboard, "--dashboard-ca", dashboard.CAFile, "--edge", "edge-h2")
	for _, s := range []struct {
		*served
		want []string
	}{{elasticsearch, []string{"elasticsearch"}}, {dashboard, []string{"ca_file", "dashboard"}}, {edge, []string{"ca_file", "edge"}}} {
		var keys map[string]string
		if err := json.Unmarshal([]byte(s.first), &keys); err != nil || !slices.Equal(slices.Sorted(maps.Keys(keys)), s.want) {
			t.Errorf("%s, %v: want %v", s.first, err, s.want)
		}
	}
	client := edge.client(t, "HTTP/2.0")
	began := time.Now()
	id := submit(t, client, edge.Edge, "1s")
	status, protocol, answer := ask(t, client, "POST", edge.Edge+"/internal/search/ese/"+id, `{"params":{"wait_for_completion_timeout":"30s"},"retrieveResults":true,"stream":true}`)
	if took := time.Since(began); status != http.StatusOK || protocol != "HTTP/2.0" || !strings.Contains(answer, `"is_running":false`) || took < time.Second {
		t.Errorf("status %d over %s after %v: %s", status, protocol, took, answer)
	}
	for _, s := range []*served{edge, dashboard, elasticsearch} {
		s.stop(t)
	}
}

// With two of them in one process the edge trusts the dashboard server that it has been started with.
func TestServeElasticsearchOfOthers(t *testing.T) {
	t.Parallel()
	elasticsearch := serveJSON(t, "--elasticsearch-only")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if status, _, answer := ask(t, client, "DELETE", elasticsearch.Elasticsearch+"/pollbench", ""); status != http.StatusOK {
		t.Fatalf("%d: %s", status, answer)
	}
	s := serveJSON(t, "--elasticsearch", elasticsearch.Elasticsearch, "--edge", "edge-http1")
	if status, _, answer := ask(t, s.client(t, "HTTP/1.1"), "POST", s.Edge+"/internal/search/es", search("0s")); status != http.StatusOK || !strings.Contains(answer, `"value":10000`) {
		t.Errorf("status %d: %s", status, answer)
	}
	s.stop(t)
	if !strings.Contains(s.stderr.String(), "made its index pollbench") {
		t.Errorf("it does not say that it made an index: %s", s.stderr)
	}
	s = serveJSON(t, "--elasticsearch", elasticsearch.Elasticsearch)
	s.stop(t)
	if strings.Contains(s.stderr.String(), "made its index") || strings.Contains(s.stderr.String(), "warning") {
		t.Errorf("the index was there: %s", s.stderr)
	}
	elasticsearch.stop(t)
}

// A server that is named may come later than the one that asks it.
func TestServeWaits(t *testing.T) {
	t.Parallel()
	host, port := freed(t)
	at := net.JoinHostPort(host, port)
	read, write := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--elasticsearch", "http://" + at, "--wait", "1m"}, io.Discard, write)
		_ = write.Close()
	}()
	var elasticsearch *served
	var log strings.Builder
	for said := bufio.NewScanner(read); said.Scan(); {
		log.WriteString(said.Text() + "\n")
		switch {
		case strings.Contains(said.Text(), "waiting, up to 1m0s: probe http://"+at+": nothing listens there"):
			elasticsearch = serveJSON(t, "--elasticsearch-only", "--listen", host, "--elasticsearch-port", port)
		case strings.Contains(said.Text(), "all servers answer"):
			cancel()
		}
	}
	if code := <-ended; code != exitDone || elasticsearch == nil || !strings.Contains(log.String(), "Elasticsearch 8.19.0 answers on http://"+at) {
		t.Errorf("exit %d: %s", code, log.String())
	}
	if elasticsearch != nil {
		elasticsearch.stop(t)
	}
}

// A container that is stopped holds a poll, and Elasticsearch goes on: the poll is cut, and costs no more than a second.
func TestServeEndsWithPollHeld(t *testing.T) {
	t.Parallel()
	elasticsearch := serveJSON(t, "--elasticsearch-only")
	s := serveJSON(t, "--elasticsearch", elasticsearch.Elasticsearch)
	client := s.client(t, "HTTP/2.0")
	id := url.PathEscape(submit(t, client, s.Dashboard, "1m"))
	held := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.Dashboard+"/internal/search/ese/"+id,
			strings.NewReader(`{"params":{"wait_for_completion_timeout":"50s","keep_alive":"1h"},"retrieveResults":true,"stream":true}`))
		if err != nil {
			held <- err
			return
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Kbn-Xsrf": {"test"}, "Elastic-Api-Version": {"1"}}
		_, err = client.Do(r)
		held <- err
	}()
	// That Elasticsearch holds it shows in that the search is now kept for an hour and no minute.
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for lifetime(t, direct, elasticsearch.Elasticsearch+"/_async_search/status/"+id) < time.Hour {
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	s.cancel()
	s.end(t)
	// A busy machine may be late; the poll would be held for most of a minute.
	if took := time.Since(began); took < closing || took > 20*time.Second {
		t.Errorf("it ended after %v", took)
	}
	if err := <-held; err == nil {
		t.Error("the poll was answered")
	}
	elasticsearch.stop(t)
}

func TestServeOthersBadInput(t *testing.T) {
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not I", http.StatusTeapot) }))
	defer other.Close()
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<title>Hello</title>") }))
	defer plain.Close()
	nobody := net.JoinHostPort(freed(t))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--elasticsearch 127.0.0.1:9200", exitUsage, "--elasticsearch: not a URL of the form http://HOST:PORT"},
		{"--elasticsearch http://es.example:9200", exitUsage, "that is another machine: say --allow-remote"},
		{"--elasticsearch ftp://me:secret@127.0.0.1", exitUsage, "--elasticsearch: the address holds a user or a password"},
		{"--elasticsearch https://127.0.0.1:9200", exitUsage, "--elasticsearch: our dashboard server asks its Elasticsearch without TLS: give one that is asked by http://"},
		{"--elasticsearch http://127.0.0.1:9200/of/mine", exitUsage, "--elasticsearch: the address has a path, a query or a fragment: give it without"},
		{"--elasticsearch http://me:secret@127.0.0.1:9200", exitUsage, "--elasticsearch: the address holds a user or a password"},
		{"--dashboard http://127.0.0.1:5601 --edge edge-h2", exitUsage, "--dashboard: not a URL of the form https://HOST:PORT"},
		{"--elasticsearch=", exitUsage, "--elasticsearch: the address is empty"},
		{"--dashboard= --edge edge-h2", exitUsage, "--dashboard: the address is empty"},
		{"--elasticsearch http://127.0.0.1:99999", exitUsage, `--elasticsearch: its port is "99999": one is from 1 to 65535`},
		{"--dashboard https://127.0.0.1:5601", exitUsage, "--dashboard: choose the proxy in front of it with --edge"},
		{"--dashboard-ca ca.pem", exitUsage, "name the dashboard server whose certificate it is with --dashboard"},
		{"--wait 0s", exitUsage, "--wait 0s: a time is more than 0s"},
		{"--elasticsearch-only --elasticsearch http://127.0.0.1:9200", exitUsage, "--elasticsearch-only: this is about the embedded Elasticsearch, which is not started with --elasticsearch or --dashboard"},
		{"--elasticsearch-only --elasticsearch http://127.0.0.1:9200", exitUsage, "--elasticsearch: this is about the dashboard server, which is not started with --elasticsearch-only"},
		{"--elasticsearch-only --edge edge-h2", exitUsage, "--edge: this is about what browsers connect to, which is not started with --elasticsearch-only"},
		{"--elasticsearch-only --rtt 1s", exitUsage, "--rtt: this is about what browsers connect to"},
		{"--elasticsearch-only --dashboard-port 1", exitUsage, "--dashboard-port: this is about the dashboard server, which is not started with --elasticsearch-only"},
		{"--elasticsearch http://127.0.0.1:9200 --strict", exitUsage, "--strict: this is about the embedded Elasticsearch"},
		{"--dashboard https://127.0.0.1:5601 --edge edge-h2 --elasticsearch-rtt 1s", exitUsage, "--elasticsearch-rtt: this is about the dashboard server, which is not started with --dashboard"},
		{"--elasticsearch http://" + nobody, exitFailed, "probe http://" + nobody + ": nothing listens there: start Elasticsearch, or give its address"},
		{"--elasticsearch http://" + nobody, exitFailed, "(after WAIT: --wait allows more)"},
		{"--elasticsearch " + plain.URL, exitFailed, "this is not Elasticsearch"},
		{"--edge edge-h2 --dashboard https://" + nobody, exitFailed, "the dashboard server does not answer: GET https://" + nobody + "/api/status: nothing listens there: start the dashboard server"},
		{"--edge edge-h2 --dashboard https" + strings.TrimPrefix(plain.URL, "http"), exitFailed, "it does not speak TLS: give the address of one that does"},
		{"--edge edge-h2 --dashboard " + other.URL, exitFailed, "give the certificate of its CA with --dashboard-ca"},
		{"--edge edge-h2 --dashboard " + other.URL + " --dashboard-ca " + ca, exitFailed, "/api/status: status 418 I'm a teapot"},
		{"--edge edge-h2 --dashboard " + other.URL + " --dashboard-ca missing.pem", exitUsage, "--dashboard-ca: open missing.pem: no such file or directory"},
		{"--edge edge-h2 --dashboard " + other.URL + " --dashboard-ca serve.go", exitUsage, "--dashboard-ca serve.go: no certificate in it"},
	} {
		// What is there is found out within milliseconds, unless the machine stalls for all of the wait: then it takes a longer one.
		for wait := 100 * time.Millisecond; ; wait *= 10 {
			args := append([]string{"serve", "--json", "--wait", wait.String()}, strings.Fields(c.args)...)
			code, stdout, stderr := call(t, args...)
			want := strings.ReplaceAll(c.want, "WAIT", wait.String())
			if code == c.code && strings.Contains(stderr, want) && stdout == "" {
				break
			}
			if c.code == exitUsage || wait > 5*time.Second {
				t.Errorf("%s: exit %d, %q, standard output %q; want exit %d, %q", c.args, code, stderr, stdout, c.code, want)
				break
			}
		}
	}
}
