import { isIP } from 'node:net';
import { isOracleError, OracleError } from '../errors.ts';
import { isLoopbackAddress, requirePublicAddress } from './public-address.ts';

/** All addresses of a host name. Rejects when it has none. */
export type ResolveHostname = (hostname: string) => Promise<readonly string[]>;

export interface TargetRules {
  /** For development: hosts of this machine are targets too, also over plain http. */
  allowLocal: boolean;
  resolve: ResolveHostname;
}

/** A callback that may be called: its URL in one spelling, and the addresses that were checked, to connect to one of them. */
export interface CheckedTarget {
  url: string;
  /** Never empty where `unresolved` is `refuse`. */
  addresses: readonly string[];
}

/** What becomes of a host name that leads nowhere at present, or is looked up for too long. */
export type UnresolvedPolicy = 'refuse' | 'accept';

export const MAX_URL_CHARS = 2_048;

/** Names that never lead to another host of the public internet (RFC 6761, 6762, 8375; `internal` is reserved by ICANN). */
const LOCAL_HOSTNAMES = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/;

const MAX_RESOLVE_MS = 3_000;

/**
 * Checks a callback's URL, and where its host leads: each address must be on the public internet. A name can lead elsewhere
 * later, so this is asked again before each connection, which then goes to one of the addresses found here.
 * @param unresolved `accept` for a URL that is only written down: whoever looks the name up later decides.
 * @throws OracleError INPUT_INVALID naming `url`; RATE_LIMITED when too many names are being looked up to look for this one.
 */
export async function checkTarget(text: string, rules: TargetRules, unresolved: UnresolvedPolicy = 'refuse'): Promise<CheckedTarget> {
  const { allowLocal, resolve } = rules;
  const url = parseTarget(text, allowLocal);
  const host = normalizeHostname(url);
  const { addresses, cause } = isIP(host) === 0 ? await resolveHost(host, resolve) : { addresses: [host] };
  if (addresses.length === 0) {
    // Over plain http only this machine is called, and whether the name leads here is not known.
    if (unresolved === 'refuse' || url.protocol !== 'https:') throw hostNotFoundError(cause);
    return { url: url.href, addresses };
  }
  const local = allowLocal && addresses.every(isLoopbackAddress);
  if (local) return { url: url.href, addresses };
  if (url.protocol !== 'https:') throw invalidUrlError('must begin with https://');
  addresses.forEach(requirePublicAddress);
  return { url: url.href, addresses };
}

/** The URL as far as its text tells. @throws OracleError INPUT_INVALID naming `url` */
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
  // The dot that ends a full name says nothing here: one host has one spelling.
  if (url.hostname.endsWith('.')) url.hostname = host;
  return url;
}

/** As far as its text tells: where another name leads is nobody's business who asks. */
function isLocalMachine(url: URL): boolean {
  const host = normalizeHostname(url);
  return /^https?:$/.test(url.protocol) && (host === 'localhost' || isLoopbackAddress(host));
}

function requirePublicHost(url: URL, text: string, allowLocal: boolean): void {
  if (url.hostname.endsWith('..')) throw invalidUrlError('must name a host with at most one dot at its end');
  const host = normalizeHostname(url);
  if (isIP(host) !== 0) {
    // Other readers of URLs take 010.0.0.1, 0x7f.1 or 2130706433 for other addresses than this one does.
    const usual = text.toLowerCase().startsWith(`${url.protocol}//${url.hostname}`);
    if (!usual) throw invalidUrlError('must spell an IP address the usual way: four decimal numbers, or IPv6 in its shortest form');
    return;
  }
  if (allowLocal && host === 'localhost') return;
  if (!host.includes('.') || LOCAL_HOSTNAMES.test(host)) throw invalidUrlError('must name a host of the public internet');
}

/** The host that a URL names, in the one spelling that it is counted under: lower case, without dots at its end. Empty for no URL. */
export function getHostname(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? '' : normalizeHostname(parsed).toLowerCase();
}

/** Without the brackets of IPv6 and the dot that ends a full name. */
function normalizeHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
}

/** No addresses when there are none; also when nobody tells, and then why. @throws OracleError RATE_LIMITED when nobody was asked */
async function resolveHost(host: string, resolve: ResolveHostname): Promise<{ addresses: readonly string[]; cause?: unknown }> {
  try {
    return { addresses: await withTimeout(MAX_RESOLVE_MS, resolve(host)) };
  } catch (cause) {
    if (isOracleError(cause, 'RATE_LIMITED')) throw tooManyLookupsError(cause);
    return { addresses: [], cause };
  }
}

async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
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
    suggestedAction: 'Ask again in some seconds.',
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
