package wire_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pollbench/bench/wire"
)

// BenchmarkExchange compares with net/http's client: a small POST to net/http's server over TLS on the loopback interface, with the fields that
// Kibana and a browser add. The server's part is in both figures.
func BenchmarkExchange(b *testing.B) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Kbn-Name", "kibana")
		h.Set("Kbn-License-Sig", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "private, no-cache, no-store, must-revalidate")
		received := make([]byte, r.ContentLength)
		_, _ = io.ReadFull(r.Body, received)
		_, _ = w.Write(received)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	body := []byte(strings.Repeat("x", 600))
	fields := []wire.Field{
		{Name: "content-type", Value: "application/json"}, {Name: "kbn-version", Value: "9.1.0"}, {Name: "kbn-xsrf", Value: "true"},
		{Name: "user-agent", Value: "Mozilla/5.0 (X11; Linux x86_64)"}, {Name: "accept", Value: "*/*"}, {Name: "cookie", Value: "sid=0123456789abcdef"},
	}
	b.Run("ours", func(b *testing.B) {
		plain, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		c := begin(b, plain, trusted)
		r := wire.Request{Method: "POST", Authority: "example.com", Path: "/internal/search/ese", Header: fields, Body: body}
		done := make(chan result, 1)
		answered := func(a wire.Answer, err error) { done <- result{a, err} }
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Send(r, answered); err != nil {
				b.Fatal(err)
			}
			if a := <-done; a.err != nil || len(a.Body) != len(body) {
				b.Fatal(a.err)
			}
		}
	})
	b.Run("net-http", func(b *testing.B) {
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "example.com"}, ForceAttemptHTTP2: true, DisableCompression: true,
		}
		defer transport.CloseIdleConnections()
		header := http.Header{}
		for _, f := range fields {
			header.Set(f.Name, f.Value)
		}
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.NewRequest("POST", server.URL+"/internal/search/ese", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			r.Header = header.Clone()
			answer, err := transport.RoundTrip(r)
			if err != nil {
				b.Fatal(err)
			}
			got, err := io.ReadAll(answer.Body)
			if err != nil || len(got) != len(body) || answer.ProtoMajor != 2 {
				b.Fatal(len(got), err)
			}
			_ = answer.Body.Close()
		}
	})
}
