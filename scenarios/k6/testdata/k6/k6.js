import { refuse, state } from './state.js';
import { metric } from './metrics.js';

const AsyncFunction = (async () => {}).constructor;

export function check(value, checks) {
  let all = true;
  for (const [name, passes] of Object.entries(checks)) {
    if (passes instanceof AsyncFunction) {
      refuse(`check "${name}" is asynchronous`);
    }
    const passed = Boolean(passes(value));
    metric('checks', 'rate').add(passed);
    all = all && passed;
  }
  return all;
}

// sleep blocks, as k6's does: whatever is under way would be held up.
export function sleep(seconds) {
  if (!Number.isFinite(seconds) || seconds < 0) {
    refuse(`sleep(${seconds})`);
  }
  if (state.inFlight > 0) {
    refuse('sleep() while requests are under way holds them up');
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000);
}
