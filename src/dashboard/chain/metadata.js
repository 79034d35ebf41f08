import { readBoundedBytes } from './bounded-body.js';

const MAX_METADATA_BYTES = 200_000;
const MINUTE_MS = 60_000;
/** The page shares the rate limit of its address, so metadata must not use all of it. */
const MAX_REQUESTS_PER_MINUTE = 25;

/** @typedef {{ bytes: Uint8Array } | { problem: string }} Metadata */

/**
 * Fetches published metadata by CID. Content-addressed data never changes and is cached; requests per minute are limited.
 * @param {{ fetch: (path: string, request: RequestInit) => Promise<Response>, now: () => number }} world
 */
export function createMetadataReader({ fetch, now }) {
  /** @type {Map<string, Metadata>} */
  const cache = new Map();
  /** @type {number[]} times of the requests of the last minute */
  let requestTimes = [];

  /** @param {string} cid @param {AbortSignal} signal @returns {Promise<Metadata>} */
  async function load(cid, signal) {
    try {
      const response = await fetch(`ipfs/${cid}`, { signal });
      if (!response.ok) return { problem: `the service answers with status ${response.status}` };
      return { bytes: await readBoundedBytes(response, MAX_METADATA_BYTES) };
    } catch (error) {
      if (signal.aborted) throw error;
      return { problem: 'the service does not return it' };
    }
  }

  /** @param {string} cid @param {AbortSignal} signal @returns {Promise<Metadata>} */
  return async (cid, signal) => {
    const kept = cache.get(cid);
    if (kept !== undefined) return kept;
    requestTimes = requestTimes.filter((at) => at > now() - MINUTE_MS);
    if (requestTimes.length >= MAX_REQUESTS_PER_MINUTE)
      return { problem: 'the rate limit of the service is used up: try again in a minute' };
    requestTimes.push(now());
    const loaded = await load(cid, signal);
    if ('bytes' in loaded) cache.set(cid, loaded);
    return loaded;
  };
}
