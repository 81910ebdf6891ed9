package browser

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// offering serves the handler over TLS with these protocols, or none by their names, and opens a browser on it. Without any it serves plain text.
func offering(t *testing.T, protocols []string, handler http.HandlerFunc, o Options) *Browser {
	t.Helper()
	var memory network.Memory
	listener, err := memory.Listen()
	if err != nil {
		t.Fatal(err)
	}
	certificate, roots, err := kibana.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	o.Clock, o.Epoch, o.Address, o.Dial = clock.Standard(), time.Now().Add(-time.Second), listener.Addr().String(), memory.Dial
	o.Limits = scenario.Browser{HTTP1Connections: 2, H2Streams: 8}
	if protocols != nil {
		o.TLS = &tls.Config{RootCAs: roots}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: protocols})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	b := New(o)
	t.Cleanup(func() {
		b.Close()
		_ = server.Close()
		<-ended
	})
	return b
}

// What a server does not speak is told before anything is sent in it.
func TestProtocolIsNegotiated(t *testing.T) {
	for name, c := range map[string]struct {
		protocol scenario.Protocol
		offered  []string // nil: plain text
		want     string   // "": works
	}{
		"h2":                     {scenario.H2, []string{"http/1.1", "h2"}, "speaks HTTP/1.1 only: measure it with http1"}, // which the server likes better
		"h2 first":               {scenario.H2, []string{"h2", "http/1.1"}, ""},
		"h2, HTTP/1.1 only":      {scenario.H2, []string{"http/1.1"}, "speaks HTTP/1.1 only: measure it with http1"},
		"h2, nothing offered":    {scenario.H2, []string{}, "speaks HTTP/1.1 only: measure it with http1"},
		"h2, another":            {scenario.H2, []string{"spdy/1"}, "the server does not speak h2"},
		"h2, plain text":         {scenario.H2, nil, "browsers speak h2 over TLS only"},
		"HTTP/1.1":               {scenario.HTTP1, []string{"h2", "http/1.1"}, ""},
		"HTTP/1.1, another":      {scenario.HTTP1, []string{"spdy/1"}, "the server does not speak http/1.1"},
		"HTTP/1.1, none offered": {scenario.HTTP1, []string{}, ""},
		"HTTP/1.1, plain text":   {scenario.HTTP1, nil, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := offering(t, c.offered, func(http.ResponseWriter, *http.Request) {}, Options{Protocol: c.protocol})
			err := b.Connect(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		})
	}
}

// What ends the connection without a word may speak h2 alone.
func TestServerMaySpeakH2Only(t *testing.T) {
	for by, want := range map[scenario.Protocol]bool{scenario.HTTP1: true, scenario.H2: false} {
		synctest.Test(t, func(t *testing.T) {
			b := offering(t, []string{"h2", "http/1.1"}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Options{Protocol: by})
			err := b.Connect(t.Context())
			if err == nil || strings.HasSuffix(err.Error(), ": if the server speaks h2 only, measure it with h2") != want {
				t.Errorf("%s: %v", by, err)
			}
		})
	}
}

// A server is called by its name, which need not be its address's; the usual port is not part of it.
func TestHost(t *testing.T) {
	for _, c := range []struct {
		tls              bool
		host, sni, named string
	}{
		{true, "localhost:8443", "localhost", "localhost:8443"},
		{true, "localhost:443", "localhost", "localhost"},
		{true, "localhost", "localhost", "localhost"},
		{true, "localhost:80", "localhost", "localhost:80"},
		{true, "[::1]:443", "", "[::1]"}, // no address is a name in TLS
		{true, "[::1]", "", "[::1]"},
		{false, "kibana.example.org:80", "", "kibana.example.org"},
		{false, "kibana.example.org:443", "", "kibana.example.org:443"},
	} {
		for _, protocol := range scenario.Protocols() {
			if !c.tls && protocol == scenario.H2 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				var offered []string
				if c.tls {
					offered = []string{"h2", "http/1.1"}
				}
				b := offering(t, offered, func(_ http.ResponseWriter, r *http.Request) {
					if r.Host != c.named || c.tls && r.TLS.ServerName != c.sni {
						t.Errorf("%s over %s: called %s, %+v", c.host, protocol, r.Host, r.TLS)
					}
				}, Options{Protocol: protocol, Host: c.host})
				if err := b.Connect(t.Context()); err != nil {
					t.Errorf("%s over %s: %v", c.host, protocol, err)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := offering(t, []string{"h2"}, nil, Options{Protocol: scenario.H2, Host: "kibana.example.org"})
		if err := b.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "not kibana.example.org") {
			t.Errorf("a certificate for another name: %v", err)
		}
	})
}
