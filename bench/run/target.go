package run

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pollbench/bench/browser"
	"pollbench/fixtures/documents"
	"pollbench/fixtures/reach"
)

// Target is the servers that dashboards are played against. The zero value is the embedded ones. Begin is set alone. With a Dashboard, Elasticsearch is the
// one behind it, and only asked what it can do and for its index.
type Target struct {
	// Kind names it in the manifest; empty: embedded.
	Kind string
	// Begin starts an Elasticsearch for this run.
	Begin Begin
	// Elasticsearch is one that runs already, with dashboard servers of ours in front of it.
	Elasticsearch Server
	// Dashboard is a Kibana that runs already.
	Dashboard Server
	// Index is somebody's own, with documents. Empty: ours, which is made where it is not.
	Index string
	// DelayBy is [ByServer] or [ByGate]; empty: the server, if the probe finds that it can.
	DelayBy string
	// AtOnce is how many searches there may be at once on a server that runs already; zero: as many as its search pool executes.
	AtOnce int
	// Rate is how many requests a second a server that runs already may get beside the measurement; zero: any number.
	Rate float64
	// Progress, if set, is told what is going on, a few words each time.
	Progress func(step string)
}

// Who delays the searches.
const (
	ByServer = "server"
	ByGate   = "gate"
)

// Begin starts an Elasticsearch.
type Begin func(context.Context, Size) (Elasticsearch, error)

// Size is what an Elasticsearch is to be able to do.
type Size struct {
	SearchThreads int // searches that are executed at once
	QueueSize     int // that may wait for a thread
}

// Elasticsearch is one that has been started.
type Elasticsearch interface {
	URL() string
	// Done is closed when it has ended, asked to or not.
	Done() <-chan struct{}
	// Close ends it. The error says why if it has ended by itself.
	Close() error
}

// Server is one that runs already.
type Server struct {
	URL string
	// Authorization is the value of the header of that name, and a secret; empty: none.
	Authorization string
	// Roots are the certificates to trust; nil: those of the system.
	Roots *x509.CertPool
}

// Given tells whether there is one.
func (s Server) Given() bool { return s.URL != "" }

func (s Server) tls() *tls.Config { return &tls.Config{RootCAs: s.Roots} }

// url is the address, which has been read before.
func (s Server) url() *url.URL {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(fmt.Sprintf("parse a server's address for the second time: %v", err))
	}
	return u
}

// address is where its connections go to: host and port.
func (s Server) address() string {
	u := s.url()
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// opens has a browser open this server's pages.
func (s Server) opens(o *browser.Options) {
	u := s.url()
	o.Address, o.Host, o.BasePath, o.Authorization = s.address(), u.Host, strings.TrimSuffix(u.EscapedPath(), "/"), s.Authorization
	o.TLS = nil
	if u.Scheme == "https" {
		o.TLS = s.tls()
	}
}

// patience is how long a server may take over one answer beside the measurement: the largest is to a batch of documents.
const patience = 30 * time.Second

// client asks the server what is not measured: what it is, and for its index. It goes nowhere else: a redirect may lead to another machine, and would take
// the credentials along.
func (s Server) client(n Network) *http.Client {
	return &http.Client{Timeout: patience, CheckRedirect: reach.Stay, Transport: authorized{s.Authorization, &http.Transport{
		DialContext: n.Dial, TLSClientConfig: s.tls(), ForceAttemptHTTP2: true, MaxIdleConnsPerHost: deleters,
	}}}
}

// authorized adds credentials to each request.
type authorized struct {
	authorization string
	*http.Transport
}

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.authorization != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", a.authorization)
	}
	return a.Transport.RoundTrip(r)
}

// say tells of progress.
func (t Target) say(step string) {
	if t.Progress != nil {
		t.Progress(step)
	}
}

// ours tells whether the Elasticsearch lives no longer than the run.
func (t Target) ours() bool { return !t.Elasticsearch.Given() && !t.Dashboard.Given() }

// indexName is what dashboards search.
func (t Target) indexName() string {
	if t.Index != "" {
		return t.Index
	}
	return documents.Index
}

// redact takes the credentials out of what a server may have echoed.
func (t Target) redact(text string) string {
	for _, s := range []Server{t.Elasticsearch, t.Dashboard} {
		if _, secret, ok := strings.Cut(s.Authorization, " "); ok && secret != "" {
			text = strings.ReplaceAll(text, secret, "(credentials)")
		}
	}
	return text
}

// redacted is an error that tells no credentials.
type redacted struct {
	error
	text string
}

// Error implements error.
func (r redacted) Error() string { return r.text }

// Unwrap gives the error itself.
func (r redacted) Unwrap() error { return r.error }

func (t Target) redactError(err error) error {
	if text := t.redact(err.Error()); text != err.Error() {
		return redacted{err, text}
	}
	return err
}
