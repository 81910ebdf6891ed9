package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pollbench/bench/strategy"
)

// strategy reads a shipped strategy's name or a definition.
func (d *decoder) strategy(path string, n ast.Node) strategy.Strategy {
	if _, ok := n.(*ast.MappingNode); ok {
		return d.definition(path, n)
	}
	name, ok := n.(*ast.StringNode)
	if !ok {
		d.fail(path, start(n), "%s%v", prefix(path), wrong(n, "a strategy's name or definition"))
		return strategy.Strategy{}
	}
	s, ok := strategy.Named(name.Value)
	if !ok {
		d.fail(path, start(n), "%s; or define it: {name: …, poll_wait: …, tiers: […]}", unknown("strategy", name.Value, strategy.Names()))
	}
	return s
}

func (d *decoder) definition(path string, n ast.Node) strategy.Strategy {
	like := likeness(n)
	s := like
	if s.Choice == nil && s.Poll == "" { // none to be like, or sync
		s.Poll = strategy.ByResult
	}
	seen := d.mapping(path, n, []field{
		{"name", required, value(d, &s.Name, text)},
		{"like", optional, value(d, &like, shippedStrategy)},
		{"sync", optional, value(d, &s.Sync, truth)},
		{"submit_wait", optional, value(d, &s.SubmitWait, duration)},
		{"poll_wait", optional, value(d, &s.PollWait, duration)},
		{"poll", optional, value(d, &s.Poll, ask)},
		{"at_once", optional, value(d, &s.AtOnce, truth)},
		{"tiers", optional, list(d, &s.Tiers, "a list such as [{under: 5s, sleep: 1s}, {sleep: 5s}]", d.tier)},
		{"retry", optional, value(d, &s.Retry, retries)},
	}, nil)
	if slices.Contains(strategy.Names(), s.Name) {
		d.fail(key(path, "name"), d.place(key(path, "name")),
			"strategy %q is a shipped one: write just %s to use it, or choose another name", s.Name, s.Name)
	}
	refuse := func(format string, names ...string) {
		for _, name := range names {
			if node, given := seen[name]; given {
				d.note(start(node), format, quote(s.Name), quote(name))
			}
		}
	}
	waits := []string{"submit_wait", "poll_wait", "poll", "at_once", "tiers"}
	switch {
	case s.Choice != nil:
		refuse("strategy %s picks between two others: remove %s, only retry can change", append(waits, "sync")...)
		return strategy.Strategy{Name: s.Name, Retry: s.Retry, Choice: s.Choice}
	case s.Sync:
		const format = "strategy %s is sync, one plain search: remove %s, or sync"
		refuse(format, waits...)
		refuse("strategy %s is sync, one plain search without an id by which to ask again: remove %s, or poll", "retry")
		if !like.Sync {
			refuse(format, "like")
		}
		return strategy.Strategy{Name: s.Name, Sync: true}
	}
	return s
}

// likeness is what the definition begins with, wherever in it that stands. What is wrong with it is reported when its turn comes.
func likeness(definition ast.Node) (s strategy.Strategy) {
	for _, v := range definition.(*ast.MappingNode).Values {
		if v.Key.GetToken().Value == "like" {
			s, _ = shippedStrategy(v.Value)
			break
		}
	}
	s.Name = ""
	return s
}

func shippedStrategy(n ast.Node) (strategy.Strategy, error) {
	name, err := text(n)
	if err != nil {
		return strategy.Strategy{}, err
	}
	s, ok := strategy.Named(name)
	if !ok {
		return strategy.Strategy{}, errors.New(unknown("strategy", name, strategy.Names()))
	}
	return s, nil
}

// retries reads a number of them; none is the word for 0.
func retries(n ast.Node) (int, error) {
	if t, ok := n.(*ast.StringNode); ok && t.Value == "none" {
		return 0, nil
	}
	if _, ok := n.(*ast.IntegerNode); !ok {
		return 0, wrong(n, "none or a whole number")
	}
	return whole(n)
}

func ask(n ast.Node) (strategy.Ask, error) {
	t, ok := n.(*ast.StringNode)
	if ok && slices.Contains([]strategy.Ask{strategy.ByResult, strategy.ByStatus}, strategy.Ask(t.Value)) {
		return strategy.Ask(t.Value), nil
	}
	return "", wrong(n, "result or status")
}

