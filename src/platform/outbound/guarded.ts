import { Resolver } from 'node:dns/promises';
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isOracleError, OracleError } from '../../errors.ts';
import { Semaphore, type SemaphoreLimits } from '../concurrency.ts';
import { withTimeout } from '../time.ts';

interface ResolveOptions {
  /** Name servers, each an address with optional port; default: those of the system. */
  servers?: readonly string[];
  timeoutMs?: number;
  limits?: SemaphoreLimits;
}

export const LOOKUP_LIMITS = { maxConcurrent: 8, maxQueued: 8, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/** Not `getaddrinfo`, which blocks one of the few threads of the process while a name server is silent. @throws OracleError RATE_LIMITED */
export function createResolver({ servers, timeoutMs = 1_500, limits = LOOKUP_LIMITS }: ResolveOptions = {}): ResolveHostname {
  const semaphore = new Semaphore(limits);
  return async (hostname) => {
    if (hostname === 'localhost') return LOOPBACK;
    return semaphore.run(() => {
      // One per lookup, since the system's name servers may change.
      const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
      if (servers !== undefined) resolver.setServers(servers);
      return resolveAddresses(hostname, resolver);
    });
  };
}

/** Addresses that arrived in time: only these are called. */
async function resolveAddresses(hostname: string, resolver: Resolver): Promise<readonly string[]> {
  const timer = setTimeout(() => resolver.cancel(), MAX_RESOLVE_MS);
  try {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves all addresses of a host name; rejects if there are none. */
export type ResolveHostname = (hostname: string) => Promise<readonly string[]>;

export interface TargetRules {
  /** For development: also allows loopback addresses, over plain HTTP too. */
  allowLocal: boolean;
  resolve: ResolveHostname;
}

interface CheckedTarget {
  url: string;
  /** The checked addresses to connect to. Never empty with `unresolved: 'refuse'`. */
  addresses: readonly string[];
}

/** Treatment of a host name without an address, or with a slow lookup. */
type UnresolvedPolicy = 'refuse' | 'accept';

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

/** Addresses of hosts on the public internet, RFC 4291. Excludes forms that embed an IPv4 address, which would evade its rules. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether a host on the public internet can have this IP address; false for text that is no address, or has a zone. */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip);
  // Special-purpose ranges of the IANA registries, multicast and tunnels are no unicast.
  if (address?.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

export function isLoopbackAddress(ip: string): boolean {
  return parseAddress(ip)?.range() === 'loopback';
}

/** @throws OracleError INPUT_INVALID for an address outside the public internet; names `url` and not the address */
export function requirePublicAddress(ip: string): void {
  if (isPublicAddress(ip)) return;
  throw new OracleError('INPUT_INVALID', 'The URL leads to an address that is not on the public internet', {
    field: 'url',
    suggestedAction: 'Name a host whose every address is public.',
  });
}

function parseAddress(ip: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ip.includes('%') || isIP(ip) === 0 ? null : ipaddr.parse(ip);
}

export interface PostRequest {
  /** A client-supplied URL, checked right before the connection. */
  url: string;
  /** Headers besides `Host`, `Content-Length` and `Connection`, without line breaks. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Covers name lookup, connection, TLS, request and response. */
  timeoutMs: number;
  rules: TargetRules;
  signal?: AbortSignal;
  /** Returns the beginning of the answer's body, for protocols in which it counts. */
  keepsAnswer?: true;
}

export interface PostResult {
  /** A redirect is a response like any other. */
  status: number;
  durationMs: number;
  /** From `Retry-After` (RFC 9110, section 10.2.3): 0 for a past time, null if absent or malformed. */
  retryAfterSeconds: number | null;
  /** Bytes of the receiver, which belong in no log, error or record. Only with `keepsAnswer`. */
  answer?: string;
}

type PostAnswer = Omit<PostResult, 'durationMs'>;

/** Response bytes read so that the sender can finish. */
const MAX_BYTES_READ = 4_096;

/**
 * The only way to post to a client-supplied URL. Connects to an address checked for this request, which defeats DNS rebinding. Errors contain
 * nothing from the receiver. @throws OracleError INPUT_INVALID naming `url`; TARGET_UNREACHABLE; RATE_LIMITED, with nothing sent
 */
export async function postGuarded(post: PostRequest): Promise<PostResult> {
  const started = performance.now();
  const deadline = AbortSignal.any([AbortSignal.timeout(post.timeoutMs), ...(post.signal === undefined ? [] : [post.signal])]);
  const target = await rejectOnAbort(deadline, checkTarget(post.url, post.rules, 'accept'));
  if (target.addresses.length === 0) throw unreachableError('ENOTFOUND');
  const headers = { ...post.headers, 'Content-Length': Buffer.byteLength(post.body) };
  const answer = await readAnswer(openGuardedRequest(target, { method: 'POST', headers }), post, deadline);
  return { ...answer, durationMs: Math.round(performance.now() - started) };
}

function readAnswer(request: ClientRequest, { body, keepsAnswer }: PostRequest, deadline: AbortSignal): Promise<PostAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  let response: IncomingMessage | undefined;
  const chunks: Buffer[] = [];
  // After a status line the response counts, even if its body breaks off.
  const end = (error?: unknown) => {
    if (response !== undefined) resolve(toAnswer(response, keepsAnswer ? chunks : null));
    else reject(deadline.aborted ? timeoutError() : unreachableError(getErrorCode(error)));
  };
  const giveUp = () => request.destroy();
  deadline.addEventListener('abort', giveUp, { once: true });
  request.on('error', end).on('close', end);
  request.on('response', (begun) => {
    response = begun;
    readResponse(begun.on('error', end).on('close', end), chunks, giveUp);
  });
  request.end(body);
  if (deadline.aborted) giveUp();
  return promise.finally(() => deadline.removeEventListener('abort', giveUp));
}

function toAnswer(response: IncomingMessage, chunks: readonly Buffer[] | null): PostAnswer {
  const answer = chunks === null ? {} : { answer: Buffer.concat(chunks).toString('utf8') };
  return { status: response.statusCode!, retryAfterSeconds: parseRetryAfter(response), ...answer };
}

/** IMF-fixdate, the only format that senders may generate (RFC 9110, section 5.6.7). */
const HTTP_DATE = /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/;
const parseHttpDate = (date = '') => (HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN);

/** A date is relative to the receiver's clock, from its `Date` header. */
function parseRetryAfter({ headers: { 'retry-after': after, date } }: IncomingMessage): number | null {
  if (after === undefined) return null;
  if (/^\d{1,9}$/.test(after)) return Number(after);
  const seconds = (parseHttpDate(after) - parseHttpDate(date)) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

function readResponse(response: IncomingMessage, chunks: Buffer[], stop: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes >= MAX_BYTES_READ) stop();
  });
}

