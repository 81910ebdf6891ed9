package analysis

import (
	"cmp"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// describe computes the cell's statistics and sets the model beside them.
func (c *cell) describe(s scenario.Scenario, expected expectation) Cell {
	loads := c.values(load)
	d := Cell{
		Delay: c.delay, Strategy: c.strategy, Protocol: string(c.protocol), Topology: c.topology, Driver: "virtual",
		Trials: c.planned, Finished: len(c.finished), Failed: len(c.trials) - len(c.finished),
		Load:     Tail{interval(loads), quantile(loads, 0.95, minP95)},
		Overhead: interval(c.values(c.overhead(s))),
		Wasted:   wasted(c.finished, func(record.Search) bool { return true }),
		Outcomes: c.outcomes(s),
		Model:    expected.model,
		Warnings: []string{},
	}
	for i, g := range s.Groups {
		d.Groups = append(d.Groups, Group{
			Name: g.Name, Delay: groupDelay(s, i, c.swept), Drawn: g.Distribution != nil, Panels: g.Panels,
			Delivered: interval(c.values(delivered(g.Name))),
			Wasted:    wasted(c.finished, func(x record.Search) bool { return x.Group == g.Name }),
		})
	}
	if n := s.Tabs.Number(); n > 1 {
		for tab := 1; tab <= n; tab++ {
			d.Tabs = append(d.Tabs, Tab{
				Tab: tab, Load: interval(c.values(tabLoad(tab))),
				Wasted:     wasted(c.finished, func(x record.Search) bool { return x.Tab == tab }),
				Bystanders: interval(c.values(bystander(tab))),
			})
		}
	}
	if s.Bystanders != nil {
		d.Bystanders = c.bystanders()
	}
	c.connections(&d)
	d.Warnings = append(d.Warnings, doubts(d, expected)...)
	return d
}

// outcomes counts what became of the searches. A trial without any has failed to open its page, and with it all panels have.
func (c *cell) outcomes(s scenario.Scenario) Outcomes {
	var o Outcomes
	for _, t := range c.trials {
		if len(t.Searches) == 0 {
			o.Failed += len(s.Panels(c.swept, t.Repeat)) * s.Tabs.Number()
		}
		for _, x := range t.Searches {
			o.Retries += x.Retries
			switch x.Outcome {
			case record.OK:
				o.OK++
			case record.TimedOut:
				o.TimedOut++
			case record.Hidden:
				o.Hidden++
			default:
				o.Failed++
			}
		}
	}
	return o
}

// wasted summarises the wasted time of the searches that count. Hidden ones never do: nobody waits for them any more.
func wasted(trials []record.Trial, counts func(record.Search) bool) Wasted {
	var all []float64
	sums := parts{}
	for _, t := range trials {
		for _, s := range t.Searches {
			if s.Outcome == record.Hidden || !counts(s) {
				continue
			}
			p := split(t.From(s), s)
			all = append(all, p.sum().Seconds())
			for a, part := range p {
				sums[a] += part
			}
		}
	}
	if len(all) == 0 {
		return Wasted{}
	}
	part := func(a Activity) *float64 { return ptr(sums[a].Seconds() / float64(len(all))) }
	w := Wasted{Median: median(all), Sleep: part(Sleep), Slot: part(Slot), Network: part(Network), Server: part(Server)}
	w.Mean = ptr(*w.Sleep + *w.Slot + *w.Network + *w.Server)
	return w
}

// bystanders summarises the small requests: the interval is over the trials' medians, the 95th percentile over all requests.
func (c *cell) bystanders() *Bystanders {
	b := &Bystanders{}
	var all, slot []float64
	for _, t := range c.finished {
		for _, one := range t.Bystanders {
			b.Sent++
			if one.Error != "" {
				b.Failed++
				continue
			}
			all = append(all, (one.Request.Done - one.Intended).Seconds())
			slot = append(slot, (one.Request.Slot - one.Request.Queued).Seconds())
		}
	}
	b.Latency = Tail{interval(c.values(bystander(0))), quantile(all, 0.95, minP95)}
	b.Slot = mean(slot)
	return b
}

// connections counts requests and connections, and says over which protocol the answers came.
func (c *cell) connections(d *Cell) {
	var requests, searches, connections int
	protocols := map[string]bool{}
	for _, t := range c.finished {
		connections = max(connections, t.Connections)
		for _, s := range t.Searches {
			if s.Outcome == record.Hidden {
				continue
			}
			searches++
			requests += len(s.Requests)
			for _, r := range s.Requests {
				if r.Protocol != "" { // else there was no answer
					protocols[r.Protocol] = true
				}
			}
		}
	}
	if searches == 0 {
		return
	}
	d.RequestsPerSearch = ptr(float64(requests) / float64(searches))
	d.Connections = &connections
	seen := "mixed"
	for p := range protocols {
		if len(protocols) == 1 {
			seen = map[string]string{"http/1.1": "http1", "h2": "h2", "h3": "h3"}[p]
		}
	}
	d.ProtocolSeen = ptr(cmp.Or(seen, "mixed"))
}
