package run

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// put sends a body to the double, as its owner.
func (d *double) put(path, body string) {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPut, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if d.server.ServeHTTP(w, r); w.Code >= 300 {
		d.t.Fatalf("PUT %s: %s", path, w.Body)
	}
}

// kibanaOf is a dashboard server in front of the double that runs already, without TLS.
func kibanaOf(t *testing.T, d *double) Server {
	t.Helper()
	there, err := kibana.New(kibana.Options{Clock: clock.Standard(), Elasticsearch: d.url, DialContext: d.network.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = there.Close(context.Background()) })
	return Server{URL: serve(t, d.network, there.Handler())}
}

// What the manifest says of the servers is what the probe has found, all of it, and the spacing of the plan is for them.
func TestDescribe(t *testing.T) {
	s := shipped(t, "smoke")
	s.Protocols = []scenario.Protocol{scenario.HTTP1}
	// The double is strict, as a release 8.19: it knows no return_intermediate_results.
	real := record.Backend{
		Kind: "test", Product: "Elasticsearch", Version: "8.19.0", Health: "green", DashboardServers: 1, SocketsPerServer: 800, ReadyResolution: 0.001,
		DelayImplementer: ByServer, AsyncSearch: true, ShardDelay: true, ElasticsearchHTTP: "http/1.1", SearchPool: &record.SearchPool{Nodes: 1, Size: 40, Queue: -1},
	}
	gated := real
	gated.DelayImplementer, gated.ReadyResolution, gated.ShardDelay = ByGate, 1e-6, false
	behind := real // its dashboard servers are not ours
	behind.DashboardServers, behind.SocketsPerServer = 0, 0
	unasked := behind
	unasked.Version, unasked.Health, unasked.ElasticsearchHTTP, unasked.SearchPool = "", "", "", nil
	embedded := real
	embedded.Kind, embedded.ReadyResolution, embedded.IntermediateResults, embedded.SearchPool = "embedded", 1e-6, true, &record.SearchPool{Nodes: 1, Size: -1, Queue: -1}
	for name, c := range map[string]struct {
		options elastic.Options
		target  func(t *testing.T, d *double) Target
		want    record.Backend
		clock   bool // of the server is read
		atOnce  int
		spacing time.Duration
	}{
		"embedded": {elastic.Options{}, func(*testing.T, *double) Target { return Target{} }, embedded, false, 0, plan.DefaultSpacing},
		"elasticsearch": {elastic.Options{SearchThreads: 40}, func(_ *testing.T, d *double) Target {
			return Target{Kind: "test", Elasticsearch: Server{URL: d.url}}
		}, real, true, 40, plan.RealSpacing},
		"begun": {elastic.Options{SearchThreads: 40}, func(_ *testing.T, d *double) Target {
			return Target{Kind: "test", Begin: func(context.Context, Size) (Elasticsearch, error) { return d, nil }}
		}, real, true, 40, plan.RealSpacing},
		"gate": {elastic.Options{SearchThreads: 40, NoShardDelay: true}, func(_ *testing.T, d *double) Target {
			return Target{Kind: "test", Elasticsearch: Server{URL: d.url}}
		}, gated, false, 0, plan.RealSpacing},
		"dashboard, and what is behind": {elastic.Options{SearchThreads: 40}, func(t *testing.T, d *double) Target {
			return Target{Kind: "test", Dashboard: kibanaOf(t, d), Elasticsearch: Server{URL: d.url}}
		}, behind, true, 40, plan.RealSpacing},
		"dashboard": {elastic.Options{SearchThreads: 40}, func(t *testing.T, d *double) Target {
			return Target{Kind: "test", Dashboard: kibanaOf(t, d)}
		}, unasked, true, 50, plan.RealSpacing},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network.Memory{}
				d := newDouble(t, n, c.options)
				defer d.Close()
				backend, err := Start(t.Context(), clock.Standard(), n, s, c.target(t, d))
				if err != nil {
					t.Fatal(err)
				}
				defer backend.Close()
				got := backend.Describe()
				if (got.ServerClock != nil) != c.clock {
					t.Errorf("clock %+v", got.ServerClock)
				}
				got.ServerClock = nil // how it is read has tests of its own
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("%+v %+v, want\n%+v %+v", got, got.SearchPool, c.want, c.want.SearchPool)
				}
				if backend.AtOnce() != c.atOnce || backend.Spacing() != c.spacing {
					t.Errorf("%d searches at once, loads %v apart", backend.AtOnce(), backend.Spacing())
				}
			})
		})
	}
}

// A search over several shards holds as many threads.
func TestShardsTakeThreads(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		d := newDouble(t, n, elastic.Options{SearchThreads: 40})
		defer d.Close()
		d.put("/mine", `{}`) // the embedded server gives an index a single shard, whatever it is asked for
		d.put("/yours", `{}`)
		backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: Server{URL: d.url}, Index: "pollbench,mine,yours"})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		if backend.AtOnce() != 13 {
			t.Errorf("%d searches of 3 shards at once, with 40 threads", backend.AtOnce())
		}
	})
}

// An Elasticsearch that is started for a full pool has a queue for all that wait.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		pool, panels int
		want         Size
	}{
		{0, 4, Size{SearchThreads: 32, QueueSize: 1000}},
		{0, 600, Size{SearchThreads: 1000, QueueSize: 1000}},
		{0, 1500, Size{SearchThreads: 1500, QueueSize: 1000}},
		{4, 24, Size{SearchThreads: 4, QueueSize: 1000}},
		{4, 1500, Size{SearchThreads: 4, QueueSize: 1500}},
	} {
		s := shipped(t, "smoke") // two delays, two strategies, two protocols
		s.SearchPool, s.Groups[0].Panels = c.pool, c.panels
		if got := size(s); got != c.want {
			t.Errorf("%d panels with a pool of %d: %+v, want %+v", c.panels, c.pool, got, c.want)
		}
	}
}

// An index without documents would not delay any search, and nobody would notice.
func TestDashboardWithoutDocuments(t *testing.T) {
	s := shipped(t, "smoke")
	s.Protocols = []scenario.Protocol{scenario.HTTP1}
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		d := newDouble(t, n, elastic.Options{})
		defer d.Close()
		d.put("/empty", `{}`)
		_, err := Start(t.Context(), clock.Standard(), n, s, Target{Dashboard: kibanaOf(t, d), Index: "empty"})
		if err == nil || !strings.Contains(err.Error(), "the index empty has no documents") {
			t.Errorf("%v", err)
		}
	})
}

// Where a dashboard server tells nothing of the search's times, ready is known to half of what an exchange takes.
func TestReadyUntold(t *testing.T) {
	s := shipped(t, "smoke")
	s.Protocols = []scenario.Protocol{scenario.HTTP1}
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		there := serve(t, n, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(40 * time.Millisecond)
			_, _ = io.WriteString(w, `{"isRunning":false,"isPartial":false,"rawResponse":{"took":1,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"total":10000}}}`)
		}))
		backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Dashboard: Server{URL: there}})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		if found := backend.Describe(); found.ReadyResolution != 0.02 || found.ServerClock != nil {
			t.Errorf("%+v", found)
		}
	})
}
