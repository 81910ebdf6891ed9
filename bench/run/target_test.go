package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/analysis"
	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/fixtures/documents"
	"pollbench/fixtures/edge"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
	"pollbench/fixtures/site"
)

// A delay gate in front delays as the server itself would: exactly.
func TestGateIsTheModel(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		trials, err := playOn(t.Context(), t, &network.Memory{}, Target{DelayBy: ByGate}, s, plan.Options{})
		if err != nil || len(trials) != 8 {
			t.Fatal(len(trials), err)
		}
		for _, seen := range trials {
			checkTrial(t, s, seen)
		}
	})
}

// Where searches queue on the server, the wait is the server's whatever the browser does meanwhile, and the model knows it.
func TestSaturatedNodeIsTheModel(t *testing.T) {
	s := shipped(t, "saturated-node")
	s.Protocols = scenario.Protocols()
	s.Groups[0].Delay = ms(920) // 900 ms would be ready at the instants at which traditional polling asks
	synctest.Test(t, func(t *testing.T) {
		trials, err := play(t.Context(), t, s, plan.Options{})
		if err != nil || len(trials) != 4 {
			t.Fatal(len(trials), err)
		}
		for _, seen := range trials {
			checkTrial(t, s, seen)
		}
		a := analysis.Analyse(record.Result{Manifest: record.Manifest{Scenario: s, Plan: plan.New(s, plan.Options{})}, Trials: trials})
		for _, c := range a.Cells {
			// Four are executed at a time, and until the last have begun nobody's result is put together: all are ready after six times 0.92 s, and each has
			// waited for five of these. HTTP/1.1 sends six at 0, 0.2, 0.4 and 0.6 s: they wait 0.3 s less there, on average.
			if want := map[string]float64{"h2": 4.6, "http1": 4.3}[c.Protocol]; math.Abs(*c.Wasted.Server-want) > 1e-9 {
				t.Errorf("%s over %s: server %v s, want %v", c.Strategy, c.Protocol, *c.Wasted.Server, want)
			}
			if !c.Explained() {
				t.Errorf("%s over %s is not explained", c.Strategy, c.Protocol)
			}
		}
		if a.Health.Queued != 4*24 || a.Health.QueuedMax != 4.6 {
			t.Errorf("%d searches queued, up to %v s", a.Health.Queued, a.Health.QueuedMax)
		}
		if !slices.ContainsFunc(a.Warnings, func(w string) bool { return strings.Contains(w, "96 searches queued on Elasticsearch") }) {
			t.Errorf("nothing is said of the queue: %v", a.Warnings)
		}
	})
}

// double is a real Elasticsearch as far as a run can tell: it gives no instants but milliseconds, wants to know who asks, and remembers what it was told.
type double struct {
	t             *testing.T
	server        *elastic.Server
	authorization string
	network       *network.Memory
	http          *http.Server
	url           string
	done          chan struct{}
	stopped       error

	mu      sync.Mutex
	asked   int             // requests
	held    map[string]bool // searches with an id that nobody has deleted
	created int             // indices
	removed int
}

