package analysis

import (
	"time"

	"pollbench/bench/record"
)

// parts is wasted time by what the browser was doing, in µs.
type parts map[Activity]record.Time

// wastes are the parts of wasted time, in the order in which they are shown.
func wastes() []Activity { return []Activity{Sleep, Slot, Network, Server} }

// sum is the whole, which is exactly the search's wasted time.
func (p parts) sum() record.Time {
	var sum record.Time
	for _, t := range p {
		sum += t
	}
	return sum
}

// stretch is a time [from, to) in which the browser did one thing.
type stretch struct {
	from, to record.Time
	activity Activity
}

// stretches tells what the browser was doing for a search at each instant from the page's intended start to delivery.
// They follow each other without gap or overlap: an instant that a server on another clock puts outside its request is moved to the
// request's nearer end.
func stretches(intended record.Time, s record.Search) []stretch {
	var all []stretch
	at := intended
	until := func(t record.Time, a Activity) {
		if t = min(t, s.Delivered); t > at {
			all = append(all, stretch{at, t, a})
			at = t
		}
	}
	for i, r := range s.Requests {
		before := Sleep
		if i == 0 || r.Sleep.Duration == 0 {
			before = Network // a late start, or the reading of an answer
		}
		done := ended(s, i)
		until(r.Queued, before)
		until(r.Slot, Slot)
		until(clamp(r.DashboardIn, r.Slot, done), Network)
		until(clamp(r.DashboardOut, r.DashboardIn, done), Server)
		until(done, Network)
	}
	until(s.Delivered, Network)
	return all
}

// ended is when a request had its answer. One that broke off has no such instant: it ended when the sleep before the next began.
func ended(s record.Search, request int) record.Time {
	switch {
	case s.Requests[request].Done != 0:
		return s.Requests[request].Done
	case request+1 < len(s.Requests):
		next := s.Requests[request+1]
		return next.Queued - record.Time(next.Sleep.Duration/time.Microsecond)
	}
	return s.Delivered
}

// spans lays the search's time on the server over the stretches: its own execution, and before that the wait in a queue of the server's, which is the
// server's whatever the browser does meanwhile. What remains besides the execution is the wasted time.
func spans(intended record.Time, s record.Search) []stretch {
	start, ready := execution(intended, s)
	taken := accepted(s, intended, start)
	var all []stretch
	add := func(from, to record.Time, a Activity) {
		if to > from {
			all = append(all, stretch{from, to, a})
		}
	}
	laid := false
	for _, x := range stretches(intended, s) {
		add(x.from, min(x.to, taken), x.activity)
		if !laid && x.to > taken {
			add(taken, start, Server)
			add(start, ready, Useful)
			laid = true
		}
		add(max(x.from, ready), x.to, x.activity)
	}
	return all
}

// split books each instant of the search's wasted time once.
func split(intended record.Time, s record.Search) parts {
	p := parts{}
	for _, x := range spans(intended, s) {
		if x.activity != Useful {
			p[x.activity] += x.to - x.from
		}
	}
	return p
}

// execution is the search's time on the server, within the time that the page waited for it.
func execution(intended record.Time, s record.Search) (start, ready record.Time) {
	start = clamp(s.Start, intended, s.Delivered)
	return start, clamp(s.Ready, start, s.Delivered)
}

// accepted is when the server took the search, within the time from the page's intended start to the search's own: where the server does not
// tell it, the search did not queue.
func accepted(s record.Search, intended, start record.Time) record.Time {
	if s.Accepted == 0 {
		return start
	}
	return clamp(s.Accepted, intended, start)
}

func clamp(t, lo, hi record.Time) record.Time { return max(lo, min(t, hi)) }
