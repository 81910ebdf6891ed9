// Plays dashboards of slow searches and measures how long they load: run it with your own k6 (1.0 or later) against `pollbench serve`.
//
//   pollbench serve --dashboard-port 5601 --ca-file ca.pem
//   SSL_CERT_FILE=ca.pem k6 run -e BASE_URL=https://127.0.0.1:5601 -e STRATEGY=continuous -e DELAY=6s dashboard.js
//
// A load asks for all its panels at once, each with a search that takes DELAY, and ends when the last panel has its result. While a panel waits, or
// sleeps between two polls, the others go on, as in a browser. README.md tells what may be set and how to read the numbers.

import { check, sleep } from 'k6';
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import { setTimeout } from 'k6/timers';

// Times are in milliseconds: k6 has no finer clock than Date.
const settings = {
  base: text('BASE_URL', /^https?:\/\/[^/]+$/, 'an address such as https://127.0.0.1:5601, as `pollbench serve` prints it'),
  strategy: text('STRATEGY', /^(traditional|continuous|fallback)$/, 'traditional, continuous or fallback', 'traditional'),
  panels: count('PANELS', 10, 1000),
  delay: duration('DELAY', '5s'),
  loads: count('LOADS', 3, 100000),
  users: count('USERS', 1, 1000),
  pause: duration('PAUSE', '1s'),
};

// Kibana's table: how long the browser sleeps before the next poll, by the search's age.
const backoff = [
  { under: 1500, sleep: 300 },
  { under: 5000, sleep: 1000 },
  { under: 20000, sleep: 2500 },
  { under: Infinity, sleep: 5000 },
];

// What each strategy's poll asks for. Without retrieveResults the dashboard server asks for the status, and for the result only once there is one.
const strategy = {
  traditional: { retrieveResults: false, wait: '200ms', tiers: backoff },
  continuous: { retrieveResults: true, wait: '30s', tiers: [{ under: Infinity, sleep: 0 }] },
  fallback: { retrieveResults: true, wait: '0ms', tiers: backoff },
}[settings.strategy];

// How much longer than DELAY a load may take: the longest sleep that may fall on the search's end, a queue for slots, and something for the machine.
const allowance = duration('ALLOWANCE', `${sleepAt(settings.delay) + 200 * Math.ceil(settings.panels / 6) + 500}ms`);

export const options = {
  scenarios: {
    dashboards: {
      executor: 'per-vu-iterations',
      vus: settings.users,
      iterations: settings.loads,
      maxDuration: `${Math.ceil((settings.loads * (settings.delay + allowance + settings.pause)) / 500 + 60)}s`, // twice of what is allowed, and a minute
    },
  },
  thresholds: {
    checks: ['rate==1'],
    dashboard_load: [`p(95)<${settings.delay + allowance}`],
    wasted_time: [`avg<${allowance}`],
  },
  // k6 keeps so many idle connections to one host: with fewer, each load over HTTP/1.1 would make new ones. It does not limit asyncRequest,
  // whose limit is the slots below.
  batchPerHost: 6,
  insecureSkipTLSVerify: __ENV.INSECURE === '1',
  summaryTrendStats: ['min', 'avg', 'med', 'p(95)', 'max'],
};

const dashboardLoad = new Trend('dashboard_load', true); // from the page's first request to its last result
const wastedTime = new Trend('wasted_time', true); // of a search: all but its own time
const slotWait = new Trend('slot_wait', true); // of a request: for a connection
const polls = new Counter('polls');

// There is no group() around it: a group does not wait for what is asynchronous.
export default async function () {
  const page = await open();
  if (page !== null) {
    const began = Date.now();
    const searches = [];
    for (let i = 0; i < settings.panels; i++) {
      searches.push(search(page));
    }
    const results = await Promise.all(searches);
    // A load with a failed panel has ended early, or late: it is a failed check, not a time.
    if (results.every((ok) => ok)) {
      dashboardLoad.add(Date.now() - began);
    }
  }
  sleep(settings.pause / 1000); // nothing is under way, so that it holds up nobody
}

// open makes the connections of a page that has been opened before its load: one of h2, or the 6 that browsers have with HTTP/1.1. It returns null if
// nobody answers.
async function open() {
  const first = await send('GET', '/api/status', null);
  if (!check(first, { 'the dashboard server answers': (answer) => answer.status === 200 })) {
    return null;
  }
  if (first.proto === 'HTTP/2.0') {
    return slots(256); // Chromium's own limit
  }
  const further = [];
  for (let i = 0; i < 6; i++) {
    further.push(send('GET', '/api/status', null));
  }
  await Promise.all(further);
  return slots(6);
}

