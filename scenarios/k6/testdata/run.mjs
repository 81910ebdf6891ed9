// Runs a script as `k6 run` would, with the stand-in's modules, and prints its metrics as JSON: node run.mjs SCRIPT. The script's settings are the
// environment's. It ends with k6's codes: 99 if a threshold was missed, 107 if the script failed.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { closeAll } from 'k6/http';
import { onlyKeys, refuse, state } from 'k6/state';

const compare = {
  '==': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b,
};

function missed(options) {
  const found = [];
  for (const [name, expressions] of Object.entries(options.thresholds)) {
    for (const expression of expressions) {
      const parts = /^([a-z0-9().]+)(==|!=|<=|>=|<|>)([0-9]+(?:\.[0-9]+)?)$/.exec(expression) || refuse(`no threshold: ${expression}`);
      const values = state.metrics.get(name) || refuse(`a threshold of ${name}, which is no metric`);
      if (values.values.length > 0 && !compare[parts[2]](values.aggregate(parts[1]), Number(parts[3]))) {
        found.push(`${name} ${expression}`);
      }
    }
  }
  return found;
}

// play has each virtual user load the script for itself. They take turns, since the stand-in's sleep() blocks them all.
async function play(script, scenario) {
  onlyKeys('a scenario', scenario, ['executor', 'vus', 'iterations', 'maxDuration']);
  if (scenario.executor !== 'per-vu-iterations' || !/^[0-9]+s$/.test(scenario.maxDuration)) {
    refuse(`scenario ${JSON.stringify(scenario)}`);
  }
  for (let user = 1; user <= scenario.vus; user++) {
    state.running = false;
    const own = await import(`${script}?user=${user}`);
    state.running = true;
    for (let i = 0; i < scenario.iterations; i++) {
      await own.default();
    }
  }
}

try {
  globalThis.__ENV = process.env;
  if (process.env.SSL_CERT_FILE) {
    state.ca = readFileSync(process.env.SSL_CERT_FILE);
  }
  const script = pathToFileURL(process.argv[2]).href;
  const { options } = await import(script);
  onlyKeys('options', options, ['scenarios', 'thresholds', 'batchPerHost', 'insecureSkipTLSVerify', 'summaryTrendStats']);
  state.options = options;
  for (const scenario of Object.values(options.scenarios)) {
    await play(script, scenario);
  }
  closeAll();
  const metrics = {};
  state.metrics.forEach((m) => (metrics[m.name] = m.values));
  const failed = missed(options);
  console.log(JSON.stringify({ metrics, missed: failed, most_in_flight: state.mostInFlight }));
  process.exitCode = failed.length > 0 ? 99 : 0;
} catch (e) {
  console.error(e);
  process.exitCode = 107;
}
