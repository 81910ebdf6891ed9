package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"

	bench "pollbench/bench/run"
	"pollbench/fixtures/containers"
	"pollbench/fixtures/node"
)

// The servers that dashboards can be played against.
const (
	embedded  = "embedded"
	onNode    = "node"
	container = "container"
)

// Names of the environment's variables with credentials. They are given in no other way: a command line is seen by everybody on the machine, and kept.
const (
	apiKeyVariable   = "POLLBENCH_API_KEY"
	userVariable     = "POLLBENCH_USER"
	passwordVariable = "POLLBENCH_PASSWORD"
)

// targetFlags are the flags about servers, as they were typed; [targetFlags.check] makes a target of them.
type targetFlags struct {
	backend       string
	image         string
	nodeHome      string
	elasticsearch string
	dashboard     string
	index         string
	delayBy       string
	caFile        string
	allowRemote   bool
	maxSearches   int
	maxRate       float64
}

func (t *targetFlags) add(f *pflag.FlagSet) {
	f.StringVar(&t.backend, "backend", embedded, "`KIND` of Elasticsearch to start: embedded, node (a real one, built by 'make node') or container")
	f.StringVar(&t.image, "image", containers.DefaultImage, "`IMAGE` of the container: any that speaks Elasticsearch's API")
	f.StringVar(&t.nodeHome, "node-home", "", "`DIR` of the node (default where 'make node' puts it)")
	f.StringVar(&t.elasticsearch, "elasticsearch", "", "`URL` of an Elasticsearch that runs already, instead of one to start")
	f.StringVar(&t.dashboard, "dashboard", "", "`URL` of a Kibana, or a dashboard server of 'pollbench serve', that runs already")
	f.StringVar(&t.index, "index", "", "`NAME` of an index with documents on a server that runs already (default: one of ours, made and removed)")
	f.StringVar(&t.delayBy, "delay-by", "", "`WHO` delays the searches: server, by its shard_delay, or gate, a proxy before it (default: the server if it can)")
	f.StringVar(&t.caFile, "ca-file", "", "`FILE` with the certificates to trust for servers that run already, in PEM")
	f.BoolVar(&t.allowRemote, "allow-remote", false, "let requests go to other machines than this one")
	f.IntVar(&t.maxSearches, "max-searches", 0, fmt.Sprintf("`COUNT` of searches at once on a server that runs already (default its search pool; %d at most on other machines)", remoteSearches))
	f.Float64Var(&t.maxRate, "max-rate", remoteRate, "`COUNT` of requests a second that may go to other machines")
}

// What other machines get unless more is asked for. No scenario that we ship sends more in its busiest second with so many searches.
const (
	remoteSearches = 50
	remoteRate     = 300
)

// target is what the flags ask for.
type target struct {
	bench.Target
	remote string // the other machine that requests go to; empty: none does
	log    serverLog
}

// check reports every problem at once. given tells whether a flag was.
func (t *targetFlags) check(given func(string) bool, env func(string) string, progress func(string)) (*target, error) {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	result := &target{}
	result.Kind, result.Index, result.DelayBy, result.AtOnce, result.Progress = t.backend, t.index, t.delayBy, t.maxSearches, progress
	running := t.elasticsearch != "" || t.dashboard != ""
	var authorization string
	if running { // nobody else is told them
		var err error
		if authorization, err = credentials(env); err != nil {
			errs = append(errs, err)
		}
	}
	roots, err := readCA("--ca-file", t.caFile)
	if err != nil {
		errs = append(errs, err)
	}
	for _, s := range []struct {
		flag, url string
		kind      string
		to        *bench.Server
	}{
		{"--elasticsearch", t.elasticsearch, "elasticsearch", &result.Elasticsearch},
		{"--dashboard", t.dashboard, "dashboard", &result.Dashboard},
	} {
		if s.url == "" && !given(s.flag[2:]) {
			continue
		}
		at, err := serverURL(s.url, "http", "https")
		switch {
		case errors.Is(err, errSecret):
			fail("%s: %w; credentials come by %s, or %s and %s, in the environment", s.flag, err, apiKeyVariable, userVariable, passwordVariable)
			continue
		case err != nil:
			fail("%s: %w", s.flag, err)
			continue
		case at.RawQuery != "" || at.Fragment != "":
			fail("%s: the address has a query or a fragment: give it without", s.flag)
			continue
		}
		*s.to = bench.Server{URL: strings.TrimRight(s.url, "/"), Authorization: authorization, Roots: roots}
		result.Kind = s.kind
		if loopback(at) {
			continue
		}
		result.remote = strings.TrimPrefix(result.remote+" and "+at.Host, " and ")
		if !t.allowRemote {
			fail("%s %s: that is another machine: say --allow-remote if the load is welcome there", s.flag, at.Redacted())
		}
		if authorization != "" && at.Scheme == "http" {
			fail("%s %s: credentials would go there for everybody to read: take https", s.flag, at.Redacted())
		}
	}
	switch t.backend {
	case embedded, onNode, container:
	default:
		fail("--backend %q: choose embedded, node or container", t.backend)
	}
	for _, only := range []struct {
		flag string
		ok   bool
		with string
	}{
		{"backend", !running, "without --elasticsearch and --dashboard: these servers run already"},
		{"image", t.backend == container && !running, "with --backend container"},
		{"node-home", t.backend == onNode && !running, "with --backend node"},
		{"index", running, "with --elasticsearch or --dashboard"},
		{"ca-file", running, "with --elasticsearch or --dashboard"},
		{"max-searches", running, "with --elasticsearch or --dashboard: a server that is started gets what the plan needs"},
		{"max-rate", result.remote != "", "with servers on other machines"},
	} {
		if given(only.flag) && !only.ok {
			fail("--%s goes only %s", only.flag, only.with)
		}
	}
	if given("index") && t.index == "" {
		fail("--index: the name is empty")
	}
	switch {
	case t.delayBy != "" && t.delayBy != bench.ByServer && t.delayBy != bench.ByGate:
		fail("--delay-by %q: choose server or gate", t.delayBy)
	case t.delayBy == bench.ByGate && t.dashboard != "":
		fail("--delay-by gate: a gate stands before Elasticsearch, and a dashboard server has its own already: give that Elasticsearch by --elasticsearch alone")
	}
	if given("max-searches") && t.maxSearches < 1 {
		fail("--max-searches %d: take 1 or more", t.maxSearches)
	}
	if !(t.maxRate > 0) {
		fail("--max-rate %v: take more than 0", t.maxRate)
	}
	if result.remote != "" {
		result.Rate = t.maxRate
		if t.maxSearches == 0 {
			result.AtOnce = remoteSearches
		}
	}
	if !running {
		result.Begin = t.begin(&result.log, progress)
	}
	if len(errs) > 0 {
		return nil, usage(errors.Join(errs...))
	}
	return result, nil
}

