package run

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/network"
)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// What is secret is taken out however a server writes it, also if it was cut off; what is not stays readable.
func TestRedact(t *testing.T) {
	key := "ApiKey " + base64.StdEncoding.EncodeToString([]byte("id42:zebra-quagga"))
	for _, c := range []struct{ authorization, text, want string }{
		{"", "401, nothing", "401, nothing"},
		{basic("me", "topsecretpw"), "bad bWU6dG9wc2VjcmV0cHc= me:topsecretpw", "bad (credentials) (credentials)"},
		{basic("me", "topsecretpw"), "no password topsecretpw of me", "no password (credentials) of me"},
		{basic("me", "topsecretpw"), "(topsecretpw)topsecretpwd", "((credentials))(credentials)d"},
		{basic("me", "topsecretpw"), "unable to authenticate me:topsec…: see", "unable to authenticate (credentials)…: see"},
		{basic("me", "topsecretpw"), "unable to authenticate with tops…", "unable to authenticate with (credentials)…"},
		{basic("me", "topsecretpw"), "Basic bWU6dG9wc2V…", "Basic (credentials)…"},
		{basic("me", "topsecretpw"), "topse and to…", "topse and to…"}, // chance, perhaps
		{basic("me", `a"b\c/é<`), `a"b\c/é< "a\"b\\c/é<" "a\"b\\c/\u00e9<" "a\"b\\c/é\u003c"`, `(credentials) "(credentials)" "(credentials)" "(credentials)"`},
		{basic("me", "a:b:c:d"), "me:a:b:c:d, a:b:c:d", "(credentials), (credentials)"},
		{basic("me", "two  blanks\tand"), "bad two  blanks\tand, in a line two blanks and", "bad (credentials), in a line (credentials)"},
		{key, "ApiKey " + key[7:] + ", id42:zebra-quagga, zebra-quagga of id42", "ApiKey (credentials), (credentials), (credentials) of id42"},
		{"ApiKey unencoded:zebra-quagga", "unencoded:zebra-quagga zebra-quagga", "(credentials) (credentials)"},
		// A short one would be found everywhere.
		{basic("me", "a"), "a search: a, 'a' or aa, ba; me:a", "(credentials) search: (credentials), '(credentials)' or aa, ba; (credentials)"},
		{basic("me", "12345"), "12345 of 123456", "(credentials) of 123456"},
		{basic("me", "123456"), "123456 of 1234567", "(credentials) of (credentials)7"},
	} {
		for _, target := range []Target{{Elasticsearch: Server{Authorization: c.authorization}}, {Dashboard: Server{Authorization: c.authorization}}} {
			if got := target.redact(c.text); got != c.want {
				t.Errorf("%s of %q:\n%s, want\n%s", c.authorization, c.text, got, c.want)
			}
		}
	}
	target := Target{Dashboard: Server{Authorization: key}}
	if err := target.redactError(fmt.Errorf("zebra-quagga: %w", io.EOF)); err.Error() != "(credentials): EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if err := target.redactError(nil); err != nil {
		t.Errorf("%v", err)
	}
}

// fill writes a text into every field of the name Error, of whatever there is in v.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name == "Error" {
				v.Field(i).SetString(text)
			} else if f.IsExported() {
				fill(v.Field(i), text)
			}
		}
	}
}

// Every error of an observation is redacted, wherever it stands, and also where the load went well in the end.
func TestRedactTrial(t *testing.T) {
	r := runner{Options: Options{Backend: &Backend{target: Target{Dashboard: Server{Authorization: basic("me", "topsecretpw")}}}}}
	for _, outcome := range []string{record.OK, record.Failed} {
		var seen record.Trial
		fill(reflect.ValueOf(&seen).Elem(), "it was topsecretpw")
		seen.Outcome = outcome
		r.redact(&seen)
		text, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		// The load's own, and of two searches and two bystanders each its own and those of two requests, two of the ending, and one.
		if bytes.Contains(text, []byte("topsecretpw")) || bytes.Count(text, []byte("it was (credentials)")) != 1+2*(1+2+2)+2*(1+1) {
			t.Errorf("%s", text)
		}
	}
}

