import { type ClientRequest, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { OracleError } from '../../errors.ts';
import type { CheckedTarget } from '../target.ts';

const MAX_HEADER_BYTES = 8_192;

/** Opens a request to a checked target, at an address that was checked. The caller writes its body and ends it. */
export function openGuardedRequest({ url, addresses }: CheckedTarget, options: Pick<RequestOptions, 'method' | 'headers'>): ClientRequest {
  const { protocol, hostname, host, port, pathname, search } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const request = protocol === 'https:' ? requestHttps : requestHttp;
  return request({
    method: options.method,
    hostname: name,
    port: port === '' ? undefined : Number(port),
    path: `${pathname}${search}`,
    headers: { ...options.headers, Host: host },
    lookup: pinAddresses(addresses),
    // No agent: shares no connection or TLS session with another target, and ignores the environment proxy.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Explicit: an environment variable could disable it.
    rejectUnauthorized: true,
    // RFC 6066: an IP address is no server name.
    servername: isIP(name) === 0 ? name : '',
  });
}

/** Resolves every lookup of the connection to the checked addresses. */
function pinAddresses(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, done) => {
    if (all) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  };
}

export async function rejectOnAbort<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(timeoutError());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** The system's error code only: a message could contain bytes of the receiver. */
export function getErrorCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'EFAILED';
}

export const timeoutError = () => unreachableError('ETIMEDOUT');

// Without a cause: parser and TLS errors contain bytes of the receiver.
export function unreachableError(reason: string): OracleError {
  return new OracleError('TARGET_UNREACHABLE', `The URL does not answer (${reason})`, {
    suggestedAction: 'Check that the receiver is up, answers in time, and has a certificate that is valid for its name.',
    details: { reason },
  });
}
