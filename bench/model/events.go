package model

import (
	"container/heap"
	"slices"
	"time"
)

// events is virtual time: what is planned happens in order of time, and of planning where times are equal.
type events struct {
	now     time.Duration
	planned agenda
	count   int
}

func (e *events) at(t time.Duration, f func()) {
	e.count++
	heap.Push(&e.planned, event{t, e.count, f})
}

func (e *events) run() {
	for len(e.planned) > 0 {
		next := heap.Pop(&e.planned).(event)
		e.now = next.at
		next.f()
	}
}

type event struct {
	at    time.Duration
	order int
	f     func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = slices.Delete(*a, len(*a)-1, len(*a))
	return last
}
