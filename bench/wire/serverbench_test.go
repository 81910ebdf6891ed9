package wire_test

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pollbench/bench/wire"
)

// service is what net/http's server and ours have in common.
type service interface {
	Serve(net.Listener) error
	Close() error
}

// services are compared by the benchmarks.
var services = []struct {
	name string
	make func(http.Handler) service
}{
	{"ours", func(h http.Handler) service { return &wire.Server{Handler: h} }},
	{"net-http", func(h http.Handler) service { return &http.Server{Handler: h} }},
}

func listen(b *testing.B) net.Listener {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func connect(b *testing.B, l net.Listener) *wire.Conn {
	b.Helper()
	plain, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	return wire.New(plain)
}

// BenchmarkServerExchange is a poll that is answered at once, with the fields of Kibana's client and of Elasticsearch, over a loopback connection.
// The client's part is in all figures.
func BenchmarkServerExchange(b *testing.B) {
	answer := []byte(strings.Repeat("x", 600))
	length := []string{strconv.Itoa(len(answer))}
	for _, s := range services {
		for _, path := range []string{"/", "/watched"} {
			b.Run(s.name+path, func(b *testing.B) {
				server := s.make(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/watched" {
						_ = r.Context().Done()
					}
					h := w.Header()
					h.Set("Content-Type", "application/vnd.elasticsearch+json;compatible-with=8")
					h.Set("X-Elastic-Product", "Elasticsearch")
					h["Content-Length"] = length
					_, _ = w.Write(answer)
				}))
				l := listen(b)
				go func() { _ = server.Serve(l) }()
				defer server.Close()
				c := connect(b, l)
				defer c.Close()
				r, _ := http.NewRequest("GET", "http://elastic"+path, nil)
				r.Header.Set("Accept", "application/vnd.elasticsearch+json; compatible-with=8")
				r.Header.Set("X-Elastic-Client-Meta", "es=8.19.7,go=1.26.0,t=8.9.0,hc=1.26.0")
				body := make([]byte, len(answer))
				b.ReportAllocs()
				for b.Loop() {
					if err := c.Send(r); err != nil {
						b.Fatal(err)
					}
					response, err := c.Receive(r)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.ReadFull(response.Body, body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkServerWaiting is what each of 2,500 waiting requests costs the server: goroutines, and bytes of heap and stacks. The connections are open
// before the server accepts them, so that the client's memory is not in the figures.
func BenchmarkServerWaiting(b *testing.B) {
	const requests = 2500
	for _, s := range services {
		for _, path := range []string{"/", "/watched"} {
			b.Run(s.name+path, func(b *testing.B) {
				for b.Loop() {
					goroutines, bytes := waiting(b, s.make, path, requests)
					b.ReportMetric(goroutines/requests, "goroutines/request")
					b.ReportMetric(bytes/requests, "B/request")
				}
			})
		}
	}
}

func waiting(b *testing.B, server func(http.Handler) service, path string, requests int) (goroutines, bytes float64) {
	b.Helper()
	l := listen(b)
	var conns []*wire.Conn
	for range requests {
		c := connect(b, l)
		defer c.Close()
		conns = append(conns, c)
	}
	r, _ := http.NewRequest("GET", "http://elastic"+path, nil)
	beforeGoroutines, beforeBytes := footprint()

	var arrived sync.WaitGroup
	arrived.Add(requests)
	over := make(chan struct{})
	running := server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		var gone <-chan struct{}
		if r.URL.Path == "/watched" {
			gone = r.Context().Done()
		}
		select {
		case <-gone:
		case <-over:
		}
	}))
	var served sync.WaitGroup
	served.Go(func() { _ = running.Serve(l) })
	for _, c := range conns {
		if err := c.Send(r); err != nil {
			b.Fatal(err)
		}
	}
	arrived.Wait()
	afterGoroutines, afterBytes := footprint()
	close(over)
	for _, c := range conns {
		if _, err := c.Receive(r); err != nil {
			b.Fatal(err)
		}
	}
	_ = running.Close()
	served.Wait()
	return afterGoroutines - beforeGoroutines, afterBytes - beforeBytes
}

// footprint is measured after collections: the second one shrinks stacks that the first one found half empty.
func footprint() (goroutines, bytes float64) {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(runtime.NumGoroutine()), float64(m.HeapAlloc + m.StackInuse)
}