func (d *decoder) tier(path string, n ast.Node) strategy.Tier {
	var t strategy.Tier
	seen := d.mapping(path, n, []field{
		{"under", optional, value(d, &t.Under, duration)},
		{"sleep", required, value(d, &t.Sleep, duration)},
	}, nil)
	// In a Tier zero stands for none, so an explicit one is caught here.
	if under, given := seen["under"]; given && !d.broken(key(path, "under")) && t.Under.Duration <= 0 {
		d.fail(key(path, "under"), start(under), "under: %v is not over 0: leave under out where the last tier is to hold from then on", t.Under)
	}
	return t
}

// followBase is the base that remains when the strategies have changed, or the default one.
func followBase(base string, strategies []strategy.Strategy) string {
	for _, name := range []string{base, "traditional"} {
		if slices.ContainsFunc(strategies, func(s strategy.Strategy) bool { return s.Name == name }) {
			return name
		}
	}
	if len(strategies) == 0 {
		return ""
	}
	return strategies[0].Name
}

// names lists the strategies for a message.
func names(strategies []strategy.Strategy) string {
	var all []string
	for _, s := range strategies {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

// strategyRules judges the strategies that are not shipped: those are what they are.
func strategyRules(s Scenario) (found []violation) {
	for i, st := range s.Strategies {
		path := item("strategies", i)
		if slices.Contains(strategy.Names(), st.Name) {
			continue
		}
		found = append(found, nameRule(key(path, "name"), "strategy", st.Name)...)
		found = append(found, waitRule(key(path, "submit_wait"), st.Name, "submit_wait", st.SubmitWait.Duration)...)
		found = append(found, waitRule(key(path, "poll_wait"), st.Name, "poll_wait", st.PollWait.Duration)...)
		found = append(found, tierRules(path, st)...)
		found = append(found, pauseRules(path, st)...)
		found = append(found, amount(key(path, "retry"), "retries of strategy "+quote(st.Name), st.Retry, 0, maxRetry)...)
	}
	return found
}

func tierRules(path string, st strategy.Strategy) (found []violation) {
	for i, t := range st.Tiers {
		at := item(key(path, "tiers"), i)
		found = append(found, waitRule(key(at, "sleep"), st.Name, "sleep", t.Sleep.Duration)...)
		found = append(found, waitRule(key(at, "under"), st.Name, "under", t.Under.Duration)...)
		last := i == len(st.Tiers)-1
		switch {
		case t.Under.Duration == 0 && !last:
			found = append(found, breach(fmt.Sprintf("strategy %s: a tier without under holds for ever: it must be the last", quote(st.Name)), at))
		case i > 0 && t.Under.Duration != 0 && t.Under.Duration <= st.Tiers[i-1].Under.Duration:
			found = append(found, breach(fmt.Sprintf("strategy %s: under %v comes after under %v: put the tiers in rising order",
				quote(st.Name), t.Under, st.Tiers[i-1].Under), key(at, "under"), key(path, "tiers")))
		}
	}
	return found
}

// pauseRules finds where a strategy would poll without a pause, which measures the machine and not the waiting.
func pauseRules(path string, st strategy.Strategy) (found []violation) {
	held := st.PollWait.Duration
	if st.Poll == strategy.ByStatus {
		held = 0
	}
	if st.Sync || st.Choice != nil || held < 0 || held >= minPause {
		return nil
	}
	const busy = "strategy %s would poll in a busy loop%s: %s"
	wayOut := "let it sleep, or give a poll_wait"
	if st.Poll == strategy.ByStatus {
		wayOut = "let it sleep, for a status is never held"
	}
	add := func(at, when, wayOut string) {
		found = append(found, breach(fmt.Sprintf(busy, quote(st.Name), when, wayOut), at, path))
	}
	if len(st.Tiers) == 0 {
		add(path, "", wayOut)
		return found
	}
	for i, t := range st.Tiers {
		at := item(key(path, "tiers"), i)
		if t.Sleep.Duration >= 0 && t.Sleep.Duration+held < minPause {
			add(key(at, "sleep"), fmt.Sprintf(" with a sleep of %v", t.Sleep), wayOut)
		}
		if i == len(st.Tiers)-1 && t.Under.Duration > 0 {
			add(key(at, "under"), fmt.Sprintf(" once %v have passed", t.Under), "let the last tier leave out under")
		}
	}
	return found
}