func newDouble(t *testing.T, n *network.Memory, o elastic.Options) *double {
	t.Helper()
	l, err := n.Listen()
	if err != nil {
		t.Fatal(err)
	}
	o.Clock, o.Strict = clock.Standard(), true
	d := &double{t: t, server: elastic.New(o), network: n, url: "http://" + l.Addr().String(), done: make(chan struct{}), held: map[string]bool{}}
	d.http = &http.Server{Handler: d}
	go func() {
		if err := d.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	return d
}

func (d *double) URL() string           { return d.url }
func (d *double) Done() <-chan struct{} { return d.done }

// Close implements Elasticsearch.
func (d *double) Close() error {
	return errors.Join(d.stopped, d.server.Close(), d.http.Close())
}

// ServeHTTP implements http.Handler.
func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.authorization != "" && r.Header.Get("Authorization") != d.authorization {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	d.server.ServeHTTP(&untimed{w, d}, r)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	switch id, isSearch := strings.CutPrefix(r.URL.Path, "/_async_search/"); {
	case isSearch && r.Method == http.MethodDelete:
		delete(d.held, id)
	case r.Method == http.MethodDelete:
		d.removed++
	case r.Method == http.MethodPut && !strings.Contains(r.URL.Path[1:], "/"):
		d.created++
	}
}

// untimed takes the instants off an answer.
type untimed struct {
	http.ResponseWriter
	double *double
}

func (u *untimed) WriteHeader(status int) {
	u.Header().Del("Server-Timing")
	if id := u.Header().Get("X-Elasticsearch-Async-Id"); id != "" {
		u.double.mu.Lock()
		u.double.held[id] = true
		u.double.mu.Unlock()
	}
	u.ResponseWriter.WriteHeader(status)
}

// On a server that tells milliseconds alone the measurement is the model's to what these can be read to; it runs in waves that its search pool has room for.
func TestBegun(t *testing.T) {
	s := shipped(t, "smoke")
	s.Repeats = 3
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		var d *double
		var wanted Size
		begin := func(_ context.Context, size Size) (Elasticsearch, error) {
			wanted = size
			d = newDouble(t, n, elastic.Options{SearchThreads: 40})
			return d, nil
		}
		backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Kind: "node", Begin: begin})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		// 2 delays × 2 strategies × 2 protocols × 3 repeats of 4 panels.
		if wanted != (Size{SearchThreads: 96, QueueSize: 1000}) || backend.AtOnce() != 40 {
			t.Errorf("%+v is wanted, %d searches go at once", wanted, backend.AtOnce())
		}
		found := backend.Describe()
		if c := found.ServerClock; c == nil || c.Uncertainty > 0.001 || c.Offset > 0.001 || c.Offset < -0.001 {
			t.Errorf("clock %+v", c)
		}
		if found.Kind != "node" || found.ReadyResolution != 0.001 || found.DelayImplementer != ByServer || found.IntermediateResults || found.SearchPool.Size != 40 {
			t.Errorf("%+v", found)
		}
		p := plan.New(s, plan.Options{AtOnce: backend.AtOnce()})
		var trials []record.Trial
		err = Run(t.Context(), Options{Scenario: s, Plan: p, Clock: clock.Standard(), Backend: backend, Record: func(seen record.Trial) error {
			trials = append(trials, seen)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		a := analysis.Analyse(record.Result{Manifest: record.Manifest{Scenario: s, Plan: p, Backend: found}, Trials: trials})
		for _, c := range a.Cells {
			if c.Finished != 3 || !c.Explained() {
				t.Errorf("%s over %s at %v s: %d finished, %v s from the model", c.Strategy, c.Protocol, c.Delay, c.Finished, *c.Model.Difference.Median)
			}
			if w := *c.Wasted.Median; c.Strategy == "continuous" && (w < 0 || w > 0.003) {
				t.Errorf("continuous over %s wastes %v s", c.Protocol, w)
			}
		}
		if a.Health.Queued != 0 {
			t.Errorf("%d searches queued", a.Health.Queued)
		}
	})
}

// A server that ends by itself ends the run, which says why.
func TestElasticsearchEnds(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		begin := func(context.Context, Size) (Elasticsearch, error) {
			d := newDouble(t, n, elastic.Options{})
			time.AfterFunc(4*time.Second, func() {
				d.stopped = errors.New("out of memory")
				close(d.done)
			})
			return d, nil
		}
		backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Begin: begin})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		err = Run(t.Context(), Options{Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend,
			Record: func(record.Trial) error { return nil }})
		if err == nil || !strings.Contains(err.Error(), "Elasticsearch has ended: out of memory") {
			t.Errorf("%v", err)
		}
		if err := backend.Close(); err != nil {
			t.Errorf("it is told twice: %v", err)
		}
	})
}

