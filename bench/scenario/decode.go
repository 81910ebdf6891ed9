package scenario

import (
	"time"

	"github.com/goccy/go-yaml/ast"

	"pollbench/bench/clock"
	"pollbench/bench/strategy"
)

// Decode reads a scenario from YAML. This is every field; what has a default may be left out:
//
//	name: sawtooth                # letters, digits, - _ and ., as in every name here; it begins with a letter or digit
//	description: one or two lines # default none
//	dashboard:
//	  panels:                     # groups of equal panels, in the order in which the page asks for them
//	    - name: slow              # a single group needs none and is called panels
//	      count: 10               # 1 to 1000, and so for all groups together
//	      delay: 10s              # of each panel's search: over 0, at most 600s
//	    - name: swept
//	      count: 4
//	      delay: {sweep: 1s..23s} # each value is a cell of its own; in one group only
//	  payload: 2KiB               # size of each search's result, 0 to 2MiB; this is the default
//	bystanders:                   # small requests during the load; off means none
//	  every: 500ms                # default; 10ms to 600s
//	  size: 200B                  # default; 44B to 2MiB
//	strategies:                   # default [traditional, continuous]
//	  - traditional               # one of strategy.Names, or a definition of one's own:
//	  - name: mine                # none of the shipped names
//	    submit_wait: 200ms        # how long the submit may be held: 0s (default) to 600s
//	    poll_wait: 0s             # how long each poll may be held: 0s (default) to 600s
//	    poll: result              # default; or status, which is never held
//	    at_once: false            # default; true sends the first poll without a sleep
//	    tiers:                    # default none: no sleep before a poll
//	      - {under: 1.5s, sleep: 300ms}  # while less than 1.5 s have passed
//	      - {sleep: 5s}           # otherwise; only the last tier may lack under
//	  - {name: plain, sync: true} # one plain search, held to its end; no other field
//	base: traditional             # what the others are compared with; default traditional if it is there, else the first
//	protocols: [http1, h2]        # default both
//	repeats: 7                    # default; 1 to 1000
//	seed: 1                       # default
//	browser:                      # limits of the browser's connections to a host
//	  http1_connections: 6        # default; 1 to 256
//	  h2_streams: 256             # default; 1 to 1000
//	cold: false                   # default; true counts the page's connecting into the load
//
// A sweep is a list in [ParseDelays]' form, as one text ("1s, 2s, 5s..10s/0.5s") or as YAML ([1s, 5s..10s/500ms]). No delay comes twice.
// Durations are Go's: 1.5s, 500ms, 1m30s. A size is in B, KiB or MiB; without a unit it is in bytes. A strategy of one's own must pause
// at least 1 ms between polls, asleep or held. Sweep values × strategies × protocols × repeats × panels are at most [MaxLoad].
//
// The file is one YAML document in UTF-8 of at most 32 KiB, without anchors, aliases, merge keys and tags.
//
// The error is of type [Problems] and holds everything that is wrong, by position. A file that is not YAML has one problem:
// beyond it there is nothing to read. The name is the file's name in those problems; nothing is opened.
func Decode(name string, source []byte) (Scenario, error) {
	d := &decoder{collector{file: name, places: map[string]place{"": {1, 1}}}}
	s := defaults()
	if root := d.document(source); root != nil {
		d.scenario(&s, root)
		d.judge(s)
	}
	if err := d.err(); err != nil {
		return Scenario{}, err
	}
	return s, nil
}

// defaults is a scenario that lacks only what has no default.
func defaults() Scenario {
	return Scenario{
		Payload:    2 << 10,
		Bystanders: bystanders(),
		Strategies: []strategy.Strategy{shipped("traditional"), shipped("continuous")},
		Protocols:  Protocols(),
		Repeats:    7, // six are the fewest whose range holds the median in 95 of 100 cases (1 − 2/2⁶ = 97 %), and one may fail
		Seed:       1,
		Browser:    Browser{HTTP1Connections: 6, H2Streams: 256}, // Chromium's
	}
}

func bystanders() *Bystanders {
	return &Bystanders{Every: clock.Seconds{Duration: 500 * time.Millisecond}, Size: 200}
}

func shipped(name string) strategy.Strategy {
	s, _ := strategy.Named(name)
	return s
}

func (d *decoder) scenario(s *Scenario, root ast.Node) {
	d.places[""] = start(root)
	d.mapping("", root, []field{
		{"name", required, value(d, &s.Name, text)},
		{"description", optional, value(d, &s.Description, text)},
		{"dashboard", required, d.dashboard(s)},
		{"bystanders", optional, d.bystanders(s)},
		{"strategies", optional, list(d, &s.Strategies, "a list such as [traditional, continuous]", d.strategy)},
		{"base", optional, value(d, &s.Base, text)},
		{"protocols", optional, list(d, &s.Protocols, "a list such as [http1, h2]", d.protocol)},
		{"repeats", optional, value(d, &s.Repeats, whole)},
		{"seed", optional, value(d, &s.Seed, seed)},
		{"browser", optional, func(path string, n ast.Node) {
			d.mapping(path, n, []field{
				{"http1_connections", optional, value(d, &s.Browser.HTTP1Connections, whole)},
				{"h2_streams", optional, value(d, &s.Browser.H2Streams, whole)},
			}, nil)
		}},
		{"cold", optional, value(d, &s.Cold, truth)},
	}, nil)
	if _, given := d.places["base"]; !given {
		s.Base = followBase("", s.Strategies)
	}
}
