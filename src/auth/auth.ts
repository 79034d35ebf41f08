import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Collection, Db } from 'mongodb';
import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import { listAddressSpellings } from '../chain/addresses.ts';
import type { Chain } from '../chain/client.ts';
import { isSignedBy, type SignedHash } from '../chain/contracts.ts';
import type { ClaimedPayer } from '../chain/stablecoin.ts';
import { isOracleError, type OracleError } from '../errors.ts';
import { createCache } from '../platform/concurrency.ts';
import { toLiterals } from '../platform/mongo.ts';
import { confirmIfUncertain, insertFirst, repeatIfUncertain } from '../platform/retry.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { type AccessSource, API_KEY_INDEXES, type ApiKeyDoc, ApiKeyStore, ApiKeys, isApiKey, isApiKeyId } from './api-keys.ts';
import { type Caller, PUBLIC_CALLER, type Tier } from './caller.ts';
import {
  formatLoginMessage,
  LOGIN_WINDOW_MS,
  loginAlreadyUsed,
  loginRejected,
  requireWithinLoginWindow,
  toTimestampMs,
} from './login-message.ts';
import { toScopeTier } from './oauth-clients.ts';
import { endGrant, type OAuthStores } from './oauth-server.ts';
import { checkSiweMessage, LoginClaimStore, SignedActs, type SiweExpectation } from './signed-acts.ts';
import { createGateReader, type GateReading, lowerTier, type PaidTier, type ReadGateBalance, tierRequired } from './tiers.ts';
import { AccessTokens, parseBearerToken, SESSION_INDEXES, TOKEN_LIFETIME_SECONDS, TokenKeyStore, unauthenticated } from './tokens.ts';

/**
 * How a unit of work is admitted: `work` waits for capacity and may be shed, a `page` of an answer that has begun waits only, a `payment`
 * is never kept waiting, and the `delivery` of what may be paid already needs no capacity.
 */
export type WorkKind = 'work' | 'page' | 'payment' | 'delivery';

export interface RequestContext {
  caller: Caller;
  requestId: string;
  address: string;
  origin?: string;
  /**
   * Runs a unit of work (the run of a skill, the reading of a page, a chain call) once this process has capacity for it, which it holds
   * until the work has ended. Inside another unit of the request it shares that capacity. @throws OracleError OVERLOADED, RATE_LIMITED
   */
  run<T>(work: () => Promise<T> | T, kind?: WorkKind): Promise<T>;
  /** Waits for the client, e.g. for the body of its request, without the capacity of the current unit. */
  suspend<T>(waiting: () => Promise<T>): Promise<T>;
  /** Ends the unit that the request began as: what follows, such as a stream, runs in units of its own. */
  detach(): void;
  /** Reserves memory for an answer until the client has read it. @throws OracleError OVERLOADED */
  reserveAnswer(bytes: number): Promise<void>;
  /** Counts another call of the same request. @param units of the rate limit, 1 by default; tenths @throws OracleError RATE_LIMITED */
  countCall(units?: number): Promise<void>;
  /** Counts a call that reads the chain, unless the request was already counted as one. @throws OracleError RATE_LIMITED */
  countChainCall(): Promise<void>;
  /** From here on the unit verifies and settles a payment, within the limits of such work. @throws OracleError RATE_LIMITED */
  beginPayment(): void;
  /** Counts a stored A2A message in units of storage, unless the caller is a token holder. @throws OracleError RATE_LIMITED */
  countTask(units: number): Promise<void>;
  /** Checks without counting. @throws OracleError RATE_LIMITED after too many rejected payments of this payer or address */
  requirePaymentRoom(payer: ClaimedPayer): void;
  /** Whether `requirePaymentRoom` passes. */
  hasPaymentRoom(payer: ClaimedPayer): boolean;
  /** Counts a rejected payment against its payer and address. @throws OracleError RATE_LIMITED */
  countRejectedPayment(payer: ClaimedPayer): Promise<void>;
}

export const AUTH_INDEXES = [...SESSION_INDEXES, ...API_KEY_INDEXES] as const;

/** What a request is authenticated by. */
export type Credential = { kind: 'session'; doc: SessionDoc } | { kind: 'key'; doc: ApiKeyDoc };

interface SessionDoc {
  _id: string;
  wallet: Address;
  /** Tier at login; the upper bound of the session's tier. */
  tier: PaidTier;
  gate: GateReading;
  gateReadAt: Date;
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
}

interface IdentifiedCaller {
  caller: Caller;
  /** Null for an API key without an end of its own. */
  expiresAt: Date | null;
}

