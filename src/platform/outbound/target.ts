import { isIP } from 'node:net';
import { withTimeout } from '../concurrency/with-timeout.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { isLoopbackAddress, requirePublicAddress } from './public-address.ts';

/** Resolves all addresses of a host name; rejects if there are none. */
export type ResolveHostname = (hostname: string) => Promise<readonly string[]>;

export interface TargetRules {
  /** For development: also allows loopback addresses, over plain HTTP too. */
  allowLocal: boolean;
  resolve: ResolveHostname;
}

export interface CheckedTarget {
  url: string;
  /** The checked addresses to connect to. Never empty with `unresolved: 'refuse'`. */
  addresses: readonly string[];
}

/** Treatment of a host name without an address, or with a slow lookup. */
export type UnresolvedPolicy = 'refuse' | 'accept';

export const MAX_URL_CHARS = 2_048;

/** Names that never resolve on the public internet (RFC 6761, 6762, 8375; ICANN reserves `internal`). */
const LOCAL_HOSTNAMES = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/;
const MAX_RESOLVE_MS = 3_000;

/** A name may resolve differently later: each connection repeats the check. @throws OracleError INPUT_INVALID naming `url`; RATE_LIMITED */
export async function checkTarget(text: string, rules: TargetRules, unresolved: UnresolvedPolicy = 'refuse'): Promise<CheckedTarget> {
  const { allowLocal, resolve } = rules;
  const url = parseTarget(text, allowLocal);
  const host = normalizeHostname(url);
  const { addresses, cause } = isIP(host) === 0 ? await resolveHost(host, resolve) : { addresses: [host] };
  if (addresses.length === 0) {
    // Plain HTTP is allowed to this machine only, which an unresolved name may not be.
    if (unresolved === 'refuse' || url.protocol !== 'https:') throw hostNotFoundError(cause);
    return { url: url.href, addresses };
  }
  const local = allowLocal && addresses.every(isLoopbackAddress);
  if (local) return { url: url.href, addresses };
  if (url.protocol !== 'https:') throw invalidUrlError('must begin with https://');
  addresses.forEach(requirePublicAddress);
  return { url: url.href, addresses };
}

/** Without a name lookup. @throws OracleError INPUT_INVALID naming `url` */
export function parseTarget(text: string, allowLocal: boolean): URL {
  if (text.length > MAX_URL_CHARS) throw invalidUrlError(`must have at most ${MAX_URL_CHARS} characters`);
  const url = URL.parse(text);
  if (url === null) throw invalidUrlError('must be an absolute URL');
  if (!allowLocal && isLocalMachine(url)) throw localTargetError();
  const secure = url.protocol === 'https:' || (allowLocal && url.protocol === 'http:');
  if (!secure) throw invalidUrlError('must begin with https://');
  if (url.href.length > MAX_URL_CHARS) throw invalidUrlError(`must have at most ${MAX_URL_CHARS} characters`);
  if (url.username !== '' || url.password !== '') throw invalidUrlError('must have no user name and no password');
  if (url.href.includes('#')) throw invalidUrlError('must have no fragment');
  if (url.port === '0') throw invalidUrlError('must have a port from 1 to 65535');
  requirePublicHost(url, text, allowLocal);
  const host = normalizeHostname(url);
  // Without the trailing dot of an absolute name: one host has one spelling.
  if (url.hostname.endsWith('.')) url.hostname = host;
  return url;
}

/** By the text alone: the addresses of other names are not disclosed. */
function isLocalMachine(url: URL): boolean {
  const host = normalizeHostname(url);
  return /^https?:$/.test(url.protocol) && (host === 'localhost' || isLoopbackAddress(host));
}

function requirePublicHost(url: URL, text: string, allowLocal: boolean): void {
  if (url.hostname.endsWith('..')) throw invalidUrlError('must name a host with at most one dot at its end');
  const host = normalizeHostname(url);
  if (isIP(host) !== 0) {
    // Other URL parsers read 010.0.0.1, 0x7f.1 or 2130706433 as different addresses.
    const usual = text.toLowerCase().startsWith(`${url.protocol}//${url.hostname}`);
    if (!usual) throw invalidUrlError('must spell an IP address the usual way: four decimal numbers, or IPv6 in its shortest form');
    return;
  }
  if (allowLocal && host === 'localhost') return;
  if (!host.includes('.') || LOCAL_HOSTNAMES.test(host)) throw invalidUrlError('must name a host of the public internet');
}

/** The host of a URL, normalized for counting: lower case, without trailing dots. Empty for an invalid URL. */
export function getHostname(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? '' : normalizeHostname(parsed).toLowerCase();
}

function normalizeHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
}

/** Returns no addresses if there are none or the lookup fails, with its cause. @throws OracleError RATE_LIMITED if no lookup was made */
async function resolveHost(host: string, resolve: ResolveHostname): Promise<{ addresses: readonly string[]; cause?: unknown }> {
  try {
    return { addresses: await withTimeout(MAX_RESOLVE_MS, resolve(host), () => new Error(`no answer within ${MAX_RESOLVE_MS} ms`)) };
  } catch (cause) {
    if (isOracleError(cause, 'RATE_LIMITED')) throw tooManyLookupsError(cause);
    return { addresses: [], cause };
  }
}

function hostNotFoundError(cause: unknown): OracleError {
  return new OracleError('INPUT_INVALID', 'The host of the URL could not be found', {
    field: 'url',
    suggestedAction: 'Check the host name; if it is new, try again in some minutes.',
    cause,
  });
}

function tooManyLookupsError(cause: OracleError): OracleError {
  return new OracleError('RATE_LIMITED', 'Too many host names are being looked up', {
    suggestedAction: 'Retry in a few seconds.',
    retryAfterSeconds: cause.retryAfterSeconds ?? 5,
    cause,
  });
}

function localTargetError(): OracleError {
  return new OracleError('INPUT_INVALID', 'Hosts of this machine are called only with PUSH_LOCAL_TARGETS=allow', {
    field: 'url',
    suggestedAction:
      'Name a host of the public internet. To call this machine while developing, start the service with PUSH_LOCAL_TARGETS=allow (local chain only).',
  });
}

function invalidUrlError(rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `The URL ${rule}`, { field: 'url' });
}
