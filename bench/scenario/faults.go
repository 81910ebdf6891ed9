package scenario

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"pollbench/bench/clock"
)

// Limits of a fault.
const (
	maxOrdinal = 1000 // a request about a search: polls 0.6 s apart would reach it in the longest search
	maxShards  = 1000 // as many as a node of Elasticsearch commonly has
)

func (d *decoder) fault(g *Group) reader {
	return func(path string, n ast.Node) {
		g.Fault = &Fault{}
		f := g.Fault
		if _, ok := n.(*ast.MappingNode); !ok {
			value(d, &f.Kind, faultKind)(path, n)
			return
		}
		d.mapping(path, n, []field{
			{"kind", required, value(d, &f.Kind, faultKind)},
			{"on", optional, d.ordinals(&f.On)},
			{"retry_after", optional, value(d, &f.RetryAfter, positive)},
			{"over", optional, value(d, &f.Over, positive)},
			{"failed", optional, value(d, &f.Failed, natural)},
			{"of", optional, value(d, &f.Of, natural)},
		}, nil)
		// Spelled-out defaults, which are not to change the hash. What a kind has no default for is left to the rules.
		if f.Kind != SearchFails && slices.Equal(f.On, []int{1}) {
			f.On = nil
		}
		if f.Kind == SlowBody && f.Over.Duration == time.Second {
			f.Over = clock.Seconds{}
		}
	}
}

// ordinals reads the requests that a fault strikes, at least one.
func (d *decoder) ordinals(into *[]int) reader {
	return func(path string, n ast.Node) {
		list(d, into, "a list such as [1, 2]", func(path string, n ast.Node) (ordinal int) {
			value(d, &ordinal, whole)(path, n)
			return ordinal
		})(path, n)
		if seq, ok := n.(*ast.SequenceNode); ok && len(seq.Values) == 0 {
			d.fail(path, start(n), "on is empty: name a request, such as 1 for the first poll, or leave the field out")
		}
	}
}

func faultKind(n ast.Node) (FaultKind, error) {
	word, ok := n.(*ast.StringNode)
	if !ok {
		return "", wrong(n, "a kind of fault such as unavailable")
	}
	if kind := FaultKind(word.Value); slices.Contains(FaultKinds(), kind) {
		return kind, nil
	}
	var valid []string
	for _, kind := range FaultKinds() {
		valid = append(valid, string(kind))
	}
	return "", errors.New(unknown("fault", word.Value, valid))
}

func faultRules(path string, g Group) (found []violation) {
	if g.Fault == nil {
		return nil
	}
	f := *g.Fault
	add := func(at, format string, args ...any) {
		found = append(found, breach(fmt.Sprintf("group %s: ", quote(g.Name))+fmt.Sprintf(format, args...), key(path, at)))
	}
	only := func(at string, given bool, kinds ...FaultKind) {
		if given && !slices.Contains(kinds, f.Kind) {
			found = append(found, breach(fmt.Sprintf("group %s: the fault %s knows no %q: remove it", quote(g.Name), f.Kind, at),
				key(path, at), key(path, "kind")))
		}
	}
	only("on", len(f.On) > 0, slices.DeleteFunc(FaultKinds(), func(k FaultKind) bool { return k == SearchFails })...)
	only("retry_after", f.RetryAfter.Duration != 0, TooManyRequests, Unavailable)
	only("over", f.Over.Duration != 0, SlowBody)
	only("failed", f.Failed != 0, SearchFails)
	only("of", f.Of != 0, SearchFails)
	for i, ordinal := range f.On {
		switch {
		case ordinal < 0 || ordinal > maxOrdinal:
			add(item("on", i), "on %d: take 0 to %d", ordinal, maxOrdinal)
		case slices.Contains(f.On[:i], ordinal):
			add(item("on", i), "on %d is there twice: remove one", ordinal)
		}
	}
	if after := f.RetryAfter.Duration; after > maxWait || after%time.Second != 0 {
		add("retry_after", "retry_after %v: take 1s to %ds, in whole seconds", after, MaxDelay)
	}
	if f.Over.Duration > maxWait {
		add("over", "over %v: take over 0s to %ds", f.Over, MaxDelay)
	}
	const together = "failed and of belong together, as in {failed: 1, of: 3}"
	switch {
	case f.Failed > 0 && f.Of == 0:
		add("failed", together)
	case f.Failed == 0 && f.Of > 0:
		add("of", together)
	case f.Of > maxShards:
		add("of", "of %d shards: take at most %d", f.Of, maxShards)
	case f.Failed > f.Of:
		add("failed", "failed %d of %d shards: take at most all", f.Failed, f.Of)
	}
	return found
}