interface AuthServiceOptions {
  db: Db;
  chain: Chain;
  secretBox: SecretBox;
  issuer: string;
  siwe: SiweExpectation;
  /** Absent: no tokens of applications are accepted. */
  applications?: ApplicationTokens;
  now(): Date;
}

/** Where a token is used: those of applications are for the MCP server alone. */
type TokenAudience = 'service' | 'mcp';

const BALANCE_CACHE_MS = 5_000;
const MAX_CACHED_BALANCES = 1_000;

/** Login sessions. Wallets are stored with their EIP-55 checksum. */
export class SessionStore {
  readonly #sessions: Collection<SessionDoc>;

  constructor(db: Db) {
    this.#sessions = db.collection('sessions');
  }

  static createId(): string {
    return randomUUID();
  }

  async insert(session: Omit<SessionDoc, 'revokedAt'>): Promise<void> {
    await insertFirst(this.#sessions, { ...session, revokedAt: null }, '_id');
  }

  /** As `insert`, but ends after this time by the database's clock at the latest: that of the process may run ahead. */
  async insertWithin(lifetimeMs: number, { _id, expiresAt, ...session }: Omit<SessionDoc, 'revokedAt'>): Promise<void> {
    const end = { $min: [expiresAt, { $add: ['$$NOW', lifetimeMs] }] };
    const update = [{ $set: { ...toLiterals({ ...session, revokedAt: null }), expiresAt: end } }];
    await repeatIfUncertain(() => this.#sessions.updateOne({ _id }, update, { upsert: true }));
  }

  /** Null for an unknown, expired or revoked session. */
  async findLive(sessionId: string, now: Date): Promise<SessionDoc | null> {
    const session = await this.#sessions.findOne({ _id: sessionId });
    return session === null || session.revokedAt !== null || session.expiresAt <= now ? null : session;
  }

  async listLive(sessionIds: readonly string[], now: Date): Promise<SessionDoc[]> {
    const sessions = await this.#sessions.find({ _id: { $in: [...sessionIds] } }, { hint: { _id: 1 } }).toArray();
    return sessions.filter(({ revokedAt, expiresAt }) => revokedAt === null && expiresAt > now);
  }

  async saveGateReading(wallet: Address, gate: GateReading, gateReadAt: Date): Promise<void> {
    await this.#sessions.updateMany({ wallet, gateReadAt: { $lt: gateReadAt } }, { $set: { gate, gateReadAt } });
  }

  /** Returns whether the session was live. */
  async revoke(sessionId: string, now: Date): Promise<boolean> {
    return confirmIfUncertain(
      async () => (await this.#sessions.updateOne({ _id: sessionId, revokedAt: null }, { $set: { revokedAt: now } })).modifiedCount === 1,
      async () => (await this.#sessions.findOne({ _id: sessionId, revokedAt: now })) && true,
    );
  }

  /** Returns the number of sessions that were live. */
  async revokeWallet(wallet: Address, now: Date): Promise<number> {
    const { modifiedCount } = await this.#sessions.updateMany({ wallet, revokedAt: null }, { $set: { revokedAt: now } });
    return modifiedCount;
  }
}

interface CachedGateReading {
  gate: GateReading;
  readAt: Date;
}

interface GateBalanceCacheOptions {
  readGate: ReadGateBalance;
  /** Stores a reading for other processes. Unset: it is cached in this process only. */
  persist?(wallet: Address, cached: CachedGateReading): Promise<void>;
  now(): Date;
}

const FRESHNESS_MS = 60_000;
/** Maximum age of a reading that replaces one of an unreachable chain. */
const STALE_FALLBACK_MS = 5 * 60_000;
/** Pause after a failed read, so that not every request waits for the timeout. */
const FAILURE_BACKOFF_MS = 5_000;
const MAX_WALLETS = 10_000;

class GateBalanceCache {
  readonly #options: GateBalanceCacheOptions;
  readonly #latest = new LRUCache<Address, CachedGateReading>({ maxSize: MAX_WALLETS, sizeCalculation: () => 1 });
  readonly #pendingReads = new Map<Address, Promise<GateReading>>();
  #failed: { error: OracleError; atMs: number } | undefined;

  constructor(options: GateBalanceCacheOptions) {
    this.#options = options;
  }

  /** @param stored the last reading of other processes @throws OracleError CHAIN_UNREACHABLE when it is too old for a fallback */
  async get(wallet: Address, stored?: CachedGateReading): Promise<GateReading> {
    const nowMs = this.#options.now().getTime();
    const readings = [stored, this.#latest.get(wallet)].filter((reading) => reading !== undefined);
    // A reading dated ahead, by a clock that has been set back since, is as old as it is far ahead.
    const aged = readings.map(({ gate, readAt }) => ({ gate, ageMs: Math.abs(nowMs - readAt.getTime()) }));
    const cached = aged.toSorted((one, other) => one.ageMs - other.ageMs)[0];
    if (cached !== undefined && cached.ageMs <= FRESHNESS_MS) return cached.gate;
    try {
      return await this.#read(wallet, nowMs);
    } catch (error) {
      if (cached !== undefined && cached.ageMs <= STALE_FALLBACK_MS && isOracleError(error, 'CHAIN_UNREACHABLE')) return cached.gate;
      throw error;
    }
  }

  #read(wallet: Address, nowMs: number): Promise<GateReading> {
    if (this.#failed !== undefined && Math.abs(nowMs - this.#failed.atMs) < FAILURE_BACKOFF_MS) return Promise.reject(this.#failed.error);
    const pending = this.#pendingReads.get(wallet);
    if (pending !== undefined) return pending;
    const reading = this.#readAndStore(wallet).finally(() => this.#pendingReads.delete(wallet));
    this.#pendingReads.set(wallet, reading);
    return reading;
  }

  async #readAndStore(wallet: Address): Promise<GateReading> {
    const { readGate, persist, now } = this.#options;
    const readAt = now();
    try {
      const gate = await readGate(wallet);
      this.#failed = undefined;
      this.#latest.set(wallet, { gate, readAt });
      await persist?.(wallet, { gate, readAt });
      return gate;
    } catch (error) {
      if (isOracleError(error, 'CHAIN_UNREACHABLE')) this.#failed = { error, atMs: now().getTime() };
      throw error;
    }
  }
}

export class AuthService {
  readonly keys: TokenKeyStore;
  readonly apiKeys: ApiKeys;
  readonly acts: SignedActs;
  readonly siwe: SiweExpectation;
  readonly #options: AuthServiceOptions;
  readonly #claims: LoginClaimStore;
  readonly #sessions: SessionStore;
  readonly #tokens: AccessTokens;
  readonly #readGate: ReadGateBalance;
  /** Of sessions and API keys. Readings are stored for other processes. */
  readonly #credentialBalances: GateBalanceCache;
  readonly #walletTiers: WalletTiers;
  readonly #balances = createCache<GateReading>('gate-balances', MAX_CACHED_BALANCES);

  constructor(options: AuthServiceOptions) {
    const { db, chain, secretBox, issuer, siwe, now } = options;
    this.#options = options;
    this.siwe = siwe;
    this.keys = new TokenKeyStore({ db, secretBox, now });
    this.#tokens = new AccessTokens({ keys: this.keys, issuer, now });
    this.#sessions = new SessionStore(db);
    this.#claims = new LoginClaimStore(db);
    this.acts = new SignedActs({ db, chain, claims: this.#claims, siwe, now });
    const readGate = createGateReader(chain);
    this.#readGate = readGate;
    this.#walletTiers = new WalletTiers({ readGate, now });
    const store = new ApiKeyStore(db);
    this.apiKeys = new ApiKeys({ store, readGate, now });
    this.#credentialBalances = new GateBalanceCache({
      readGate,
      persist: async (wallet, { gate, readAt }) => {
        await Promise.all([this.#sessions, store].map((one) => one.saveGateReading(wallet, gate, readAt)));
      },
      now,
    });
  }

  /** @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CONFLICT for a replayed message, TIER_REQUIRED, CHAIN_UNREACHABLE */
  async logIn({ wallet, signature, timestamp }: { wallet: Address; signature: Hex; timestamp: number }): Promise<OpenedSession> {
    const signedMs = toTimestampMs(timestamp);
    requireWithinLoginWindow(signedMs, this.#options.now(), 'timestamp');
    const hashes = listAddressSpellings(wallet).map((spelling) => hashMessage(formatLoginMessage(spelling, timestamp)));
    // Keyed by one spelling of the message, which contains wallet and time: signatures are malleable.
    const claim = { key: `message:${hashes[0]}`, usableUntil: new Date(signedMs + LOGIN_WINDOW_MS) };
    return this.#completeLogin({ wallet: getAddress(wallet), hash: hashes, signature }, claim);
  }

  /** @throws OracleError INPUT_INVALID for a malformed message, UNAUTHENTICATED, CONFLICT for a used nonce, TIER_REQUIRED, CHAIN_UNREACHABLE */
  async logInBySiwe({ message, signature }: { message: string; signature: Hex }): Promise<OpenedSession> {
    const { now } = this.#options;
    const { wallet, nonce } = checkSiweMessage(message, this.siwe, now());
    const usableUntil = await this.acts.findLoginExpiry(nonce);
    if (usableUntil === null) throw loginRejected('message.nonce', 'The nonce was not issued here, or has expired', now());
    return this.#completeLogin({ wallet, hash: hashMessage(message), signature }, { key: `nonce:${nonce}`, usableUntil });
  }

  async #completeLogin(signed: SignedHash, claim: { key: string; usableUntil: Date }): Promise<OpenedSession> {
    const { chain, now } = this.#options;
    if (!(await isSignedBy(chain, signed))) {
      throw loginRejected('signature', 'The signature is not one of this wallet over this message', now());
    }
    // Kept for longer than any process accepts the message, since their clocks differ.
    const release = await this.#claims.acquire(claim.key, new Date(claim.usableUntil.getTime() + LOGIN_WINDOW_MS));
    if (release === null) throw loginAlreadyUsed(now());
    try {
      return await this.#openSession(signed.wallet);
    } catch (error) {
      // A failed login leaves its message usable. If the release fails too, the client signs another message.
      await release().catch(() => undefined);
      throw error;
    }
  }

  async #openSession(wallet: Address): Promise<OpenedSession> {
    const createdAt = this.#options.now();
    const gate = await this.#readGate(wallet);
    const { tier } = gate;
    if (tier === 'public') throw tierRequired('basic', gate);
    const _id = SessionStore.createId();
    const { token, expiresAt } = await this.#tokens.issue({ sessionId: _id, wallet, tier });
    const session = { _id, wallet, tier, gate, gateReadAt: createdAt, createdAt, expiresAt };
    await this.#sessions.insertWithin(TOKEN_LIFETIME_SECONDS * 1_000, session);
    return { token, tier, wallet, gate, expiresAt };
  }

  /** Anonymous without a header; an invalid token is rejected, never ignored. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identify(authorization: string | undefined, audience?: TokenAudience): Promise<Caller> {
    if (authorization === undefined) return PUBLIC_CALLER;
    return (await this.identifyToken(parseBearerToken(authorization), audience)).caller;
  }

  /** The caller of an access token or an API key, and its expiry. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifyToken(token: string, audience: TokenAudience = 'service'): Promise<IdentifiedCaller> {
    if (isApiKey(token)) return this.#identify({ kind: 'key', doc: await this.apiKeys.find(token) });
    const { applications, now } = this.#options;
    if (applications !== undefined && isApplicationToken(token)) {
      if (audience === 'mcp') return applications.identify(token);
      // RFC 8707: it is bound to its audience.
      throw unauthenticated('The access token of an application is meant for the MCP server alone');
    }
    const { sessionId, wallet } = await this.#tokens.verify(token);
    const session = await this.#sessions.findLive(sessionId, now());
    // The database decides: a token alone cannot change the wallet or raise the tier.
    if (session === null || session.wallet !== wallet) throw sessionEnded();
    return this.#identify({ kind: 'session', doc: session });
  }

  /** By the id of a session or an API key that was authenticated otherwise. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifyCredential(id: string): Promise<IdentifiedCaller> {
    const [credential] = await this.listLiveCredentials([id]);
    if (credential === undefined) throw sessionEnded();
    return this.#identify(credential);
  }

  async #identify(credential: Credential): Promise<IdentifiedCaller> {
    return { caller: await this.getCaller(credential), expiresAt: credential.doc.expiresAt };
  }

  /** Those of these sessions and API keys that have not ended. */
  async listLiveCredentials(ids: readonly string[]): Promise<Credential[]> {
    const { key: keyIds = [], session: sessionIds = [] } = Object.groupBy(ids, (id) => (isApiKeyId(id) ? 'key' : 'session'));
    const [ofSessions, ofKeys] = await Promise.all([
      sessionIds.length === 0 ? [] : this.#sessions.listLive(sessionIds, this.#options.now()),
      keyIds.length === 0 ? [] : this.apiKeys.listLive(keyIds),
    ]);
    return [...ofSessions.map((doc) => ({ kind: 'session' as const, doc })), ...ofKeys.map((doc) => ({ kind: 'key' as const, doc }))];
  }

  /** At most the tier of the credential, lower once the balance has fallen. @throws OracleError CHAIN_UNREACHABLE when the last balance reading is too old */
  async getCaller({ kind, doc }: Credential): Promise<Caller> {
    const { _id, wallet, gate, gateReadAt: readAt } = doc;
    const { tier, balance } = await this.#credentialBalances.get(wallet, { gate, readAt });
    return { tier: lowerTier(doc.tier, tier), wallet, balance, ...(kind === 'key' ? { keyId: _id } : { sessionId: _id }) };
  }

  logOut(sessionId: string): Promise<boolean> {
    return this.#sessions.revoke(sessionId, this.#options.now());
  }

  /** Ends all sessions, API keys and allowed applications of a wallet and returns their number. */
  async revokeAccess(wallet: Address): Promise<number> {
    const { applications, now } = this.#options;
    const address = getAddress(wallet);
    const standing = (await this.apiKeys.revokeWallet(address)) + ((await applications?.revokeWallet(address)) ?? 0);
    return standing + (await this.#sessions.revokeWallet(address, now()));
  }

  /** Gate balance of a wallet, cached for five seconds. @throws OracleError CHAIN_UNREACHABLE */
  getGateBalance(wallet: Address): Promise<GateReading> {
    const period = Math.floor(this.#options.now().getTime() / BALANCE_CACHE_MS);
    const address = getAddress(wallet);
    return this.#balances.get(`${address}:${period}`, () => this.#readGate(address));
  }

  /** Current tier of a wallet with or without a session. @throws OracleError CHAIN_UNREACHABLE */
  getWalletTier(wallet: string): Promise<Tier> {
    return this.#walletTiers.getTier(wallet);
  }
}

function sessionEnded(): OracleError {
  return unauthenticated('The session has ended: it was logged out or revoked');
}

/** Tokens of `oidc-provider`: unlike those of sessions they have no dots. */
const APPLICATION_TOKEN = /^[\w-]{43}$/;

export function isApplicationToken(token: string): boolean {
  return APPLICATION_TOKEN.test(token);
}

interface ApplicationTokensDeps {
  stores: Pick<OAuthStores, 'artifacts' | 'grants'>;
  /** Resource identifiers of the MCP server. */
  resources: readonly string[];
  /** At most a minute old. @throws OracleError CHAIN_UNREACHABLE */
  readBalance(wallet: string): Promise<GateReading>;
}

/** Access tokens of applications. The database decides on each use: a revocation takes effect at once. */
export class ApplicationTokens {
  readonly #deps: ApplicationTokensDeps;

  constructor(deps: ApplicationTokensDeps) {
    this.#deps = deps;
  }

  /** The caller of a token: at most the tier of its scope, and at most that of the balance. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identify(token: string): Promise<{ caller: Caller; expiresAt: Date }> {
    const { artifacts, grants } = this.#deps.stores;
    const found = await artifacts.find('AccessToken', token);
    const grant = found === undefined ? null : await grants.findLive(String(found.grantId));
    const scopeTier = toScopeTier(found?.scope as string | undefined);
    if (found === undefined || grant === null || scopeTier === null) {
      throw unauthenticated('The access token has expired or was revoked');
    }
    if (!this.#deps.resources.includes(String(found.aud))) throw unauthenticated('The access token is meant for another service');
    const { tier, balance } = await this.#deps.readBalance(grant.wallet);
    await grants.markUsed(grant);
    const caller = { tier: lowerTier(scopeTier, tier), wallet: grant.wallet, balance };
    return { caller, expiresAt: new Date(Number(found.exp) * 1_000) };
  }

  /** Ends all grants of a wallet and returns their number. */
  async revokeWallet(wallet: Address): Promise<number> {
    const { stores } = this.#deps;
    const ended = await Promise.all((await stores.grants.listLive(wallet)).map(({ _id }) => endGrant(stores, _id, wallet)));
    return ended.filter(Boolean).length;
  }
}

export class WalletTiers {
  readonly #balances: GateBalanceCache;

  constructor(options: { readGate: ReadGateBalance; now(): Date }) {
    this.#balances = new GateBalanceCache(options);
  }

  /** From a reading at most a minute old. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  async getTier(wallet: string): Promise<Tier> {
    return (await this.getBalance(wallet)).tier;
  }

  /** At most a minute old. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  getBalance(wallet: string): Promise<GateReading> {
    return this.#balances.get(getAddress(wallet));
  }
}

/** Applications that a wallet has allowed to use its tier. */
export function createApplicationAccess(stores: OAuthStores): AccessSource {
  return {
    async list(wallet) {
      const grants = await stores.grants.listLive(getAddress(wallet));
      return grants.map(({ _id: id, name, tier, createdAt, lastUsedAt, expiresAt }) => {
        return { id, kind: 'application', name, tier, createdAt, lastUsedAt, expiresAt };
      });
    },
    revoke: (wallet, id) => endGrant(stores, id, getAddress(wallet)),
  };
}

export interface OpenedSession {
  token: string;
  tier: PaidTier;
  wallet: Address;
  gate: GateReading;
  expiresAt: Date;
}
