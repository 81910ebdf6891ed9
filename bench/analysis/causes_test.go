package analysis

import (
	"slices"
	"strings"
	"testing"

	"pollbench/bench/record"
)

func TestBrief(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{
			"POST /internal/search/ese/FmwwVi1HMTdsVDlLajNhOUoxbTZoLXcaV2NEbXpDenBjN2syZjAxMlVfcFJ0QTo3ODE=: status 404: resource_not_found_exception",
			"POST /internal/search/ese/FmwwVi1H…: status 404: resource_not_found_exception",
		},
		{"search 0b6a3f52-11aa-4c2e-9d0f-5b1c9a77e001: gone", "search 0b6a3f52…: gone"},
		{"status 504: <!doctype html>\n<title>\n504 Gateway\t Timeout</title>\n<h1>long</h1>", "status 504: 504 Gateway Timeout"},
		{"status 502: <HTML><body>no title</body>", "status 502: a page of HTML"},
		{strings.Repeat("é", 500), strings.Repeat("é", 140) + "…"},
	} {
		if got := brief(c.message); got != c.want {
			t.Errorf("got %q\nwant %q", got, c.want)
		}
	}
}

// Errors that differ only by ids and ports are one cause; those that differ by their status are not. Of more than three the rarest are counted together.
func TestCauses(t *testing.T) {
	var trials []record.Trial
	for _, e := range []string{
		"POST /search/FmwwVi1HMTdsVDlLajNhOUox==: status 404: gone", "dial 127.0.0.1:41234: refused", "POST /search/Fk5hSHFCdWpfUkZTZWRrZH: status 504: late",
		"POST /search/FzzzVi1HMTdsVDlLajNhOUoxbTZo: status 404: gone", "dial 127.0.0.1:9: refused", "", "POST /search/F1: status 404: gone",
		"stream 7: reset", "dial 127.0.0.1:40: refused", "POST /search/Fk6hSHFCdWpfUkZTZWRrZH: status 504: late",
		"POST /search/FyyyVi1HMTdsVDlLajNhOUox==: status 404: gone", "POST /search/FxxxVi1HMTdsVDlLajNhOUox==: status 404: gone",
	} {
		trials = append(trials, record.Trial{Outcome: record.Failed, Error: e})
	}
	trials = append(trials, record.Trial{Outcome: record.OK, Error: "not a failure"})
	want := []string{
		"4 trials failed: POST /search/FmwwVi1H…: status 404: gone",
		"3 trials failed: dial 127.0.0.1:41234: refused",
		"2 trials failed: POST /search/Fk5hSHFC…: status 504: late",
		"3 trials failed for other reasons",
	}
	if got := causes(trials); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := causes(trials[5:6]); !slices.Equal(got, []string{"1 trial failed: no reason was recorded"}) {
		t.Errorf("without a reason: %q", got)
	}
}