// On somebody else's server nothing is left: no search, finished or cut off, and no index that was not there. One that was is left alone.
func TestNothingIsLeft(t *testing.T) {
	s := shipped(t, "smoke")
	for _, c := range []struct {
		after time.Duration // Ctrl-C, in the midst of the loads of 2 s
		by    string
		there bool
	}{{0, "", false}, {0, ByGate, false}, {4 * time.Second, "", false}, {4 * time.Second, ByGate, false}, {0, ByGate, true}, {4 * time.Second, "", true}} {
		t.Run(fmt.Sprint(c.after, c.by, c.there), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network.Memory{}
				d := newDouble(t, n, elastic.Options{})
				d.authorization = "ApiKey a2V5"
				defer d.Close()
				mine := Server{URL: d.url, Authorization: d.authorization}
				created, removed := 1, 1
				if c.there {
					created, removed = 0, 0
				} else {
					if err := remove(t, mine, n); err != nil {
						t.Fatal(err)
					}
				}
				d.removed = 0
				backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: mine, DelayBy: c.by, AtOnce: 30})
				if err != nil {
					t.Fatal(err)
				}
				if backend.AtOnce() != 30 {
					t.Errorf("%d searches at once, want 30", backend.AtOnce())
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.after > 0 {
					time.AfterFunc(c.after, cancel)
				}
				err = Run(ctx, Options{Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend,
					Record: func(record.Trial) error { return nil }})
				if (err != nil) != (c.after > 0) {
					t.Error(err)
				}
				if err := backend.Close(); err != nil {
					t.Error(err)
				}
				if len(d.held) > 0 || d.created != created || d.removed != removed {
					t.Errorf("left: %v; %d indices were made, %d removed", slices.Collect(maps.Keys(d.held)), d.created, d.removed)
				}
			})
		})
	}
}

// remove takes the index away that the embedded server has from the start.
func remove(t *testing.T, s Server, n *network.Memory) error {
	t.Helper()
	client := s.client(n)
	defer client.CloseIdleConnections()
	return documents.Delete(t.Context(), client, s.URL)
}

// A dashboard server that runs already is played against as one's own would be.
func TestDashboardThatRuns(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		d := newDouble(t, n, elastic.Options{})
		defer d.Close()
		servers, err := site.New(site.Options{Clock: clock.Standard()})
		if err != nil {
			t.Fatal(err)
		}
		l, err := n.Listen()
		if err != nil {
			t.Fatal(err)
		}
		if err := servers.Dashboard(l, kibana.Options{Elasticsearch: d.url, DialContext: n.Dial}); err != nil {
			t.Fatal(err)
		}
		defer servers.Close(t.Context())
		kibana := Server{URL: "https://" + l.Addr().String(), Roots: servers.Trust().RootCAs}
		trials, err := playOn(t.Context(), t, n, Target{Kind: "dashboard", Dashboard: kibana}, s, plan.Options{})
		if err != nil || len(trials) != 8 {
			t.Fatal(len(trials), err)
		}
		for _, seen := range trials {
			if seen.Outcome != record.OK {
				t.Errorf("%s over %s: %s", seen.Strategy, seen.Protocol, seen.FirstError())
			}
		}
		if len(d.held) > 0 {
			t.Errorf("left: %v", d.held)
		}
		edged := s // a proxy in front of it speaks h2 only
		edged.Protocols = []scenario.Protocol{scenario.H2}
		if l, err = n.Listen(); err != nil {
			t.Fatal(err)
		}
		if err := servers.Edge(l, edge.Options{Server: strings.TrimPrefix(kibana.URL, "https://"), ToBrowser: []string{"h2"}, ToServer: "http/1.1", Dial: n.Dial}); err != nil {
			t.Fatal(err)
		}
		trials, err = playOn(t.Context(), t, n, Target{Dashboard: Server{URL: "https://" + l.Addr().String(), Roots: kibana.Roots}}, edged, plan.Options{})
		if err != nil || len(trials) != 4 || trials[0].Outcome != record.OK {
			t.Errorf("behind an edge: %d trials, %v", len(trials), err)
		}
		for _, c := range []struct {
			server Server
			index  string
			want   string
		}{
			{Server{URL: kibana.URL}, "", "certificate"},
			{kibana, "nowhere", "there is no index nowhere"},
			{Server{URL: d.url}, "", "this is no dashboard server"},
			{Server{URL: "http://127.0.0.1:99"}, "", "connection refused"},
		} {
			s := s
			s.Protocols = []scenario.Protocol{scenario.HTTP1}
			_, err := Start(t.Context(), clock.Standard(), n, s, Target{Dashboard: c.server, Index: c.index})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v", c.server.URL, c.index, err)
			}
		}
	})
}

