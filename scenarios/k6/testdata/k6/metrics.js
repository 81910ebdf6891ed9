import { refuse, state } from './state.js';

class Metric {
  constructor(name, type) {
    this.name = name;
    this.type = type;
    this.values = [];
  }

  add(value) {
    if (this.type !== 'rate' && !(Number.isFinite(value) && value >= 0)) {
      refuse(`metric ${this.name} cannot be ${value}`);
    }
    this.values.push(Number(value));
  }

  // aggregate is one of the values that a threshold may name.
  aggregate(name) {
    const sorted = [...this.values].sort((a, b) => a - b);
    const sum = sorted.reduce((a, b) => a + b, 0);
    const quantile = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
    const percentile = /^p\(([0-9.]+)\)$/.exec(name);
    if (this.type === 'trend' && percentile) {
      return quantile(percentile[1] / 100);
    }
    const known = {
      trend: { avg: sum / sorted.length, min: sorted[0], max: sorted[sorted.length - 1], med: quantile(0.5) },
      counter: { count: sum },
      rate: { rate: sum / sorted.length },
    }[this.type];
    return name in known ? known[name] : refuse(`a ${this.type} has no ${name}`);
  }
}

// metric returns the one of that name, and makes it the first time: each virtual user loads the script anew.
export function metric(name, type) {
  if (!state.metrics.has(name)) {
    state.metrics.set(name, new Metric(name, type));
  }
  const found = state.metrics.get(name);
  return found.type === type ? found : refuse(`metric ${name} is a ${found.type} already`);
}

function made(name, type) {
  if (state.running) {
    refuse(`metric ${name} is made too late`);
  }
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) ? metric(name, type) : refuse(`no name of a metric: ${name}`);
}

export class Trend {
  constructor(name, isTime) {
    if (isTime !== undefined && typeof isTime !== 'boolean') {
      refuse(`trend ${name}: ${isTime}`);
    }
    return made(name, 'trend');
  }
}

export class Counter {
  constructor(name) {
    return made(name, 'counter');
  }
}
