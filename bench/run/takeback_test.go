package run

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/network"
)

// leave plays a run on a server of somebody else's until Ctrl-C and closes it, with DELETEs answered as said, and tells what was said meanwhile.
func leave(t *testing.T, deletes http.HandlerFunc, o Target) (said []string, err error) {
	t.Helper()
	s := shipped(t, "smoke")
	n := &network.Memory{}
	d := newDouble(t, n, elastic.Options{})
	defer d.Close()
	o.Elasticsearch.URL = d.url
	if err := remove(t, o.Elasticsearch, n); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, what)
	}
	o.Progress = note
	var ended atomic.Bool
	d.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ended.Load() && r.Method == http.MethodDelete {
			note("DELETE")
			deletes(w, r)
			return
		}
		d.ServeHTTP(w, r)
	})
	backend, err := Start(t.Context(), clock.Standard(), n, s, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if err := Run(ctx, Options{
		Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend, Record: func(record.Trial) error { return nil },
	}); err == nil {
		t.Error("the run was not interrupted")
	}
	ended.Store(true)
	err = backend.Close()
	return said, err
}

// Deleting many searches takes time: it is told before the first DELETE, of the dashboard servers' too, which cancel as they close.
func TestDeletingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, err := leave(t, func(w http.ResponseWriter, _ *http.Request) {}, Target{})
		if err != nil {
			t.Error(err)
		}
		// Four panels in eight loads and once in each of four variants.
		told := slices.IndexFunc(said, func(s string) bool { return strings.HasPrefix(s, "deleting 48 searches and the index pollbench") })
		if told < 0 || slices.Index(said, "DELETE") < told || len(said)-told-1 < 48+1 {
			t.Errorf("%q", said)
		}
	})
}

// What could not be deleted is told with the cause and the way out, and without secrets, which servers may quote.
func TestWhatCannotBeDeletedIsTold(t *testing.T) {
	const secret = "c2VjcmV0"
	refuse := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "not with "+r.Header.Get("Authorization"))
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		deletes http.HandlerFunc
		want    []string
	}{
		"refused": {refuse, []string{"48 of 48 searches could not be deleted (status 403: not with ApiKey (credentials)): ", "wait a minute", "delete index pollbench: status 403"}},
		"cut":     {cut, []string{"48 of 48 searches could not be deleted (Delete ", "EOF", "wait a minute", "delete index pollbench: Delete ", "remove it with DELETE /pollbench"}},
		"gone":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, []string{"delete index pollbench: status 404"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := leave(t, c.deletes, Target{Elasticsearch: Server{Authorization: "ApiKey " + secret}})
				if err == nil || strings.Contains(err.Error(), secret) || name == "gone" && strings.Contains(err.Error(), "searches") {
					t.Fatalf("%v", err)
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("no %q in %v", want, err)
					}
				}
			})
		})
	}
}
