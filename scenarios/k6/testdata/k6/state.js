// What the stand-in's modules share. It plays k6's part for one script in node, as far as dashboard.js uses it and stricter than k6: what k6 would ignore, or
// warn of, is an error here. It measures nothing by itself.

export const state = {
  running: false, // false while a script is loaded: then metrics are made, and nothing is requested
  options: {},
  ca: undefined, // of SSL_CERT_FILE
  http1: (process.env.GODEBUG || '').includes('http2client=0'),
  metrics: new Map(),
  inFlight: 0,
  mostInFlight: 0,
};

export function refuse(message) {
  throw new TypeError(`stand-in for k6: ${message}`);
}

export function onlyKeys(what, object, allowed) {
  for (const key of Object.keys(object)) {
    if (!allowed.includes(key)) {
      refuse(`${what} has no ${key}`);
    }
  }
}
