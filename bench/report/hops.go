package report

import (
	"slices"

	"pollbench/bench/analysis"
)

// hop is what a browser had in front of it: a protocol, over a topology.
type hop struct{ protocol, topology string }

func hopOf(c analysis.Cell) hop { return hop{c.Protocol, c.Topology} }

// hops lists those of an analysis, in its order.
func hops(a analysis.Analysis) []hop { return distinct(a.Cells, hopOf) }

func strategies(a analysis.Analysis) []string {
	return distinct(a.Cells, func(c analysis.Cell) string { return c.Strategy })
}

func distinct[T any, V comparable](of []T, value func(T) V) []V {
	var all []V
	for _, x := range of {
		if v := value(x); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// apart tells whether results are of several topologies, or of one that is not plainly direct: then the protocol alone does not name them.
func apart(a analysis.Analysis) bool {
	return slices.ContainsFunc(a.Cells, func(c analysis.Cell) bool { return c.Topology != direct })
}

const direct = "direct"

// name is how a sentence says it.
func (h hop) name(a analysis.Analysis) string {
	if apart(a) {
		return protocol(h.protocol) + " over " + h.topology
	}
	return protocol(h.protocol)
}

// columns are the hop's columns in a table of several hops, and hopHeader is what stands above them.
func (h hop) columns(a analysis.Analysis) []string {
	if apart(a) {
		return []string{protocol(h.protocol), h.topology}
	}
	return []string{protocol(h.protocol)}
}

func hopHeader(a analysis.Analysis) []string {
	if apart(a) {
		return []string{"protocol", "topology"}
	}
	return []string{"protocol"}
}

// cells lists those of a hop and strategy that have a finished trial.
func (h hop) cells(a analysis.Analysis, strategy string) []analysis.Cell {
	var cells []analysis.Cell
	for _, c := range a.Cells {
		if hopOf(c) == h && c.Strategy == strategy && c.Finished > 0 {
			cells = append(cells, c)
		}
	}
	return cells
}
