package scenario

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (d *decoder) dashboard(s *Scenario) reader {
	return func(path string, n ast.Node) {
		d.mapping(path, n, []field{
			{"panels", required, list(d, &s.Groups, "a list of groups such as [{count: 10, delay: 5s}]", d.group)},
			{"payload", optional, value(d, &s.Payload, size)},
		}, nil)
		for i := range s.Groups {
			at := item(key(path, "panels"), i)
			if _, given := d.places[key(at, "name")]; given || slices.Contains(d.failed, at) {
				continue
			}
			if len(s.Groups) == 1 {
				s.Groups[i].Name = "panels"
				continue
			}
			d.fail(key(at, "name"), d.places[at], "%s lacks the field \"name\": where there are several groups, each has its own", subject(at))
		}
	}
}

func (d *decoder) group(path string, n ast.Node) Group {
	var g Group
	d.mapping(path, n, []field{
		{"name", optional, value(d, &g.Name, text)},
		{"count", required, value(d, &g.Panels, whole)},
		{"delay", required, d.delay(&g)},
		{"fault", optional, d.fault(&g)},
	}, nil)
	return g
}

// delay reads a fixed delay, a sweep or a distribution.
func (d *decoder) delay(g *Group) reader {
	return func(path string, n ast.Node) {
		several, _ := n.(*ast.StringNode)
		switch n.(type) {
		case *ast.MappingNode:
			var drawn Distribution
			mix := field{"mix", optional, d.mix(&drawn)}
			given := d.oneOf(path, n, append([]field{{"sweep", optional, d.sweep(g)}}, append(d.drawn(&drawn), mix)...), bareDelay)
			if !slices.Contains(given, "sweep") {
				g.Distribution = &drawn
			}
			return
		case *ast.SequenceNode:
			d.fail(path, start(n), "%sseveral delays are a sweep: write {sweep: […]}", prefix(path))
			return
		}
		if several != nil && (strings.Contains(several.Value, ",") || strings.Contains(several.Value, "..")) {
			d.fail(path, start(n), "%sseveral delays are a sweep: write {sweep: %s}", prefix(path), quote(several.Value))
			return
		}
		value(d, &g.Delay, duration)(path, n)
	}
}

// bareDelay is the hint for {sweep: 1s, 2s}, which YAML reads as a field called 2s.
func bareDelay(key string) string {
	if _, err := ParseDelays(key); err != nil {
		return ""
	}
	return quote(key) + " is outside the sweep: put the delays in brackets, {sweep: [1s, 2s]}"
}

// sweep reads a text of delays or a list of such texts, part by part.
func (d *decoder) sweep(g *Group) reader {
	return func(path string, n ast.Node) {
		elements := []ast.Node{n}
		if seq, ok := n.(*ast.SequenceNode); ok {
			elements = seq.Values
		}
		for _, element := range elements {
			switch element.(type) {
			case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
			default:
				d.fail(path, start(element), "%s%v", prefix(path), wrong(element, "a delay or range such as 10s or 1s..23s"))
				continue
			}
			for part := range strings.SplitSeq(element.GetToken().Value, ",") {
				delays, err := appendDelays(g.Sweep, part)
				if err != nil {
					d.fail(path, start(element), "%s%v", prefix(path), err)
					continue
				}
				for i := len(g.Sweep); i < len(delays); i++ {
					d.places[item(path, i)] = start(element)
				}
				g.Sweep = delays
			}
		}
		if len(elements) == 0 {
			d.fail(path, start(n), "%san empty list: %s", prefix(path), delayForm)
		}
	}
}

func (d *decoder) bystanders(s *Scenario) reader {
	return func(path string, n ast.Node) {
		off := false
		switch n := n.(type) {
		case *ast.NullNode:
			off = true
		case *ast.BoolNode:
			off = !n.Value
		case *ast.StringNode:
			off = n.Value == "off"
		case *ast.MappingNode:
			d.mapping(path, n, []field{
				{"every", optional, value(d, &s.Bystanders.Every, duration)},
				{"size", optional, value(d, &s.Bystanders.Size, size)},
			}, nil)
			return
		}
		if !off {
			d.fail(path, start(n), "%s%v", prefix(path), wrong(n, "off or {every: 500ms, size: 200B}"))
		}
		s.Bystanders = nil
	}
}

func (d *decoder) protocol(path string, n ast.Node) Protocol {
	var name string
	value(d, &name, text)(path, n)
	return Protocol(name)
}
