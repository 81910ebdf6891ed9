package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	bench "pollbench/bench/run"
)

// progress tells, while a run lasts, how far it is: on a terminal in one line that is written over, elsewhere in a line now and then.
type progress struct {
	out   io.Writer
	live  bool // the line is written over
	every time.Duration
	total time.Duration // that the run takes by the model
	name  string

	mu    sync.Mutex
	state bench.Progress
	stop  chan struct{}
	done  sync.WaitGroup
}

func checkProgress(mode string) error {
	switch mode {
	case "auto", "plain", "none":
		return nil
	}
	return fmt.Errorf("no way %q to show progress: choose auto, plain or none", mode)
}

func newProgress(mode string, out io.Writer, j job) *progress {
	p := &progress{out: out, every: 5 * time.Second, total: bench.Lasts(j.scenario, j.plan), name: j.scenario.Name, stop: make(chan struct{})}
	if f, ok := out.(*os.File); ok && mode == "auto" && term.IsTerminal(int(f.Fd())) {
		p.live, p.every = true, 200*time.Millisecond
	}
	if mode == "none" {
		return p
	}
	// Without it, nobody would know for the first seconds what goes on.
	fmt.Fprintf(out, "%s: %d loads, about %s after warming up\n", p.name, len(j.plan.Trials), p.total.Round(time.Second))
	p.done.Go(p.run)
	return p
}

func (p *progress) update(s bench.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
}

func (p *progress) run() {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.print()
		}
	}
}

func (p *progress) print() {
	p.mu.Lock()
	s := p.state
	p.mu.Unlock()
	line := fmt.Sprintf("%s: warming up", p.name)
	if !s.Began.IsZero() {
		left := max(p.total-time.Since(s.Began), 0)
		line = fmt.Sprintf("%s: %d of %d loads done, %d in flight, %d failed, about %s left",
			p.name, s.Done, s.Planned, s.InFlight, s.Failed, left.Round(time.Second))
	}
	if p.live {
		line = "\r\x1b[K" + line
	} else {
		line += "\n"
	}
	fmt.Fprint(p.out, line)
}

// end stops the telling and leaves the terminal's line clean.
func (p *progress) end() {
	close(p.stop)
	p.done.Wait()
	if p.live {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
