import http2 from 'node:http2';
import https from 'node:https';
import { onlyKeys, refuse, state } from './state.js';

const sessions = new Map();
let agent;

function trust() {
  return { ca: state.ca, rejectUnauthorized: !state.options.insecureSkipTLSVerify };
}

// asyncRequest resolves with status 0 where there is no answer, as k6 does unless it is told to throw.
async function asyncRequest(method, url, body, params) {
  if (!state.running) {
    refuse('a request while the script is loaded');
  }
  if (method !== method.toUpperCase() || (body !== null && typeof body !== 'string')) {
    refuse(`${method} with a body of type ${typeof body}`);
  }
  onlyKeys('a request', params, ['headers', 'tags', 'timeout']);
  state.inFlight++;
  state.mostInFlight = Math.max(state.mostInFlight, state.inFlight);
  try {
    const answer = await (state.http1 ? overHTTP1 : overH2)(method, new URL(url), body, params.headers);
    return { ...answer, json: () => JSON.parse(answer.body) };
  } catch (e) {
    return { status: 0, error: String(e), headers: {}, body: null };
  } finally {
    state.inFlight--;
  }
}

// collect gathers an answer; names of header fields are written as k6 writes them.
function collect(stream, proto, status, headers, resolve, reject) {
  const parts = [];
  stream.on('data', (part) => parts.push(part));
  stream.on('error', reject);
  stream.on('end', () => {
    const canonical = {};
    for (const [name, value] of Object.entries(headers)) {
      canonical[name.replace(/(^|-)[a-z]/g, (c) => c.toUpperCase())] = String(value);
    }
    resolve({ status, proto, headers: canonical, body: Buffer.concat(parts).toString() });
  });
}

function overHTTP1(method, url, body, headers) {
  agent = agent || new https.Agent({ keepAlive: true, maxFreeSockets: state.options.batchPerHost, ...trust() });
  return new Promise((resolve, reject) => {
    const request = https.request(url, { method, headers, agent }, (answer) =>
      collect(answer, `HTTP/${answer.httpVersion}`, answer.statusCode, answer.headers, resolve, reject));
    request.on('error', reject);
    request.end(body);
  });
}

function overH2(method, url, body, headers) {
  return new Promise((resolve, reject) => {
    if (!sessions.has(url.origin)) {
      const session = http2.connect(url.origin, trust());
      session.on('error', () => sessions.delete(url.origin)); // its streams tell
      sessions.set(url.origin, session);
    }
    const request = sessions.get(url.origin).request({ ':method': method, ':path': url.pathname + url.search, ...headers });
    request.on('error', reject);
    request.on('response', (answer) => collect(request, 'HTTP/2.0', answer[':status'], answer, resolve, reject));
    request.end(body);
  });
}

export function closeAll() {
  sessions.forEach((session) => session.close());
  if (agent) {
    agent.destroy();
  }
}

export default { asyncRequest };
