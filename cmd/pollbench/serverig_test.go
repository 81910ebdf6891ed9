package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// served is a serve command that runs.
type served struct {
	addresses
	first  string // what it wrote first on standard output
	out    io.Reader
	stderr *bytes.Buffer // once it has ended
	cancel context.CancelFunc
	ended  chan int // its exit code
	opened []*http.Transport
}

// serveHere runs the command until its first output, in this process.
func serveHere(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	s := &served{out: out, stderr: &bytes.Buffer{}, cancel: cancel, ended: make(chan int, 1)}
	go func() {
		s.ended <- run(ctx, append([]string{"serve"}, args...), in, s.stderr)
		_ = in.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_, _ = io.Copy(io.Discard, out)
	})
	text := make([]byte, 64<<10)
	n, err := out.Read(text) // the command writes all that it has to say at once
	if err != nil {
		t.Fatalf("serve %v: exit %d before it was ready: %s", args, <-s.ended, s.stderr)
	}
	s.first = string(text[:n])
	return s
}

// serveJSON does so with --json and reads the addresses.
func serveJSON(t *testing.T, args ...string) *served {
	t.Helper()
	s := serveHere(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(s.first), &s.addresses); err != nil || strings.Count(s.first, "\n") != 1 || !strings.HasSuffix(s.first, "\n") {
		t.Fatalf("not one line of JSON: %q, %v", s.first, err)
	}
	return s
}

// stop ends the command. Open connections of h2 would hold that up for a second.
func (s *served) stop(t *testing.T) {
	t.Helper()
	for _, o := range s.opened {
		o.CloseIdleConnections()
	}
	s.cancel()
	s.end(t)
}

// end waits for the command's end, which must be a good one, and checks that nothing is left of it.
func (s *served) end(t *testing.T) {
	t.Helper()
	more, _ := io.ReadAll(s.out)
	if code := <-s.ended; code != exitDone || len(more) > 0 {
		t.Errorf("exit %d, further output %q: %s", code, more, s.stderr)
	}
	if _, err := os.Stat(s.CAFile); err == nil && filepath.Dir(s.CAFile) == filepath.Clean(os.TempDir()) {
		t.Errorf("left behind: %s", s.CAFile)
	}
	for _, address := range []string{s.Elasticsearch, s.Dashboard, s.Edge} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			if c, err := net.Dial("tcp", u.Host); err == nil {
				t.Errorf("somebody still listens on %s", u.Host)
				_ = c.Close()
			}
		}
	}
}

// freed is an address that was just free. Whoever is given any port, as other tests are all the time, is given one of 127.0.0.1, and not this one.
func freed(t *testing.T) (host, port string) {
	t.Helper()
	host = "127.0.0.3"
	if runtime.GOOS == "darwin" {
		host = "127.0.0.1" // its loopback interface has no other address, so another test may be given the port after all
	}
	l, err := net.Listen("tcp4", host+":0")
	if err == nil {
		host, port, err = net.SplitHostPort(l.Addr().String())
		err = errors.Join(err, l.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

func nothingIn(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// client trusts the CA file and nothing else, and speaks one protocol.
func (s *served) client(t *testing.T, protocol string) *http.Client {
	t.Helper()
	text, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		t.Fatalf("no certificate in %s", text)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(protocol == "HTTP/1.1")
	protocols.SetHTTP2(protocol == "HTTP/2.0")
	transport := &http.Transport{Protocols: &protocols, TLSClientConfig: &tls.Config{RootCAs: roots}}
	s.opened = append(s.opened, transport)
	return &http.Client{Transport: transport}
}

// ask sends one request as a page does and returns status, protocol and body.
func ask(t *testing.T, c *http.Client, method, url, body string) (status int, protocol, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Kbn-Xsrf": "test", "Elastic-Api-Version": "1"} {
		r.Header.Set(name, value)
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Proto, string(text)
}

// get is a question without a body.
func (s *served) get(t *testing.T, protocol, url string) (int, string) {
	t.Helper()
	r, err := s.client(t, protocol).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Proto
}
