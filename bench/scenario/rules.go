package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"pollbench/bench/clock"
)

// Limits beside the exported ones, each with its reason.
const (
	minStatus      = 44                     // the least that the dashboard server's status can be said in
	maxPayload     = 2 << 20                // Elasticsearch gives out 10,000 hits at the most, here of 256 bytes
	maxRepeats     = 1000                   // far beyond where an interval still narrows
	minEvery       = 10 * time.Millisecond  // faster bystanders would be the load
	minPause       = time.Millisecond       // between the polls of a search
	maxWait        = MaxDelay * time.Second // no search takes longer
	maxConnections = 256                    // Chromium's limit of all sockets
	maxStreams     = 1000                   // the largest limit that servers commonly advertise
	maxSearchPool  = 10_000                 // threads, of which a machine holds some thousands
	maxRetry       = 100                    // a server that is not back by then stays away
)

// violation is a rule broken: what to say, and the paths of the values that it is about, the one to point at first.
type violation struct {
	about   []string
	message string
}

func breach(message string, about ...string) violation { return violation{about, message} }

// violations holds a complete scenario against every rule about its values, whether they come from a file or from a command line.
func violations(s Scenario) []violation {
	return slices.Concat(
		nameRule("name", "scenario", s.Name),
		groupRules(s),
		sweepRules(s),
		amount("dashboard.payload", "bytes of payload", s.Payload, 0, maxPayload),
		bystanderRules(s),
		strategyRules(s),
		contestRules(s),
		topologyRules(s),
		networkRules(s),
		amount("repeats", "repeats", s.Repeats, 1, maxRepeats),
		amount("browser.http1_connections", "http1_connections", s.Browser.HTTP1Connections, 1, maxConnections),
		amount("browser.h2_streams", "h2_streams", s.Browser.H2Streams, 1, maxStreams),
		tabRules(s),
		timeoutRule(s),
		poolRule(s),
		loadRule(s),
	)
}

// amount judges a number of something.
func amount(path, what string, n, least, most int) []violation {
	if n >= least && n <= most {
		return nil
	}
	return []violation{breach(fmt.Sprintf("%d %s: take %d to %d", n, what, least, most), path)}
}

// waitRule judges a duration for which a strategy waits.
func waitRule(path, strategy, what string, wait time.Duration) []violation {
	if wait >= 0 && wait <= maxWait {
		return nil
	}
	return []violation{breach(fmt.Sprintf("strategy %s: %s %v: take 0s to %ds", quote(strategy), what, wait, MaxDelay), path)}
}

// Names become names of files, columns and test cases, so they must not need escaping anywhere; a leading dot would hide a
// folder, or climb out of one.
var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func nameRule(path, what, name string) []violation {
	if validName.MatchString(name) {
		return nil
	}
	return []violation{breach(fmt.Sprintf(
		"%s name %s: take letters, digits, \"-\", \"_\" and \".\", a letter or digit first, 64 at most", what, quote(name)), path)}
}

func groupRules(s Scenario) (found []violation) {
	const groups = "dashboard.panels"
	if len(s.Groups) == 0 {
		return []violation{breach("the dashboard has no panels: give at least one group", groups)}
	}
	total, seen := 0, map[string]bool{}
	for i, g := range s.Groups {
		at := item(groups, i)
		found = append(found, nameRule(key(at, "name"), "group", g.Name)...)
		if seen[g.Name] {
			found = append(found, breach(fmt.Sprintf("two groups are called %s: give each its own name", quote(g.Name)), key(at, "name")))
		}
		seen[g.Name] = true
		found = append(found, amount(key(at, "count"), "panels in group "+quote(g.Name), g.Panels, 1, MaxPanels)...)
		total += min(max(g.Panels, 0), MaxPanels)
		switch {
		case g.Distribution != nil:
			found = append(found, distributionRules(key(at, "delay"), g.Name, *g.Distribution)...)
		case len(g.Sweep) == 0:
			found = append(found, delayRule(key(at, "delay"), g.Name, "delay", g.Delay)...)
		}
		found = append(found, faultRules(key(at, "fault"), g)...)
	}
	if total > MaxPanels && !slices.ContainsFunc(s.Groups, func(g Group) bool { return g.Panels > MaxPanels }) {
		found = append(found, breach(fmt.Sprintf("the dashboard has %d panels: take at most %d", total, MaxPanels), groups))
	}
	return found
}

func delayRule(path, group, what string, delay clock.Seconds) []violation {
	if validDelay(delay.Duration) {
		return nil
	}
	return []violation{breach(fmt.Sprintf("group %s has a %s of %v: %s", quote(group), what, delay, delayLimits), path)}
}

func sweepRules(s Scenario) (found []violation) {
	first := s.Swept()
	for i, g := range s.Groups {
		at := key(item("dashboard.panels", i), "delay")
		if len(g.Sweep) > 0 && i != first {
			found = append(found, breach(fmt.Sprintf("groups %s and %s are both swept: give one of them a fixed delay",
				quote(s.Groups[first].Name), quote(g.Name)), at))
		}
		seen := map[clock.Seconds]bool{}
		for j, d := range g.Sweep {
			here := item(key(at, "sweep"), j)
			if !validDelay(d.Duration) {
				found = append(found, breach(fmt.Sprintf("the sweep has a delay of %v: %s", d, delayLimits), here))
			}
			if seen[d] {
				found = append(found, breach(fmt.Sprintf("the sweep has %v twice: name each delay once", d), here))
				break // the rest of an overlap adds nothing but lines
			}
			seen[d] = true
		}
	}
	return found
}

func bystanderRules(s Scenario) (found []violation) {
	if s.Bystanders == nil {
		return nil
	}
	if every := s.Bystanders.Every; every.Duration < minEvery || every.Duration > maxWait {
		found = append(found, breach(fmt.Sprintf("bystanders every %v: take %v to %ds", every, minEvery, MaxDelay), "bystanders.every"))
	}
	return append(found, amount("bystanders.size", "bytes of bystander size", s.Bystanders.Size, minStatus, maxPayload)...)
}

// contestRules judges who competes: strategies, base and protocols, each listed once.
func contestRules(s Scenario) (found []violation) {
	var strategies []string
	for i, st := range s.Strategies {
		if slices.Contains(strategies, st.Name) && st.Name != "" {
			at := item("strategies", i)
			found = append(found, breach(fmt.Sprintf("strategy %s is there twice: remove one", quote(st.Name)), at))
		}
		strategies = append(strategies, st.Name)
	}
	switch {
	case len(s.Strategies) == 0:
		found = append(found, breach("no strategy: give at least one, or leave the field out", "strategies"))
	case !slices.Contains(strategies, s.Base):
		found = append(found, breach(fmt.Sprintf("base %s is not among the strategies: take one of %s", quote(s.Base), names(s.Strategies)),
			"base", "strategies"))
	}
	if len(s.Protocols) == 0 {
		found = append(found, breach("no protocol: give at least one, or leave the field out", "protocols"))
	}
	for i, p := range s.Protocols {
		at := item("protocols", i)
		switch {
		case !slices.Contains(Protocols(), p): // without a guess: the nearest to http2 would be http1
			found = append(found, breach(fmt.Sprintf("unknown protocol %s: valid are http1 (HTTP/1.1) and h2 (HTTP/2)", quote(string(p))), at))
		case slices.Contains(s.Protocols[:i], p):
			found = append(found, breach(fmt.Sprintf("protocol %q is there twice: remove one", p), at))
		}
	}
	return found
}
