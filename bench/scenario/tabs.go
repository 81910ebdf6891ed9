package scenario

import (
	"fmt"
	"time"

	"github.com/goccy/go-yaml/ast"
)

const (
	maxTabs          = 100  // of one browser; six connections have long been too few
	maxSearchTimeout = 3600 // seconds: six times what Kibana waits, and what the longest delay is
)

func (d *decoder) tabs(s *Scenario) reader {
	return func(path string, n ast.Node) {
		if _, ok := n.(*ast.MappingNode); !ok {
			value(d, &s.Tabs.Count, natural)(path, n)
			return
		}
		d.mapping(path, n, []field{
			{"count", required, value(d, &s.Tabs.Count, natural)},
			{"every", optional, value(d, &s.Tabs.Every, duration)},
			{"hide", optional, value(d, &s.Tabs.Hide, positive)},
		}, nil)
	}
}

func tabRules(s Scenario) (found []violation) {
	tabs := s.Tabs
	found = amount("tabs.count", "tabs", tabs.Number(), 1, maxTabs)
	if tabs.Every.Duration < 0 || tabs.Every.Duration > maxWait/time.Duration(max(1, tabs.Number()-1)) {
		found = append(found, breach(fmt.Sprintf("%d tabs every %v: the last starts 0s to %ds after the first", tabs.Number(), tabs.Every, MaxDelay),
			"tabs.every", "tabs.count"))
	}
	if tabs.Hide.Duration > maxWait {
		found = append(found, breach(fmt.Sprintf("tabs hide after %v: take over 0s to %ds", tabs.Hide, MaxDelay), "tabs.hide"))
	}
	if tabs.Hide.Duration > 0 && tabs.Number() == 1 {
		found = append(found, breach("a single tab stays: give more to hide, or remove hide", "tabs.hide", "tabs.count"))
	}
	return found
}

func timeoutRule(s Scenario) []violation {
	if s.SearchTimeout.Duration <= maxSearchTimeout*time.Second {
		return nil
	}
	return []violation{breach(fmt.Sprintf("search_timeout %v: take over 0s to %ds", s.SearchTimeout, maxSearchTimeout), "search_timeout")}
}

// onDisconnect reads whether the dashboard server keeps a search.
func onDisconnect(n ast.Node) (keep bool, err error) {
	if word, ok := n.(*ast.StringNode); ok && (word.Value == "cancel" || word.Value == "keep") {
		return word.Value == "keep", nil
	}
	return false, wrong(n, "cancel or keep")
}
