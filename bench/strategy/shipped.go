package strategy

import (
	"time"

	"pollbench/bench/clock"
)

// Names lists the shipped strategies, in the order in which they are shown.
func Names() []string {
	return []string{
		"traditional", "continuous", "fallback", "auto", "auto-by-server", "kibana-8.5", "kibana-8.6", "no-backoff", "long-first-wait",
		"rally", "sync",
	}
}

// Named returns a shipped strategy; ok is false when there is none of that name.
func Named(name string) (s Strategy, ok bool) {
	switch name {
	case "traditional":
		s = Traditional()
	case "continuous":
		s = Continuous()
	case "fallback":
		s = Fallback()
	case "auto":
		s = Auto()
	case "auto-by-server":
		s = AutoByServer()
	case "kibana-8.5":
		s = Kibana85()
	case "kibana-8.6":
		s = Kibana86()
	case "no-backoff":
		s = NoBackoff()
	case "long-first-wait":
		s = LongFirstWait()
	case "rally":
		s = Rally()
	case "sync":
		s = Sync()
	default:
		return Strategy{}, false
	}
	s.Name = name
	return s, true
}

// In the tables below a tick is an instant at which an ended search is noticed, counted in seconds from when the page
// asked for it, at zero latency. A range is time during which a request is held: a search that ends within it is noticed at once.

// Traditional is Kibana 8.14 to 9.3: a submit held 200 ms, then a status asked after ever longer sleeps.
//
//	held   0 to 0.2
//	ticks  0.5 0.8 1.1 1.4 1.7 2.7 3.7 4.7 5.7 8.2 10.7 13.2 15.7 18.2 20.7 25.7 30.7 …
func Traditional() Strategy {
	return Strategy{SubmitWait: ms(200), PollWait: ms(200), Poll: ByStatus, Tiers: backoff()}
}

// Continuous is Kibana's long polling: no sleep, each poll held up to 30 s. Kibana uses it on h2 and h3 alone; here it
// long-polls on every protocol, which is how the harm on HTTP/1.1 is shown.
//
//	held   0 to 0.2, 0.2 to 30.2, 30.2 to 60.2 …
//	ticks  none: a search is noticed whenever it ends
func Continuous() Strategy {
	return Strategy{SubmitWait: ms(200), PollWait: ms(30_000), Poll: ByResult}
}

// Fallback is what Kibana's continuous setting does on HTTP/1.1: the sleeps of [Traditional], asking for the result itself.
//
//	held   0 to 0.2
//	ticks  0.5 0.8 1.1 1.4 1.7 2.7 3.7 4.7 5.7 8.2 10.7 13.2 15.7 18.2 20.7 25.7 30.7 …
func Fallback() Strategy {
	return Strategy{SubmitWait: ms(200), Poll: ByResult, Tiers: backoff()}
}

// Auto is Kibana's setting for continuous polling: [Continuous] where the browser's connection multiplexes, else [Fallback]. A page whose searches all
// begin at once does not know yet, so that they sleep once:
//
//	held   0 to 0.2, 0.5 to 30.5 on h2; after that a sleep of 5 s between long polls
//	ticks  on h2 0.5; on HTTP/1.1 those of [Fallback]
func Auto() Strategy { return chosen(LastHop) }

// AutoByServer goes by the protocol that the dashboard server speaks, which behind a proxy is not what the browser speaks: it uses long polls
// where they block the browser's connections, or misses them where they would help.
func AutoByServer() Strategy { return chosen(ServerHop) }

func chosen(by Hop) Strategy {
	c := &Choice{By: by, Multiplexed: Continuous(), Otherwise: Fallback()}
	c.Multiplexed.Name, c.Otherwise.Name = "continuous", "fallback"
	return Strategy{Choice: c}
}

// Kibana85 is Kibana up to 8.5: a poll held 100 ms each second.
//
//	held   0 to 0.1, 1.1 to 1.2, 2.2 to 2.3, 3.3 to 3.4, 4.4 to 4.5, 5.5 to 5.6 …
//	ticks  1.1 2.2 3.3 4.4 5.5 6.6 …, each the start of a held request
func Kibana85() Strategy {
	return Strategy{SubmitWait: ms(100), PollWait: ms(100), Poll: ByResult, Tiers: constant(1000)}
}

// Kibana86 is Kibana 8.6: the first with a backoff, before the tier of 300 ms.
//
//	held   0 to 0.1
//	ticks  1.1 2.1 3.1 4.1 5.1 7.6 10.1 12.6 15.1 17.6 20.1 25.1 30.1 …
func Kibana86() Strategy {
	return Strategy{SubmitWait: ms(100), Poll: ByResult, Tiers: backoff()[1:]}
}

// NoBackoff polls every 300 ms for ever, as was proposed for Kibana and never merged.
//
//	held   0 to 0.2
//	ticks  0.5 0.8 1.1 1.4 1.7 2.0 2.3 2.6 2.9 3.2 …
func NoBackoff() Strategy {
	return Strategy{SubmitWait: ms(200), Poll: ByResult, Tiers: constant(300)}
}

// LongFirstWait is [Traditional] with a submit held 3 s, as has been proposed for Kibana.
//
//	held   0 to 3
//	ticks  4 5 7.5 10 12.5 15 17.5 20 25 30 …
func LongFirstWait() Strategy {
	s := Traditional()
	s.SubmitWait = ms(3000)
	return s
}

// Rally is how Elastic's benchmark tool waits: a first look at once, then one every 500 ms.
//
//	held   never
//	ticks  0 0.5 1 1.5 2 2.5 3 …
func Rally() Strategy {
	return Strategy{Poll: ByResult, AtOnce: true, Tiers: constant(500)}
}

// Sync sends one plain search, held to its end.
//
//	held   0 to the end
//	ticks  none
func Sync() Strategy { return Strategy{Sync: true} }

// backoff is Kibana's table of sleeps since 8.14.
func backoff() []Tier {
	return []Tier{
		{Under: ms(1500), Sleep: ms(300)},
		{Under: ms(5000), Sleep: ms(1000)},
		{Under: ms(20_000), Sleep: ms(2500)},
		{Sleep: ms(5000)},
	}
}

func constant(sleep int) []Tier { return []Tier{{Sleep: ms(sleep)}} }

func ms(n int) clock.Seconds {
	return clock.Seconds{Duration: time.Duration(n) * time.Millisecond}
}
