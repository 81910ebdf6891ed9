package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	s := serveJSON(t)
	nobody := "http://" + net.JoinHostPort(freed(t))
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	status := s.Dashboard + "/api/status"
	for _, c := range []struct {
		args []string
		code int
		want string // begins the line: "healthy" on standard output, the rest on standard error
	}{
		{[]string{s.Elasticsearch}, exitDone, "healthy: " + s.Elasticsearch + " answered after "},
		{[]string{status, "--ca-file", s.CAFile}, exitDone, "healthy: " + status + " answered after "},
		{[]string{status}, exitFailed, "pollbench: not healthy: GET " + status + ": its certificate was made by somebody unknown: give the certificate of its CA with --ca-file (tls:"},
		{[]string{status + "/x", "--ca-file", s.CAFile}, exitFailed, "pollbench: not healthy: GET " + status + "/x: status 404 Not Found"},
		{[]string{"http" + strings.TrimPrefix(status, "https")}, exitFailed, "pollbench: not healthy: GET http" + strings.TrimPrefix(status, "https") + ": it speaks TLS: begin its address with https://"},
		{[]string{"https" + strings.TrimPrefix(s.Elasticsearch, "http")}, exitFailed, "pollbench: not healthy: GET https" + strings.TrimPrefix(s.Elasticsearch, "http") + ": it does not speak TLS: begin its address with http://"},
		{[]string{nobody}, exitFailed, "pollbench: not healthy: GET " + nobody + ": nothing listens there: start the server, or give its address (dial tcp"},
		{[]string{silent.URL}, exitFailed, "pollbench: not healthy: GET " + silent.URL + ": no answer in time: "},
		{[]string{status, "--ca-file", "missing.pem"}, exitUsage, "pollbench: --ca-file: open missing.pem: no such file or directory"},
		{[]string{"127.0.0.1:9200"}, exitUsage, "pollbench: not a URL of the form http://HOST:PORT or https://HOST:PORT"},
		{[]string{"http://me:secret@127.0.0.1:9200"}, exitUsage, "pollbench: the address holds a user or a password, for everybody to see: give it without"},
		{[]string{"http://127.0.0.1:0"}, exitUsage, `pollbench: its port is "0": one is from 1 to 65535`},
		{nil, exitUsage, "pollbench: pollbench health wants the URL to ask for"},
	} {
		code, stdout, stderr := call(t, append([]string{"health"}, c.args...)...)
		said := stdout + stderr
		if code != c.code || !strings.HasPrefix(said, c.want) || strings.Count(said, "\n") != 1 || (stdout != "") != (code == exitDone) {
			t.Errorf("%v: exit %d, %q, want exit %d, one line %q", c.args, code, said, c.code, c.want)
		}
	}
	s.stop(t)
}
