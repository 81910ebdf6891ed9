export const setTimeout = globalThis.setTimeout;
export const clearTimeout = globalThis.clearTimeout;