// quoting answers some requests as a server does that tells everybody whom it has not let in, and with what.
func quoting(h http.Handler, when func(r *http.Request, body string) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !when(r, string(body)) {
			h.ServeHTTP(w, r)
			return
		}
		_, encoded, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		decoded, _ := base64.StdEncoding.DecodeString(encoded)
		_, second, _ := strings.Cut(string(decoded), ":")
		reason := fmt.Sprintf("bad %s: %s, %s", r.Header.Get("Authorization"), decoded, second)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(http.StatusInternalServerError)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"type": "x", "reason": reason, "root_cause": []any{map[string]any{"type": "x", "reason": reason}}}})
	})
}

// Whatever request it is that a server answers with the credentials, nobody is told them: by no error and in no observation.
func TestNoSecretIsTold(t *testing.T) {
	s := with(shipped(t, "smoke"))
	s.Strategies = []strategy.Strategy{retrying("traditional", 3)}
	s.Base, s.Groups[0].Sweep = s.Strategies[0].Name, s.Groups[0].Sweep[:1]
	isSearch := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/_async_search") }
	var polled sync.Map // the first poll of each search fails
	for name, c := range map[string]struct {
		when                   func(r *http.Request, body string) bool
		start, run, end, trial string // what is told
		outcome                string
	}{
		"probe":   {when: func(r *http.Request, _ string) bool { return r.URL.Path == "/" }, start: "bad Basic (credentials): "},
		"warm-up": {when: func(r *http.Request, body string) bool { return isSearch(r) && strings.Contains(body, "600ms") }, run: "bad Basic (credentials)"},
		"search":  {when: func(r *http.Request, body string) bool { return isSearch(r) && strings.Contains(body, "1030ms") }, trial: "bad Basic (credentials)", outcome: record.Failed},
		"poll": {when: func(r *http.Request, _ string) bool {
			_, before := polled.LoadOrStore(r.URL.Path, true)
			return strings.HasPrefix(r.URL.Path, "/_async_search/status/") && !before
		}, trial: "bad Basic (credentials)", outcome: record.OK},
		"deletion": {when: func(r *http.Request, _ string) bool {
			return r.Method == http.MethodDelete && r.URL.Path == "/pollbench"
		}, end: "bad Basic (credentials)", outcome: record.OK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network.Memory{}
				d := newDouble(t, n, elastic.Options{})
				defer d.Close()
				mine := Server{URL: d.url, Authorization: basic("me", "topsecretpw")}
				if err := remove(t, mine, n); err != nil {
					t.Fatal(err)
				}
				d.http.Handler = quoting(d, c.when)
				told := func(where, what, want string) {
					t.Helper()
					if (what != "") != (want != "") || !strings.Contains(what, want) || strings.Contains(what, "topsecretpw") || strings.Contains(what, "bWU6dG9w") {
						t.Errorf("%s: %s", where, what)
					}
				}
				text := func(err error) string {
					if err == nil {
						return ""
					}
					return err.Error()
				}
				backend, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: mine})
				if told("start", text(err), c.start); err != nil {
					return
				}
				var trials bytes.Buffer
				err = Run(t.Context(), Options{Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend, Record: func(seen record.Trial) error {
					if seen.Outcome != c.outcome {
						t.Errorf("%s: %s", seen.Outcome, seen.FirstError())
					}
					return json.NewEncoder(&trials).Encode(seen)
				}})
				told("run", text(err), c.run)
				if c.trial != "" || c.outcome == "" {
					told("observations", trials.String(), c.trial)
				}
				told("end", text(backend.Close()), c.end)
			})
		})
	}
}

// Nor is the part of a secret that is left where an answer was too long to be told as a whole.
func TestNoPartOfASecretIsTold(t *testing.T) {
	s := shipped(t, "smoke")
	s.Protocols = []scenario.Protocol{scenario.HTTP1}
	for _, status := range []int{http.StatusUnauthorized, http.StatusOK} { // refused, and not understood
		synctest.Test(t, func(t *testing.T) {
			n := &network.Memory{}
			there := serve(t, n, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, strings.Repeat("-", 294)+"topsecretpw")
			}))
			_, err := Start(t.Context(), clock.Standard(), n, s, Target{Dashboard: Server{URL: there, Authorization: basic("me", "topsecretpw")}})
			if err == nil || !strings.Contains(err.Error(), "-(credentials)…") || strings.Contains(err.Error(), "tops") {
				t.Errorf("%d: %v", status, err)
			}
		})
	}
}