const MAX_HEADER_BYTES = 8_192;

/** Opens a request to a checked target, at an address that was checked. The caller writes its body and ends it. */
function openGuardedRequest({ url, addresses }: CheckedTarget, options: Pick<RequestOptions, 'method' | 'headers'>): ClientRequest {
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

async function rejectOnAbort<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(timeoutError());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** The system's error code only: a message could contain bytes of the receiver. */
function getErrorCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'EFAILED';
}

const timeoutError = () => unreachableError('ETIMEDOUT');

// Without a cause: parser and TLS errors contain bytes of the receiver.
function unreachableError(reason: string): OracleError {
  return new OracleError('TARGET_UNREACHABLE', `The URL does not answer (${reason})`, {
    suggestedAction: 'Check that the receiver is up, answers in time, and has a certificate that is valid for its name.',
    details: { reason },
  });
}

interface GetRequest {
  /** A client-supplied URL, checked right before the connection. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** A longer body breaks the request off. */
  maxBytes: number;
  /** Covers name lookup, connection, TLS, request and response. */
  timeoutMs: number;
  rules: TargetRules;
}

interface GetResult {
  /** A redirect is a response like any other. */
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * The only way to read a client-supplied URL. Connects to an address checked for this request, which defeats DNS rebinding.
 * @throws OracleError INPUT_INVALID naming `url`; TARGET_UNREACHABLE, also for a body beyond `maxBytes`; RATE_LIMITED, with nothing sent
 */
export async function getGuarded({ url, headers, maxBytes, timeoutMs, rules }: GetRequest): Promise<GetResult> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const target = await rejectOnAbort(deadline, checkTarget(url, rules));
  // A compressed body could inflate beyond its limit.
  const request = openGuardedRequest(target, { method: 'GET', headers: { ...headers, 'Accept-Encoding': 'identity' } });
  return rejectOnAbort(deadline, readGuardedGetResponse(request, maxBytes)).finally(() => request.destroy());
}

function readGuardedGetResponse(request: ClientRequest, maxBytes: number): Promise<GetResult> {
  const { promise, resolve, reject } = Promise.withResolvers<GetResult>();
  const fail = (error?: unknown) => reject(unreachableError(getErrorCode(error)));
  request.on('error', fail).on('close', fail);
  request.on('response', (response) => {
    // From here on the body decides.
    request.off('close', fail);
    readBody(response, maxBytes).then((body) => resolve({ status: response.statusCode!, headers: response.headers, body }), fail);
  });
  request.end();
  return promise;
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw Object.assign(new Error('the body is too large'), { code: 'E_TOO_LARGE' });
    chunks.push(chunk);
  }
  if (!response.complete) throw timeoutError();
  return Buffer.concat(chunks);
}

/** Connects to a Unix socket, which other machines and browser pages cannot reach. */
export function connectUnixSocket(path: string): Socket {
  return connect({ path });
}
