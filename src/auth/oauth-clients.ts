import { createHash, randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { getDomain } from 'tldts';
import type { Address } from 'viem';
import { z } from 'zod';
import { isOracleError, OracleError } from '../errors.ts';
import { BUDGET_INDEX, BUDGET_KEY, type BudgetUnit, RangeBudget, type RangeLimits, type SpentLimit } from '../platform/budgets.ts';
import type { CollectionIndexes } from '../platform/mongo.ts';
import { getGuarded, type TargetRules } from '../platform/outbound/guarded.ts';
import { confirmIfUncertain } from '../platform/retry.ts';
import { joinUrl } from '../platform/service-client.ts';
import { isPlainObject } from '../platform/validation.ts';
import { lowerTier, type PaidTier } from './tiers.ts';

/** A client registered by RFC 7591. Without a consent it is a unit of the registrations of its address ranges, `at` is then its registration. */
interface ClientDoc extends BudgetUnit {
  metadata: Record<string, unknown>;
  expiresAt: Date;
  /** The wallet that allowed it last. */
  usedBy: Address | null;
  usedAt: Date | null;
}

const CLIENTS = 'oauth_clients';
const DOCUMENTS = 'oauth_document_reads';
const USE_KEY = { usedBy: 1, usedAt: -1 } as const;

export const CLIENT_INDEXES = [
  { collection: CLIENTS, indexes: [{ key: USE_KEY }, BUDGET_INDEX] },
  { collection: DOCUMENTS, indexes: [BUDGET_INDEX] },
] satisfies CollectionIndexes[];

/** Of a registration without a consent: its client registers again. */
const UNUSED_CLIENT_LIFETIME_MS = 3_600_000;

/**
 * A registration counts for the hour that it is kept, or until a wallet allows it: consents have no bound but that of a wallet.
 * - Address, 100: a hosted assistant registers its users from a few addresses, and most of those who begin consent within minutes; a
 *   program registers once.
 * - /24 and /56, 200, and /48, 400: offices and egress ranges of assistants; a flood needs 50 such ranges to fill the storage.
 * - No bound over all rejects a registration: that would let those who fill it lock out everybody. `MAX_UNUSED_CLIENTS` bounds the storage
 *   instead, 80 MB at 8 kB each: beyond it the oldest goes, of all for a range with fewer than `OWN_EVICTION`, otherwise of the range's own.
 *   So that 1,000 ranges, all new, are needed to drop a registration in the minutes before its consent.
 * Documents of clients are fetched at the service's expense, and cached for 5 to 60 minutes. A document of a client that wallets have
 * allowed does not count, so that popular assistants are never locked out.
 * - Address 30, /24 and /56 60, /48 120: a browser or a program names a few clients.
 * - All 2,000 within an hour, less than one a second, of which 500 for ranges with fewer than 3.
 */
export const REGISTRATION_LIMITS: RangeLimits = { address: 100, '/24': 200, '/56': 200, '/48': 400 };
const MAX_UNUSED_CLIENTS = 10_000;
const OWN_EVICTION = 10;
export const DOCUMENT_LIMITS: RangeLimits = { address: 30, '/24': 60, '/56': 60, '/48': 120, all: 2_000, reserve: 500, reservePerRange: 3 };

export class ClientStore {
  readonly #clients: Collection<ClientDoc>;
  readonly #registrations: RangeBudget<ClientDoc>;
  readonly #documents: RangeBudget<BudgetUnit>;
  readonly #maxUnused: number;
  readonly #now: () => Date;

  constructor(options: { db: Db; now(): Date; limits?: RangeLimits; maxUnused?: number }) {
    const { db, now, limits = REGISTRATION_LIMITS, maxUnused = MAX_UNUSED_CLIENTS } = options;
    this.#clients = db.collection(CLIENTS);
    this.#registrations = new RangeBudget(this.#clients, { limits, windowMs: UNUSED_CLIENT_LIFETIME_MS });
    const documents = { limits: DOCUMENT_LIMITS, windowMs: UNUSED_CLIENT_LIFETIME_MS };
    this.#documents = new RangeBudget(db.collection<BudgetUnit>(DOCUMENTS), documents);
    this.#maxUnused = maxUnused;
    this.#now = now;
  }

  /** @param address as the rate limits key it @throws OracleError RATE_LIMITED when a share is used up */
  async insert(id: string, metadata: Record<string, unknown>, address: string): Promise<Date> {
    const at = this.#now();
    const expiresAt = new Date(at.getTime() + UNUSED_CLIENT_LIFETIME_MS);
    const fields = { metadata, expiresAt, usedBy: null, usedAt: null };
    const spent = await this.#registrations.take({ id, isFresh: true, address, at, fields });
    if (spent !== null) throw tooManyClientsError(spent, at, 'OAuth clients registered without a consent');
    await this.#evict(id);
    return at;
  }

  /** Counts a document that is about to be fetched. @throws OracleError RATE_LIMITED when a share is used up */
  async countDocument(address: string): Promise<void> {
    const at = this.#now();
    const spent = await this.#documents.take({ id: randomUUID(), isFresh: true, address, at, fields: {} });
    if (spent !== null) throw tooManyClientsError(spent, at, 'OAuth clients looked up');
  }

  async find(id: string): Promise<Record<string, unknown> | undefined> {
    const client = await this.#clients.findOne({ _id: id });
    return client === null || client.expiresAt <= this.#now() ? undefined : client.metadata;
  }

  /** Whether errors may go to its redirect URIs: a wallet has allowed it, or it is none of ours but a metadata document. */
  async mayRedirect(id: string): Promise<boolean> {
    const client = await this.#clients.findOne({ _id: id }, { projection: { usedBy: 1 } });
    return client === null || client.usedBy !== null;
  }

  /** A wallet has allowed it: it is kept at least until the grant ends, and its unit is given back. */
  async markUsed(id: string, wallet: Address, until: Date): Promise<void> {
    const used = { scopes: [], usedBy: wallet, usedAt: this.#now() };
    await this.#clients.updateOne({ _id: id }, { $set: used, $max: { expiresAt: until } });
  }

  /** Clients that a wallet has allowed, less those that it allowed last: each may still have a grant. */
  async listExcess(wallet: Address): Promise<string[]> {
    const excess = this.#clients.find({ usedBy: wallet }, { hint: USE_KEY, projection: { _id: 1 } });
    return (await excess.sort(USE_KEY).skip(MAX_GRANTS_PER_WALLET).toArray()).map(({ _id }) => _id);
  }

  async delete(id: string): Promise<void> {
    await this.#clients.deleteOne({ _id: id });
  }

  /** Keeps the unused ones bounded. A client that a wallet allows meanwhile stays. */
  async #evict(newest: string): Promise<void> {
    const unused = await this.#clients.countDocuments({ scopes: 'all' }, { hint: BUDGET_KEY });
    if (unused <= this.#maxUnused) return;
    const { scopes = [] } = (await this.#clients.findOne({ _id: newest }, { projection: { scopes: 1 } })) ?? {};
    const range = scopes.at(-2);
    const counted = { hint: BUDGET_KEY, limit: OWN_EVICTION };
    const isOwn = range !== undefined && (await this.#clients.countDocuments({ scopes: range }, counted)) >= OWN_EVICTION;
    const evicted = isOwn ? range : 'all';
    const oldest = await this.#clients
      .find({ scopes: evicted, _id: { $ne: newest } }, { hint: BUDGET_KEY, projection: { _id: 1 } })
      .sort({ at: 1 })
      .limit(unused - this.#maxUnused)
      .toArray();
    for (const { _id } of oldest) await this.#clients.deleteOne({ _id, usedBy: null });
  }
}

function tooManyClientsError({ scope, limit, freeAt }: SpentLimit, at: Date, what: string): OracleError {
  const of = scope === 'address' ? 'one address' : scope === 'all' ? 'all callers' : `one ${scope}`;
  const retryAfterSeconds = Math.max(1, Math.ceil((freeAt.getTime() - at.getTime()) / 1_000));
  return new OracleError('RATE_LIMITED', `The limit of ${limit} ${what} within an hour from ${of} is reached`, {
    suggestedAction: `Wait ${retryAfterSeconds} s, or connect a client that is registered already.`,
    retryAfterSeconds,
    details: { scope, limit, windowSeconds: UNUSED_CLIENT_LIFETIME_MS / 1_000 },
  });
}

/** As the draft of Client ID Metadata Documents recommends. */
export const MAX_DOCUMENT_BYTES = 5 * 1_024;
const TIMEOUT_MS = 5_000;

/**
 * Reads documents that clients name: public addresses only, no redirects, bounded in size and time. A client's metadata is replaced by
 * what this service uses of it. A failure is a response with status 502, whose reason is logged by the caller.
 */
export function createDocumentReader(rules: TargetRules, onFailure: (host: string, reason: string) => void) {
  return async (url: string): Promise<Response> => {
    const host = URL.parse(url)?.host.slice(0, 100) ?? '';
    try {
      const headers = { Accept: 'application/json', 'User-Agent': 'bitcoin-signal-oracle' };
      const answer = await getGuarded({ url, headers, maxBytes: MAX_DOCUMENT_BYTES, timeoutMs: TIMEOUT_MS, rules });
      const isFound = answer.status === 200;
      if (!isFound) onFailure(host, `status ${answer.status}`);
      const response = new Response(isFound ? toUsedMetadata(url, answer.body) : '', { status: isFound ? 200 : 502 });
      response.headers.set('Content-Type', 'application/json');
      const { 'cache-control': control } = answer.headers;
      if (control !== undefined) response.headers.set('Cache-Control', control);
      return response;
    } catch (error) {
      if (!isOracleError(error) && !(error instanceof ClientMetadataError) && !(error instanceof SyntaxError)) throw error;
      onFailure(host, isOracleError(error) || error instanceof ClientMetadataError ? error.message : 'not JSON');
      return new Response(null, { status: 502 });
    }
  };
}

function toUsedMetadata(url: string, body: Buffer): string {
  const document = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  if (document === null || typeof document !== 'object') throw new ClientMetadataError(false, 'the document must be an object');
  if (!('client_id' in document) && Array.isArray(document.keys)) return JSON.stringify({ keys: document.keys });
  if (document.client_id !== url) throw new ClientMetadataError(false, 'client_id must be the URL of the document');
  if ('client_secret' in document) throw new ClientMetadataError(false, 'client_secret must not be in a public document');
  return JSON.stringify({ client_id: url, ...parseClientMetadata(document) });
}

/** What a client says of itself (RFC 7591), as far as this service uses it; everything else is dropped. */
interface ClientMetadata {
  client_name?: string;
  redirect_uris: string[];
  /** Native clients may listen at any port of this machine (RFC 8252). */
  application_type: 'web' | 'native';
  grant_types: string[];
  response_types: ['code'];
  token_endpoint_auth_method: (typeof CLIENT_AUTH_METHODS)[number];
  jwks?: object;
  jwks_uri?: string;
}

const MAX_REDIRECT_URIS = 20;
const MAX_URI_CHARS = 512;
const MAX_NAME_CHARS = 80;

/** Schemes with a meaning in browsers and systems that no application may claim. */
const RESERVED_SCHEMES = /^(javascript|data|vbscript|file|filesystem|blob|about|ftp|ws|wss|view-source|mailto|tel|chrome|intent):$/;
const THIS_DEVICE = 'this computer';
const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];

const redirectUri = z
  .string()
  .max(MAX_URI_CHARS, `must have at most ${MAX_URI_CHARS} characters`)
  .refine(isRedirectUri, 'must be an https URL, an http URL of this machine, or have a scheme of the application, without a fragment');

const METADATA = z.object({
  client_name: z.string().optional(),
  redirect_uris: z.array(redirectUri).min(1, 'must name at least one').max(MAX_REDIRECT_URIS, `must name at most ${MAX_REDIRECT_URIS}`),
  grant_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
  jwks: z.looseObject({}).optional(),
  jwks_uri: z.url().max(MAX_URI_CHARS).optional(),
});

/** @param document unvalidated; an optional member that is null or empty is the same as an absent one @throws ClientMetadataError */
export function parseClientMetadata(document: unknown): ClientMetadata {
  const isUsed = ([name, value]: [string, unknown]) => name === 'redirect_uris' || !isEmpty(value);
  const parsed = METADATA.safeParse(isPlainObject(document) ? Object.fromEntries(Object.entries(document).filter(isUsed)) : document);
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue];
    throw new ClientMetadataError(path[0] === 'redirect_uris', `${path.join('.') || 'the document'} ${message}`);
  }
  const { client_name: name, redirect_uris, grant_types, token_endpoint_auth_method: method, jwks, jwks_uri } = parsed.data;
  if (jwks !== undefined && jwks_uri !== undefined) throw new ClientMetadataError(false, 'jwks and jwks_uri must not both be present');
  // Other methods need a secret, which a public client cannot keep: the server may replace them (RFC 7591, section 3.2.1).
  const hasKeys = method === 'private_key_jwt' && (jwks ?? jwks_uri) !== undefined;
  const granted = GRANT_TYPES.filter((type) => grant_types === undefined || grant_types.includes(type));
  if (!granted.includes('authorization_code')) throw new ClientMetadataError(false, 'grant_types must contain authorization_code');
  return {
    // A name is a claim that is shown to the wallet's owner: on one line, without characters that reorder or hide others.
    ...(name === undefined ? {} : { client_name: [...name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()].slice(0, MAX_NAME_CHARS).join('') }),
    redirect_uris,
    application_type: redirect_uris.every(isWebUri) ? 'web' : 'native',
    grant_types: granted,
    response_types: ['code'],
    token_endpoint_auth_method: hasKeys ? 'private_key_jwt' : 'none',
    // The database stores an absent value as null, which the provider refuses.
    ...(hasKeys && jwks !== undefined ? { jwks } : {}),
    ...(hasKeys && jwks_uri !== undefined ? { jwks_uri } : {}),
  };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/**
 * A registration proves nothing, and is named by the host that gets the code: its hosts are of one owner, by the Public Suffix List.
 * @throws ClientMetadataError
 */
export function requireOneDomain({ redirect_uris: uris }: Pick<ClientMetadata, 'redirect_uris'>): void {
  const hosts = uris.filter(isWebUri).map((uri) => new URL(uri).hostname);
  const domains = new Set(hosts.map((host) => getDomain(host, { allowPrivateDomains: true }) ?? host));
  if (domains.size <= 1) return;
  const problem = `redirect_uris must have https hosts of one domain, not of ${[...domains].join(' and ')}: register one client for each`;
  throw new ClientMetadataError(true, problem);
}

/** Its message names the member and the rule, and nothing of the document. */
export class ClientMetadataError extends Error {
  readonly isAboutRedirect: boolean;

  constructor(isAboutRedirect: boolean, message: string) {
    super(message);
    this.isAboutRedirect = isAboutRedirect;
  }
}

function isRedirectUri(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || text.includes('#') || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return !LOOPBACK_HOSTS.includes(url.hostname);
  if (url.protocol === 'http:') return LOOPBACK_HOSTS.includes(url.hostname);
  return !RESERVED_SCHEMES.test(url.protocol);
}

function isWebUri(text: string): boolean {
  return new URL(text).protocol === 'https:';
}

/** The host of the metadata document that is the client, which this service has read there; null for a registered one. */
export function findDocumentHost(clientId: string): string | null {
  return URL.parse(clientId)?.host ?? null;
}

/** How a client is named to the owner of a wallet: by its document, else by who gets the code, and in quotation marks as it calls itself. */
export function formatClientName(client: { clientId: string; redirectUri: string; claimedName?: string }): string {
  const { clientId, redirectUri, claimedName } = client;
  const host = findDocumentHost(clientId);
  if (host !== null) return host;
  const claim = claimedName ? `“${claimedName}”, ` : '';
  const place = getRedirectHost(redirectUri);
  if (place === THIS_DEVICE) return `${claim}a program on this computer`;
  return place.endsWith(':') ? `${claim}an application that opens ${place} links` : place;
}

/** The host that gets the code; the scheme, with its colon, where it is one of an application. */
export function getRedirectHost(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return 'an application';
  if (LOOPBACK_HOSTS.includes(url.hostname)) return THIS_DEVICE;
  return url.protocol === 'https:' ? url.host : url.protocol;
}

/** Whether a scheme names its owner, as RFC 8252, section 7.1, requires: any application could claim another. */
export function isOwnedRedirect(redirectUri: string): boolean {
  const { protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' || protocol.includes('.');
}

const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;
export const CLIENT_AUTH_METHODS = ['none', 'private_key_jwt'] as const;

/** Authorization server metadata (RFC 8414), with the members that OpenID Connect Discovery requires of its readers. */
export function buildServerMetadata(publicUrl: string) {
  const issuer = toIssuer(publicUrl);
  return {
    issuer,
    authorization_endpoint: joinUrl(issuer, OAUTH_PATHS.authorize),
    token_endpoint: joinUrl(issuer, OAUTH_PATHS.token),
    registration_endpoint: joinUrl(issuer, OAUTH_PATHS.register),
    revocation_endpoint: joinUrl(issuer, OAUTH_PATHS.revoke),
    jwks_uri: joinUrl(issuer, '/.well-known/jwks.json'),
    scopes_supported: [...FORECAST_SCOPES, OFFLINE_SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...GRANT_TYPES],
    token_endpoint_auth_methods_supported: [...CLIENT_AUTH_METHODS],
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'EdDSA', 'PS256', 'RS256'],
    revocation_endpoint_auth_methods_supported: [...CLIENT_AUTH_METHODS],
    revocation_endpoint_auth_signing_alg_values_supported: ['ES256', 'EdDSA', 'PS256', 'RS256'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
    service_documentation: joinUrl(issuer, '/documents/assistants'),
  };
}

/** The public URL without a trailing slash: clients compare it character by character. */
export function toIssuer(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '');
}

/** Paths of the authorization server, below which it serves consent too. */
export const OAUTH_PATHS = {
  base: '/oauth',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
  consent: '/oauth/consent',
} as const;

/** RFC 9728; the path of a resource is appended. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Paths of the MCP server, each a protected resource of its own name: a client compares that name with the URL it was given. */
export const MCP_PATHS = {
  /** Anonymous calls are answered. */
  open: '/mcp',
  /** Every request needs a token, so that assistants start the authorization when they connect. */
  account: '/mcp/account',
} as const;

export type McpPath = (typeof MCP_PATHS)[keyof typeof MCP_PATHS];

/** Resource identifiers (RFC 8707) that name the MCP server; the first is the default. */
export function listMcpResources(publicUrl: string): string[] {
  return Object.values(MCP_PATHS).map((path) => joinUrl(publicUrl, path));
}

/** The resource identifier that a client means, or null. The spelling of a URL makes no difference, nor a trailing slash. */
export function findMcpResource(publicUrl: string, identifier: string): string | null {
  const wanted = URL.parse(identifier)?.href.replace(/\/$/, '');
  return listMcpResources(publicUrl).find((resource) => new URL(resource).href === wanted) ?? null;
}

/** Scopes of access tokens, by the tier that each allows. */
const TIER_SCOPES = { basic: 'forecast:basic', premium: 'forecast:premium' } as const satisfies Record<PaidTier, string>;

export const FORECAST_SCOPES: readonly string[] = Object.values(TIER_SCOPES);

/** Asks for a refresh token. It is granted with any scope, since a client can refresh without it too. */
export const OFFLINE_SCOPE = 'offline_access';

/** Of a request that names no scope of this service (RFC 6749, section 3.3). */
export const DEFAULT_SCOPE = TIER_SCOPES.basic;

/** The highest tier that a scope allows; null without a scope of this service. */
export function toScopeTier(scope: string | undefined): PaidTier | null {
  const names = new Set(scope?.split(' '));
  if (names.has(TIER_SCOPES.premium)) return 'premium';
  return names.has(TIER_SCOPES.basic) ? 'basic' : null;
}

/** The scopes of a request that a wallet of this tier can grant, separated by spaces; empty when it can grant none. */
export function toGrantedScope(requested: string | undefined, walletTier: PaidTier): string {
  const requestedTier = toScopeTier(requested);
  if (requestedTier === null) return '';
  return lowerTier(requestedTier, walletTier) === 'premium' ? FORECAST_SCOPES.join(' ') : TIER_SCOPES.basic;
}

/** A code, token, interaction or replay mark. Its id is a secret in most cases, so the database has a digest of it alone. */
interface ArtifactDoc {
  /** `<kind>:<SHA-256 of the id>`. */
  _id: string;
  grantId: string | null;
  payload: Record<string, unknown>;
  consumedAt: Date | null;
  /** Identifies the request that consumed it. */
  consumedBy: string | null;
  expiresAt: Date;
}

export const ARTIFACT_INDEXES = [
  { collection: 'oauth_artifacts', indexes: [{ key: { grantId: 1 } }] },
] as const satisfies CollectionIndexes[];

/** `consumed` is the time at which it was used, as `oidc-provider` reads it. */
export type ArtifactPayload = Record<string, unknown> & { consumed?: number };

export class ArtifactStore {
  readonly #artifacts: Collection<ArtifactDoc>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#artifacts = db.collection('oauth_artifacts');
    this.#now = now;
  }

  async put(kind: string, id: string, { jti: _, ...payload }: ArtifactPayload, expiresAt: Date): Promise<void> {
    const grantId = typeof payload.grantId === 'string' ? payload.grantId : null;
    // What is consumed stays so when it is saved again.
    const update = { $set: { grantId, payload, expiresAt }, $setOnInsert: { consumedAt: null, consumedBy: null } };
    await this.#artifacts.updateOne({ _id: toKey(kind, id) }, update, { upsert: true });
  }

  /** Undefined for an unknown or expired one. */
  async find(kind: string, id: string): Promise<ArtifactPayload | undefined> {
    const found = await this.#artifacts.findOne({ _id: toKey(kind, id) });
    if (found === null || found.expiresAt <= this.#now()) return undefined;
    const { payload, consumedAt } = found;
    return { ...payload, jti: id, ...(consumedAt === null ? {} : { consumed: Math.floor(consumedAt.getTime() / 1_000) }) };
  }

  /** Whether this call consumed it: of concurrent calls, in any process, one does. */
  async consume(kind: string, id: string): Promise<boolean> {
    const filter = { _id: toKey(kind, id) };
    const consumedBy = randomUUID();
    const change = { $set: { consumedAt: this.#now(), consumedBy } };
    return confirmIfUncertain(
      async () => (await this.#artifacts.updateOne({ ...filter, consumedBy: null }, change)).modifiedCount === 1,
      async () => (await this.#artifacts.findOne({ ...filter, consumedBy })) && true,
    );
  }

  /** Takes back a consumption whose outcome is lost: nothing of it was sent. @param since it began; what was consumed before stays so */
  async restore(kind: string, id: string, since: Date): Promise<void> {
    const consumed = { _id: toKey(kind, id), consumedAt: { $gte: since } };
    await this.#artifacts.updateOne(consumed, { $set: { consumedAt: null, consumedBy: null } });
  }

  async delete(kind: string, id: string): Promise<void> {
    await this.#artifacts.deleteOne({ _id: toKey(kind, id) });
  }

  async deleteOfGrant(grantId: string): Promise<void> {
    await this.#artifacts.deleteMany({ grantId });
  }
}

function toKey(kind: string, id: string): string {
  return `${kind}:${createHash('sha256').update(id).digest('base64url')}`;
}

/** What a wallet has allowed an application. */
interface GrantDoc {
  _id: string;
  wallet: Address;
  clientId: string;
  /** As `formatClientName` gives it. */
  name: string;
  tier: PaidTier;
  /** Of `oidc-provider`. */
  payload: Record<string, unknown>;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date;
}

const CLIENT_KEY = { clientId: 1 } as const;

export const GRANT_INDEXES = [
  { collection: 'oauth_grants', indexes: [{ key: { wallet: 1 } }, { key: CLIENT_KEY }] },
] as const satisfies CollectionIndexes[];

/** Later grants of a wallet end the ones that were not used for longest. */
const MAX_GRANTS_PER_WALLET = 50;
const UNNAMED = 'an application';
/** Uses within this time are written once. */
const USE_PRECISION_MS = 60_000;

export class GrantStore {
  readonly #grants: Collection<GrantDoc>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#grants = db.collection('oauth_grants');
    this.#now = now;
  }

  async put({ _id, createdAt, lastUsedAt, ...fields }: Omit<GrantDoc, 'name'>): Promise<void> {
    const begun = { createdAt, lastUsedAt, name: UNNAMED };
    await this.#grants.updateOne({ _id }, { $set: fields, $setOnInsert: begun }, { upsert: true });
  }

  /** As in the text that the wallet signed, before anything is issued under the grant. */
  async setName(_id: string, name: string): Promise<void> {
    await this.#grants.updateOne({ _id }, { $set: { name } });
  }

  /** Null for one that is unknown, expired or revoked. */
  async findLive(id: string): Promise<GrantDoc | null> {
    const grant = await this.#grants.findOne({ _id: id });
    return grant === null || grant.expiresAt <= this.#now() ? null : grant;
  }

  /** Whether any wallet allows a client. */
  async hasLive(clientId: string): Promise<boolean> {
    return (await this.#grants.countDocuments({ clientId, expiresAt: { $gt: this.#now() } }, { hint: CLIENT_KEY, limit: 1 })) > 0;
  }

  /** Newest first. */
  async listLive(wallet: Address): Promise<GrantDoc[]> {
    return this.#grants.find({ wallet, expiresAt: { $gt: this.#now() } }, { sort: { createdAt: -1 } }).toArray();
  }

  /** Ids of the grants that are too many for a wallet. */
  async listExcess(wallet: Address): Promise<string[]> {
    const grants = await this.listLive(wallet);
    const getLastUse = ({ lastUsedAt, createdAt }: GrantDoc) => (lastUsedAt ?? createdAt).getTime();
    const byUse = grants.toSorted((one, other) => getLastUse(other) - getLastUse(one));
    return byUse.slice(MAX_GRANTS_PER_WALLET).map(({ _id }) => _id);
  }

  async markUsed({ _id, lastUsedAt }: GrantDoc): Promise<void> {
    const now = this.#now();
    if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USE_PRECISION_MS) return;
    await this.#grants.updateOne({ _id }, { $max: { lastUsedAt: now } });
  }

  /** Whether there was one. @param wallet unset: of any wallet */
  async delete(id: string, wallet?: Address): Promise<boolean> {
    const { deletedCount } = await this.#grants.deleteOne({ _id: id, ...(wallet === undefined ? {} : { wallet }) });
    return deletedCount === 1;
  }
}