// search plays one panel and returns whether it has its result.
async function search(page) {
  const asked = Date.now();
  let answer = await page.send('POST', '/internal/search/ese', {
    params: {
      index: 'pollbench',
      body: { size: 8, aggs: { wait: { shard_delay: { value: `${settings.delay}ms` } } } },
      wait_for_completion_timeout: '200ms',
    },
    stream: true,
  });
  let state = read(answer);
  const id = state.id;
  while (state.is_running === true && id) {
    await pause(sleepAt(Date.now() - asked));
    answer = await page.send('POST', `/internal/search/ese/${encodeURIComponent(id)}`, {
      params: { wait_for_completion_timeout: strategy.wait },
      retrieveResults: strategy.retrieveResults,
      stream: true,
    });
    polls.add(1);
    state = read(answer);
  }
  const took = Date.now() - asked;
  const ok = check(state, { 'a search has its result': (s) => s.is_running === false && s.is_partial === false });
  if (ok) {
    wastedTime.add(Math.max(0, took - ownTime(answer))); // Date is cut to whole milliseconds
  }
  return ok;
}

// read returns what the answer says, and nothing of one that failed.
function read(answer) {
  if (answer.status !== 200) {
    return {};
  }
  try {
    return answer.json();
  } catch (e) {
    return {};
  }
}

// ownTime is how long the search itself took. `pollbench serve` tells its start and its end, in microseconds of a clock that need not be ours; of other
// servers it is known only how long it should have taken.
function ownTime(answer) {
  const instant = (name) => {
    const found = new RegExp(`(?:^|[ ,])${name};dur=([0-9]+)`).exec(answer.headers['Server-Timing'] || '');
    return found === null ? NaN : Number(found[1]);
  };
  const took = (instant('search-ready') - instant('search-start')) / 1000;
  return Number.isNaN(took) ? settings.delay : took;
}

// slots lets so many requests be under way at once, as a browser does; the others queue, first in first out.
function slots(number) {
  let free = number;
  const queue = [];
  const take = () => {
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve) => queue.push(resolve));
  };
  const give = () => {
    if (queue.length > 0) {
      queue.shift()();
    } else {
      free++;
    }
  };
  return {
    send: async (method, path, body) => {
      const queued = Date.now();
      await take();
      slotWait.add(Date.now() - queued);
      const answer = await send(method, path, body);
      give();
      return answer;
    },
  };
}

// send never fails: a request that got no answer has status 0, as k6 has it.
async function send(method, path, body) {
  const params = {
    headers: { 'kbn-xsrf': 'k6', 'elastic-api-version': '1', 'x-elastic-internal-origin': 'Kibana' },
    tags: { name: path.startsWith('/internal/search/ese/') ? 'poll' : path }, // else each search would have metrics of its own
    timeout: '60s', // twice the longest poll
  };
  if (body !== null) {
    params.headers['content-type'] = 'application/json';
  }
  try {
    return await http.asyncRequest(method, settings.base + path, body === null ? null : JSON.stringify(body), params);
  } catch (e) {
    return { status: 0 };
  }
}

function sleepAt(age) {
  return strategy.tiers.find((tier) => age < tier.under).sleep;
}

// pause lets the other panels go on; k6's sleep() would hold them all.
function pause(time) {
  return time === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, time));
}

// text, count and duration read the settings, and end the run before it begins if one of them is wrong.
function text(name, form, wanted, otherwise) {
  const value = __ENV[name] || otherwise || '';
  if (!form.test(value)) {
    throw new Error(`${name} "${value}": set it to ${wanted}, with -e ${name}=…`);
  }
  return value;
}

function count(name, otherwise, most) {
  const n = Number(text(name, /^[0-9]+$/, `a whole number of 1 to ${most}`, String(otherwise)));
  if (n < 1 || n > most) {
    throw new Error(`${name} ${n}: set it to a whole number of 1 to ${most}, with -e ${name}=…`);
  }
  return n;
}

function duration(name, otherwise) {
  const value = text(name, /^[0-9]+(\.[0-9]+)?(ms|s)$/, 'a time such as 6s, 1.5s or 300ms', otherwise);
  return Math.round(parseFloat(value) * (value.endsWith('ms') ? 1 : 1000));
}
