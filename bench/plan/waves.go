package plan

import "time"

// waves gives out starts, so that no more searches than most are at work at once; 0: there is a single wave without a limit.
type waves struct {
	most    int
	load    int // searches of one trial
	spacing time.Duration
	busy    func(Trial) time.Duration

	wave     int           // from 1
	searches int           // in this wave
	next     time.Duration // start of the next trial
	done     time.Duration // when the last search of this wave is
}

// open is told how many trials belong together. They get a wave of their own if this one has no room for all of them and another would.
func (w *waves) open(trials int) {
	if need := trials * w.load; w.searches+need > w.most && need <= w.most {
		w.begin()
	}
}

// start of a trial. The wave is 0 if there is only one.
func (w *waves) start(t Trial) (start time.Duration, wave int) {
	if w.most > 0 && (w.wave == 0 || w.searches+w.load > w.most) {
		w.begin()
	}
	start = w.next
	w.next += w.spacing
	w.searches += w.load
	if w.most > 0 { // else nobody waits for its end
		w.done = max(w.done, start+w.busy(t))
	}
	return start, w.wave
}

func (w *waves) begin() {
	if w.wave > 0 {
		w.next = w.done + pause
	}
	w.wave++
	w.searches = 0
}
