package run

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/fixtures/elastic"
	"pollbench/fixtures/kibana"
	"pollbench/fixtures/network"
)

// An Elasticsearch behind TLS is trusted by the certificates that were given, by all who ask it - probe, delay gate, dashboard servers, and who takes back - and by
// nobody without.
func TestElasticsearchBehindTLS(t *testing.T) {
	s := shipped(t, "smoke")
	s.Groups[0].Sweep = s.Groups[0].Sweep[:1]
	for _, by := range []string{ByServer, ByGate} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network.Memory{}
				d := newDouble(t, n, elastic.Options{})
				defer d.Close()
				certificate, roots, err := kibana.Certificate()
				if err != nil {
					t.Fatal(err)
				}
				l, err := n.Listen()
				if err != nil {
					t.Fatal(err)
				}
				secure := &http.Server{Handler: d, ErrorLog: log.New(io.Discard, "", 0), TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
				defer secure.Close()
				go func() {
					if err := secure.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
						t.Error(err)
					}
				}()
				mine := Server{URL: "https://" + l.Addr().String(), Roots: roots}
				if err := remove(t, mine, n); err != nil {
					t.Fatal(err)
				}
				trials, err := playOn(t.Context(), t, n, Target{Elasticsearch: mine, DelayBy: by}, s, plan.Options{})
				if err != nil || len(trials) != 4 {
					t.Fatal(len(trials), err)
				}
				for _, seen := range trials {
					if seen.Outcome != record.OK {
						t.Errorf("%s over %s: %s", seen.Strategy, seen.Protocol, seen.FirstError())
					}
				}
				if len(d.held) > 0 || d.created != 1 || d.removed != 2 {
					t.Errorf("left: %v; %d indices were made, %d removed", d.held, d.created, d.removed)
				}
				mine.Roots = nil
				if _, err := Start(t.Context(), clock.Standard(), n, s, Target{Elasticsearch: mine, DelayBy: by}); err == nil || !strings.Contains(err.Error(), "give the certificate of its CA") {
					t.Errorf("without: %v", err)
				}
			})
		})
	}
}
