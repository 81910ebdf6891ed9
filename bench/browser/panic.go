package browser

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Panic is a panic made an error. On a goroutine it would end the program on the spot, and servers that were started for a run would go on without it; an
// error ends the run, and who ends a run closes them.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

// Error implements error.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Guard calls f and returns its error, or its panic as a [*Panic].
func Guard(f func() error) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = &Panic{why, debug.Stack()}
		}
	}()
	return f()
}

// goroutines starts all those of a browser. A panic on one of them breaks the browser, and what it was to tell is never told: who waits for that does so
// by [await].
type goroutines struct {
	once   sync.Once
	broken chan struct{} // closed by the first panic
	why    error         // it was broken
}

// start calls f on a goroutine.
func (g *goroutines) start(f func()) { go g.guard(f) }

// guard calls f on a goroutine that somebody else has started.
func (g *goroutines) guard(f func()) {
	if err := Guard(func() error { f(); return nil }); err != nil {
		g.once.Do(func() {
			g.why = err
			close(g.broken)
		})
	}
}

// await waits for what is told, or the panic that keeps it from being told.
func await[T any](g *goroutines, told <-chan T) (T, error) {
	select {
	case got := <-told:
		return got, nil
	case <-g.broken:
		var none T
		return none, g.why
	}
}
