import axios from 'axios';

const MAX_BYTES = 8 * 2 ** 20;

const allowed = new Set<string>();

/**
 * Bounds what libraries send by `axios`, which cannot be given a client: only to origins that were allowed here, without redirects and
 * without the proxy of the environment, within a size and a time.
 * @param base URL of a server that the operator has named
 * @param timeoutMs for one request
 */
export function allowAxiosOrigin(base: string, timeoutMs: number): void {
  if (allowed.size === 0) axios.interceptors.request.use((request) => Object.assign(request, boundRequest(axios.getUri(request))));
  allowed.add(new URL(base).origin);
  axios.defaults.timeout = Math.max(axios.defaults.timeout ?? 0, timeoutMs);
}

/** @throws Error for an origin that was not allowed */
function boundRequest(url: string) {
  if (!allowed.has(new URL(url).origin)) throw new Error('a library asked for an origin that is not configured');
  return { proxy: false, maxRedirects: 0, maxContentLength: MAX_BYTES, maxBodyLength: MAX_BYTES } as const;
}
