import type { Unread } from '../../verify/evidence.ts';
import { sendWithinLimit } from '../state/api.ts';

const MAX_METADATA_BYTES = 200_000;
const MINUTE_MS = 60_000;
/** The page shares the rate limit of its address, so metadata must not use all of it. */
const MAX_REQUESTS_PER_MINUTE = 25;

/** Fetches published metadata by CID. Content-addressed data never changes and is cached; requests per minute are limited. */
export function createMetadataReader(fetch: (path: string, request: RequestInit) => Promise<Response>, now = Date.now) {
  const cache = new Map<string, Uint8Array>();
  /** Times of the requests of the last minute. */
  let requestTimes: number[] = [];

  return async (cid: string, signal: AbortSignal): Promise<Uint8Array | Unread> => {
    const kept = cache.get(cid);
    if (kept !== undefined) return kept;
    requestTimes = requestTimes.filter((at) => at > now() - MINUTE_MS);
    if (requestTimes.length >= MAX_REQUESTS_PER_MINUTE)
      return { problem: 'the rate limit of the service is used up: try again in a minute' };
    requestTimes.push(now());
    try {
      const response = await sendWithinLimit(() => fetch(`ipfs/${cid}`, { signal }), signal);
      if (!response.ok) return { problem: `the service answers with status ${response.status}` };
      const bytes = await readBoundedBytes(response, MAX_METADATA_BYTES);
      cache.set(cid, bytes);
      return bytes;
    } catch (error) {
      if (signal.aborted) throw error;
      return { problem: 'the service does not return it' };
    }
  };
}

/** Reads a body up to a limit, since a server may send without end. */
async function readBoundedBytes({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = body?.getReader();
  for (let length = 0; ; ) {
    const value = (await reader?.read())?.value;
    if (value === undefined) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    length += value.length;
    if (length > maxBytes) {
      await reader?.cancel();
      throw new Error('its response is too large');
    }
    chunks.push(value);
  }
}
