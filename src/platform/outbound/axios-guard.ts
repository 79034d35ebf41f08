import axios from 'axios';

const MAX_BYTES = 8 * 2 ** 20;

const allowed = new Set<string>();

/** For libraries that use `axios` internally: allowed origins only, no redirects, no environment proxy, bounded size and time. */
export function allowAxiosOrigin(base: string, timeoutMs: number): void {
  if (allowed.size === 0) axios.interceptors.request.use((request) => Object.assign(request, boundRequest(axios.getUri(request))));
  allowed.add(new URL(base).origin);
  axios.defaults.timeout = Math.max(axios.defaults.timeout ?? 0, timeoutMs);
}

/** @throws Error for an origin that is not allowed */
function boundRequest(url: string) {
  if (!allowed.has(new URL(url).origin)) throw new Error('a library asked for an origin that is not configured');
  return { proxy: false, maxRedirects: 0, maxContentLength: MAX_BYTES, maxBodyLength: MAX_BYTES } as const;
}
