import type { IncomingHttpHeaders } from 'node:http';

/** As much as anvil itself takes. */
export const MAX_BODY_BYTES = 2 * 2 ** 20;

/** Why a request is refused, with its status of HTTP. */
export interface RequestRejection {
  status: 400 | 403 | 405 | 413 | 415;
  message: string;
}

/**
 * Refuses what a page in a browser can send. Browsers add `Origin` to each WebSocket and each POST of a page, and put the name that was
 * looked up into `Host`, which DNS rebinding cannot change. Programs send no `Origin`.
 * @param port That the endpoint listens on.
 */
export function findOriginRejection({ origin, host }: IncomingHttpHeaders, port: number): RequestRejection | null {
  if (origin !== undefined) return { status: 403, message: 'Pages in a browser may not call the local chain: the request has an Origin' };
  if (['127.0.0.1', 'localhost', '[::1]'].some((name) => host === `${name}:${port}`)) return null;
  return { status: 403, message: `Host must be 127.0.0.1:${port} or localhost:${port}` };
}

/** The same, and what a page can send without a preflight request: GET, and bodies of other types than JSON. */
export function findHttpRejection(method: string | undefined, headers: IncomingHttpHeaders, port: number): RequestRejection | null {
  const rejection = findOriginRejection(headers, port);
  if (rejection !== null) return rejection;
  if (method !== 'POST') return { status: 405, message: 'JSON-RPC is called by POST or over a WebSocket' };
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/json' ? null : { status: 415, message: 'Content-Type must be application/json' };
}