// heap of an Elasticsearch that is started. Half of it would do; but its collector then stops everything twice as often.
const heap = 1 << 30

// begin starts what the backend says; nil: nothing has to be started.
func (t *targetFlags) begin(log io.Writer, progress func(string)) bench.Begin {
	switch t.backend {
	case onNode:
		return func(ctx context.Context, size bench.Size) (bench.Elasticsearch, error) {
			return node.Start(ctx, node.Options{Home: t.nodeHome, Heap: heap, SearchThreads: size.SearchThreads, QueueSize: size.QueueSize, Log: log, Progress: progress})
		}
	case container:
		return func(ctx context.Context, size bench.Size) (bench.Elasticsearch, error) {
			return containers.Start(ctx, containers.Options{Image: t.image, Heap: heap, SearchThreads: size.SearchThreads, QueueSize: size.QueueSize, Log: log, Progress: progress})
		}
	}
	return nil
}

// credentials are the value of the header Authorization.
func credentials(env func(string) string) (string, error) {
	key, user, password := env(apiKeyVariable), env(userVariable), env(passwordVariable)
	switch {
	case key != "" && user != "":
		return "", fmt.Errorf("the environment has both %s and %s: unset one", apiKeyVariable, userVariable)
	case key != "":
		return "ApiKey " + key, checkHeader(apiKeyVariable, key)
	case user == "" && password != "":
		return "", fmt.Errorf("the environment has %s, and no %s", passwordVariable, userVariable)
	case user != "" && password == "":
		return "", fmt.Errorf("the environment has %s, and no %s", userVariable, passwordVariable)
	case user != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)), nil
	}
	return "", nil
}

// checkHeader refuses what no header can carry, without showing it.
func checkHeader(variable, value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s in the environment is no API key: it has blanks or other characters that none has; take its encoded form", variable)
	}
	return nil
}

// named is a server's address as a result may have it.
func (t *target) named(address string) string {
	if at, err := serverURL(address, "http", "https"); err == nil && loopback(at) {
		return address
	}
	return "URL"
}

// announce tells, before anything goes to another machine, how much it will be, and refuses what is more than was allowed.
func (t *target) announce(j job, say func(string)) error {
	if t.remote == "" {
		return nil
	}
	e := t.Expect(j.scenario, j.plan)
	say(fmt.Sprintf("%s: up to about %d requests go to %s in %v, up to %.0f a second, for %d loads with at most %d searches at once",
		j.scenario.Name, e.Requests, t.remote, e.Lasts.Round(time.Second), math.Ceil(e.Peak), len(j.plan.Trials), j.plan.AtOnce))
	if e.Peak > t.Rate {
		return usage(fmt.Errorf("%s would send up to %.0f requests a second to %s: allow it with --max-rate %.0f, or send fewer with --max-searches, --spacing, --panels or --delays",
			j.scenario.Name, math.Ceil(e.Peak), t.remote, math.Ceil(e.Peak)))
	}
	return nil
}