// What cannot be played is refused before anything is played, with the way out.
func TestRefused(t *testing.T) {
	faults := shipped(t, "smoke")
	faults.Groups[0].Fault = &scenario.Fault{Kind: scenario.Unavailable}
	queueing := shipped(t, "saturated-node")
	kept := shipped(t, "smoke")
	kept.KeepOnDisconnect = true
	far := shipped(t, "smoke")
	far.Networks = []scenario.Network{{Name: "far", Elasticsearch: scenario.Conditions{RTT: ms(5)}}}
	begin := func(_ context.Context, size Size) (Elasticsearch, error) { return nil, errors.New("begun") }
	there := Target{Dashboard: Server{URL: "https://127.0.0.1:1"}}
	for name, c := range map[string]struct {
		s    scenario.Scenario
		t    Target
		want string
	}{
		"faults of a real one":    {faults, Target{Begin: begin}, "only the embedded Elasticsearch makes faults"},
		"faults behind a gate":    {faults, Target{DelayBy: ByGate}, "behind a delay gate faults would come at other requests"},
		"queueing behind a gate":  {queueing, Target{DelayBy: ByGate}, "leave search_pool or the gate out"},
		"edge before a dashboard": {shipped(t, "last-hop"), there, "no edge stands in front"},
		"network behind it":       {far, there, "network far"},
		"its habits":              {kept, there, "on_disconnect: keep"},
		"no TLS":                  {shipped(t, "smoke"), Target{Dashboard: Server{URL: "http://127.0.0.1:1"}}, "take --protocols http1"},
	} {
		if err := c.t.Plays(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		small := func(context.Context, Size) (Elasticsearch, error) {
			return newDouble(t, n, elastic.Options{SearchThreads: 3}), nil
		}
		release := func(context.Context, Size) (Elasticsearch, error) {
			return newDouble(t, n, elastic.Options{NoShardDelay: true}), nil
		}
		for name, c := range map[string]struct {
			s    scenario.Scenario
			t    Target
			want string
		}{
			"a load is too much":     {shipped(t, "smoke"), Target{Begin: small}, "a load of smoke has 4 searches, and the server executes 3 at once"},
			"it cannot delay":        {shipped(t, "smoke"), Target{Begin: release, DelayBy: ByServer}, "has no aggregation shard_delay"},
			"queueing, by its means": {queueing, Target{Begin: release}, "leave search_pool or the gate out"},
			"it does not start":      {shipped(t, "smoke"), Target{Begin: begin}, "start servers: begun"},
		} {
			backend, err := Start(t.Context(), clock.Standard(), n, c.s, c.t)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			if err == nil {
				_ = backend.Close()
			}
		}
	})
}

// Nobody is led to another machine, least of all with credentials: a redirect is an answer like any other.
func TestNoRedirect(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		elsewhere := newDouble(t, n, elastic.Options{})
		defer elsewhere.Close()
		l, err := n.Listen()
		if err != nil {
			t.Fatal(err)
		}
		leading := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.url+r.URL.Path, http.StatusTemporaryRedirect)
		})}
		defer leading.Close()
		go func() { _ = leading.Serve(l) }()
		server := Server{URL: "http://" + l.Addr().String(), Authorization: "ApiKey c2VjcmV0"}
		s.Protocols = []scenario.Protocol{scenario.HTTP1}
		for _, target := range []Target{{Elasticsearch: server}, {Dashboard: server}} {
			if _, err := Start(t.Context(), clock.Standard(), n, s, target); err == nil || strings.Contains(err.Error(), "c2VjcmV0") {
				t.Errorf("%v", err)
			}
		}
		if elsewhere.asked > 0 {
			t.Errorf("%d requests went elsewhere", elsewhere.asked)
		}
	})
}

// A server that takes connections and never answers is not waited for without end.
func TestNoAnswer(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		l, err := n.Listen()
		if err != nil {
			t.Fatal(err)
		}
		mute := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
		defer mute.Close()
		go func() { _ = mute.Serve(l) }()
		began := time.Now()
		_, err = Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: Server{URL: "http://" + l.Addr().String()}})
		if took := time.Since(began); err == nil || took > 2*patience {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// A scenario about a full pool is refused where the pool is another, as it would measure something else.
func TestAnotherPool(t *testing.T) {
	s := shipped(t, "saturated-node")
	synctest.Test(t, func(t *testing.T) {
		n := &network.Memory{}
		d := newDouble(t, n, elastic.Options{SearchThreads: 13})
		defer d.Close()
		_, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: Server{URL: d.url}})
		if err == nil || !strings.Contains(err.Error(), "is about a server that executes 4 searches at once, and this one executes 13") {
			t.Errorf("%v", err)
		}
	})
}
