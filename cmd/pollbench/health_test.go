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
		{[]string{status}, exitFailed, "pollbench: not healthy: Get \"" + status + "\": tls: failed to verify certificate"},
		{[]string{status + "/x", "--ca-file", s.CAFile}, exitFailed, "pollbench: not healthy: GET " + status + "/x: status 404 Not Found"},
		{[]string{nobody}, exitFailed, "pollbench: not healthy: Get \"" + nobody + "\": dial tcp"},
		{[]string{silent.URL}, exitFailed, "pollbench: not healthy: Get \"" + silent.URL + "\": context deadline exceeded"},
		{[]string{status, "--ca-file", "missing.pem"}, exitFailed, "pollbench: --ca-file: open missing.pem: no such file or directory"},
		{[]string{"127.0.0.1:9200"}, exitUsage, "pollbench: give a URL such as http://127.0.0.1:9200"},
		{[]string{"http://me:secret@127.0.0.1:9200"}, exitUsage, "pollbench: the URL holds a user or a password, which everybody would see: give it without"},
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
