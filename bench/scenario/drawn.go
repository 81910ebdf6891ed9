package scenario

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// maxWeight keeps the sum of all weights finite.
const maxWeight = 1e6

// drawn is the fields of a distribution. A mix is not among them: there are no mixes in a mix, which could only say what a longer one says.
func (d *decoder) drawn(into *Distribution) []field {
	return []field{
		{"lognormal", optional, func(path string, n ast.Node) {
			into.Lognormal = &Lognormal{}
			d.mapping(path, n, []field{
				{"p50", required, value(d, &into.Lognormal.P50, duration)},
				{"p95", required, value(d, &into.Lognormal.P95, duration)},
			}, nil)
		}},
		{"empirical", optional, d.empirical(into)},
	}
}

func (d *decoder) mix(into *Distribution) reader {
	return func(path string, n ast.Node) {
		list(d, &into.Mix, "a list such as [{weight: 7, delay: 500ms}, {weight: 3, delay: 4s}]", d.share)(path, n)
		if seq, ok := n.(*ast.SequenceNode); ok && len(seq.Values) == 0 {
			d.fail(path, start(n), "%san empty list: give it shares such as {weight: 7, delay: 500ms}", prefix(path))
		}
	}
}

func (d *decoder) share(path string, n ast.Node) (s Share) {
	d.mapping(path, n, []field{
		{"weight", required, value(d, &s.Weight, number)},
		{"delay", required, func(path string, n ast.Node) {
			if _, ok := n.(*ast.MappingNode); ok {
				d.oneOf(path, n, d.drawn(&s.Of), nil)
				return
			}
			value(d, &s.Of.Fixed, duration)(path, n)
		}},
	}, nil)
	return s
}

// distributionRules judges what a group's delay is drawn from. Measured delays have been judged line by line.
func distributionRules(path, group string, d Distribution) (found []violation) {
	switch {
	case d.Lognormal != nil:
		at := key(path, "lognormal")
		p50, p95 := d.Lognormal.P50, d.Lognormal.P95
		found = append(found, delayRule(key(at, "p50"), group, "p50", p50)...)
		found = append(found, delayRule(key(at, "p95"), group, "p95", p95)...)
		if len(found) == 0 && p95.Duration <= p50.Duration {
			found = append(found, breach(fmt.Sprintf("group %s has a p95 of %v and a p50 of %v: give it a p95 over the p50", quote(group), p95, p50),
				key(at, "p95"), key(at, "p50")))
		}
	case len(d.Mix) > 0:
		for i, s := range d.Mix {
			at := item(key(path, "mix"), i)
			if s.Weight <= 0 || s.Weight > maxWeight {
				found = append(found, breach(fmt.Sprintf("group %s has a weight of %v: take over 0 to %.0f", quote(group), s.Weight, maxWeight),
					key(at, "weight")))
			}
			found = append(found, distributionRules(key(at, "delay"), group, s.Of)...)
		}
	case len(d.Empirical) == 0:
		found = delayRule(path, group, "delay", d.Fixed)
	}
	return found
}
