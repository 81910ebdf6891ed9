package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
	"pollbench/fixtures/documents"
	"pollbench/fixtures/elastic"
)

// Of a Kibana that is somebody else's.
const (
	space  = "/s/my%20space"
	secret = "ApiKey dmVyeTpzZWNyZXQ="
)

// versions of Kibana differ in what they do with a poll, and in when they answer in their own form.
type version string

const (
	// kibana85 has never heard of stream and retrieveResults; it waits 100 ms in each poll, whatever it is asked.
	kibana85 version = "8.5"
	// kibana814 polls by status unless retrieveResults is set, and always answers in its own form.
	kibana814 version = "8.14"
	// kibana90 streams results, and tells in its own form that a search still runs.
	kibana90 version = "9.0"
	// kibana94 always asks for the result, and streams whatever comes.
	kibana94 version = "9.4"
)

// foreign makes a Kibana of a version out of our dashboard server: below a path, for those who have credentials, with Server-Timing in no answer, and a
// status page that needs rights.
func foreign(v version, index string, server http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		refuse := func(status int, message string) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"statusCode":%d,"message":%q}`, status, message)
		}
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), space)
		switch {
		case !ok:
			refuse(http.StatusNotFound, "Not Found")
			return
		case r.Header.Get("Authorization") != secret:
			refuse(http.StatusUnauthorized, "Unauthorized")
			return
		case path == statusPath:
			refuse(http.StatusForbidden, "Forbidden")
			return
		case r.Header.Get("X-Elastic-Internal-Origin") != "Kibana":
			refuse(http.StatusBadRequest, "uri is not available with the current configuration")
			return
		}
		body, _ := io.ReadAll(r.Body)
		pass := func(form func(asked map[string]any)) *httptest.ResponseRecorder {
			var asked map[string]any
			if len(body) > 0 {
				_ = json.Unmarshal(body, &asked)
				if params, ok := asked["params"].(map[string]any); ok && params["body"] != nil && params["index"] != index {
					return &httptest.ResponseRecorder{Code: http.StatusNotFound, Body: bytes.NewBufferString("another index")}
				}
				form(asked)
			}
			changed, _ := json.Marshal(asked)
			next := r.Clone(r.Context())
			next.URL.Path, next.URL.RawPath = path, ""
			if strings.Contains(path, "%") {
				panic("an id that has to be unescaped")
			}
			next.Body, next.ContentLength = io.NopCloser(bytes.NewReader(changed)), int64(len(changed))
			if len(body) == 0 {
				next.Body, next.ContentLength = http.NoBody, 0
			}
			answer := httptest.NewRecorder()
			server.ServeHTTP(answer, next)
			return answer
		}
		answer := pass(func(asked map[string]any) { v.change(asked, path) })
		if v == kibana90 && strings.HasPrefix(path, SearchPath+"/") && strings.Contains(answer.Body.String(), `"isRunning":false`) {
			answer = pass(func(asked map[string]any) { asked["retrieveResults"] = true })
		}
		for name, values := range answer.Header() {
			if name != "Server-Timing" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// change makes of what a browser asks what a version understands.
func (v version) change(asked map[string]any, path string) {
	poll := strings.HasPrefix(path, SearchPath+"/")
	switch v {
	case kibana85:
		delete(asked, "stream")
		if poll {
			asked["retrieveResults"], asked["params"] = true, map[string]any{"wait_for_completion_timeout": "100ms"}
		}
	case kibana814:
		delete(asked, "stream")
	case kibana90:
		if poll && asked["retrieveResults"] != true || path == syncPath {
			delete(asked, "stream")
		}
	case kibana94:
		asked["retrieveResults"] = true
		if path == syncPath {
			delete(asked, "stream")
		}
	}
}

func foreignOptions(o *Options) { o.BasePath, o.Authorization = space, secret }

// A Kibana of any version, in whichever form it answers, gives the instants of its searches: from Elasticsearch's clock where it passes that on, else within
// half a round trip.
func TestForeignKibana(t *testing.T) {
	for _, v := range []version{kibana85, kibana814, kibana90, kibana94} {
		for _, protocol := range scenario.Protocols() {
			for _, s := range []strategy.Strategy{strategy.Kibana85(), strategy.Traditional(), strategy.Continuous(), strategy.Fallback(), strategy.Sync()} {
				synctest.Test(t, func(t *testing.T) {
					server, exact := dashboard(t, 6200*time.Microsecond, elastic.Options{})
					b := opened(t, protocol, foreign(v, "probe", server), foreignOptions, away(t, 21400*time.Microsecond))
					streams := v == kibana90 || v == kibana94
					accepted, ready := 14300*time.Microsecond, 14300*time.Microsecond // half of 27.6, and 0.5 ms that are cut off
					if streams && !s.Sync {
						o := estimated(t, b, "probe")
						accepted, ready = o.Uncertainty+500*time.Microsecond, o.Resolution()
					} else if err := b.Connect(t.Context()); err != nil {
						t.Fatal(err)
					}
					trial := plays(t, b, Dashboard{Strategy: s, Index: "probe", Panels: panels(someDelays...)})
					for _, search := range trial.Searches {
						if v == kibana85 && s.PollWait.Duration > time.Second && search.Delay.Duration > time.Second {
							if !strings.Contains(search.Error, "does not hold long polls: asked to wait 30s, it answered after 128ms") {
								t.Errorf("Kibana %s: %q", v, search.Error)
							}
							continue
						}
						if search.Outcome != record.OK {
							t.Errorf("Kibana %s, %s over %s: %s", v, s.Describe(), protocol, search.Error)
							continue
						}
						want := exact.of(t, search)
						near(t, string(v)+" "+s.Describe()+" accepted", b, search.Accepted, want.accepted, accepted)
						near(t, string(v)+" "+s.Describe()+" ready", b, search.Ready, want.ready, ready)
						if search.Start < search.Accepted || search.Start > search.Accepted+1000 {
							t.Errorf("Kibana %s, %s over %s: %+v", v, s.Describe(), protocol, search)
						}
					}
					if written, _ := json.Marshal(trial); bytes.Contains(written, []byte("dmVy")) {
						t.Errorf("Kibana %s: the record has the credentials", v)
					}
				})
			}
		}
	}
}

// What a Kibana refuses is told, and the credentials are not.
func TestForeignKibanaRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		index  string
		want   string
	}{
		"no credentials":    {func(o *Options) { o.Authorization = "" }, documents.Index, "status 401: Unauthorized"},
		"wrong credentials": {func(o *Options) { o.Authorization += "x" }, documents.Index, "status 401: Unauthorized"},
		"another path":      {func(o *Options) { o.BasePath = "/s/nowhere" }, documents.Index, "status 404: Not Found"},
		"another index":     {func(*Options) {}, "mine", "status 404: another index"},
	} {
		for _, protocol := range scenario.Protocols() {
			synctest.Test(t, func(t *testing.T) {
				server, _ := dashboard(t, 0, elastic.Options{})
				b := opened(t, protocol, foreign(kibana94, documents.Index, server), foreignOptions, c.change)
				if err := b.Connect(t.Context()); err != nil {
					t.Errorf("%s: a status that is refused shows that the connection works: %v", name, err)
				}
				search := plays(t, b, Dashboard{Strategy: strategy.Continuous(), Index: c.index, Panels: panels(time.Second)}).Searches[0]
				if !strings.Contains(search.Error, c.want) || strings.Contains(search.Error, "dmVy") {
					t.Errorf("%s over %s: %q, want %q", name, protocol, search.Error, c.want)
				}
			})
		}
	}
}

// A server that is there and in trouble is no page to load.
func TestUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := opened(t, scenario.H2, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "Kibana server is not ready yet.")
		})
		if err := b.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "status 503: Kibana server is not ready yet.") {
			t.Error(err)
		}
	})
}

// A poll that is answered early is one that nobody holds, unless it was to be held for a moment only.
func TestUnheld(t *testing.T) {
	for _, c := range []struct {
		wait, held time.Duration
		fails      bool
	}{
		{30 * time.Second, 100 * time.Millisecond, true}, {30 * time.Second, 14 * time.Second, true}, {30 * time.Second, 16 * time.Second, false},
		{200 * time.Millisecond, 3 * time.Millisecond, false}, {0, 3 * time.Millisecond, false},
	} {
		r := record.Request{Sent: 5, FirstByte: 5 + record.Time(c.held/time.Microsecond), Wait: clock.Seconds{Duration: c.wait}}
		if err := unheld(&r); (err != nil) != c.fails {
			t.Errorf("asked to wait %v, held for %v: %v", c.wait, c.held, err)
		}
	}
}
