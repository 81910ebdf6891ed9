package scenario

import "fmt"

func poolRule(s Scenario) []violation {
	if s.SearchPool == 0 { // none was asked for
		return nil
	}
	return amount("search_pool", "threads in search_pool", s.SearchPool, 1, maxSearchPool)
}

// loadRule bounds the whole run. It keeps silent when a factor is out of its own range: that has been said already.
func loadRule(s Scenario) []violation {
	panels := 0
	for _, g := range s.Groups {
		if g.Panels < 1 || g.Panels > MaxPanels {
			return nil
		}
		panels += g.Panels
	}
	if panels > MaxPanels || s.Repeats < 1 || s.Repeats > maxRepeats || s.countPaths() > maxPaths {
		return nil
	}
	delays, variants, tabs := len(s.Sweep()), s.countVariants(), s.Tabs.Number()
	// In floating point, which is exact up to far beyond the limit and does not overflow.
	load := float64(delays) * float64(variants) * float64(s.Repeats) * float64(panels) * float64(tabs)
	if load <= MaxLoad {
		return nil
	}
	inTabs := ""
	if tabs > 1 {
		inTabs = fmt.Sprintf(" × %d tabs", tabs)
	}
	return []violation{breach(fmt.Sprintf("%d delays × %d variants (strategy, protocol, path) × %d repeats × %d panels%s are %.0f searches: take fewer of one of these, for %d at most",
		delays, variants, s.Repeats, panels, inTabs, load, MaxLoad),
		"dashboard.panels", "strategies", "protocols", "topology", "network", "repeats", "tabs")}
}

// countPaths and countVariants count what [Scenario.Paths] and [Scenario.Variants] would list, without making the lists, which of a refused
// scenario could fill the memory.
func (s Scenario) countPaths() int { return max(1, len(s.Topologies)) * max(1, len(s.Networks)) }

func (s Scenario) countVariants() (n int) {
	for _, path := range s.Paths() {
		for _, protocol := range s.Protocols {
			if path.Carries(protocol) {
				n += len(s.Strategies)
			}
		}
	}
	return n
}
