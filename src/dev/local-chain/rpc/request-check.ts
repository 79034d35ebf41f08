import type { IncomingHttpHeaders } from 'node:http';

/** Anvil's own limit. */
export const MAX_BODY_BYTES = 2 * 2 ** 20;

export interface RequestRejection {
  status: 400 | 403 | 405 | 413 | 415;
  message: string;
}

/** Browsers add `Origin` to each WebSocket and POST, and DNS rebinding cannot change the name in `Host`. Programs send no `Origin`. */
export function findOriginRejection({ origin, host }: IncomingHttpHeaders, port: number): RequestRejection | null {
  if (origin !== undefined) return { status: 403, message: 'Pages in a browser may not call the local chain: the request has an Origin' };
  if (['127.0.0.1', 'localhost', '[::1]'].some((name) => host === `${name}:${port}`)) return null;
  return { status: 403, message: `Host must be 127.0.0.1:${port} or localhost:${port}` };
}

/** Also rejects what a page can send without a preflight request: GET, and content types other than JSON. */
export function findHttpRejection(method: string | undefined, headers: IncomingHttpHeaders, port: number): RequestRejection | null {
  const rejection = findOriginRejection(headers, port);
  if (rejection !== null) return rejection;
  if (method !== 'POST') return { status: 405, message: 'JSON-RPC is called by POST or over a WebSocket' };
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/json' ? null : { status: 415, message: 'Content-Type must be application/json' };
}
