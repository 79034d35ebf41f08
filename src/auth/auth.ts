import type { Db } from 'mongodb';
import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import { listAddressSpellings } from '../chain/addresses.ts';
import type { Chain } from '../chain/client.ts';
import { isSignedBy, type SignedHash } from '../chain/contracts.ts';
import type { ClaimedPayer } from '../chain/stablecoin.ts';
import type { OracleError } from '../errors.ts';
import { createCache } from '../platform/concurrency.ts';
import type { SecretBox } from '../platform/secrets.ts';
import {
  type AccessEntry,
  type AccessSource,
  API_KEY_INDEXES,
  type ApiKeyDoc,
  ApiKeyStore,
  ApiKeys,
  isApiKey,
  isApiKeyId,
} from './api-keys.ts';
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
import type { GrantDoc } from './oauth-stores.ts';
import { checkSiweMessage, LOGIN_CLAIM_INDEXES, LoginClaimStore, NONCE_INDEXES, SignedActs, type SiweExpectation } from './signed-acts.ts';
import {
  createGateReader,
  GateBalanceCache,
  type GateReading,
  lowerTier,
  type PaidTier,
  type ReadGateBalance,
  tierRequired,
} from './tiers.ts';
import {
  AccessTokens,
  parseBearerToken,
  SESSION_INDEXES,
  type SessionDoc,
  SessionStore,
  TOKEN_LIFETIME_SECONDS,
  TokenKeyStore,
  unauthenticated,
} from './tokens.ts';

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

export const AUTH_INDEXES = [...SESSION_INDEXES, ...API_KEY_INDEXES, ...LOGIN_CLAIM_INDEXES, ...NONCE_INDEXES] as const;

/** What a request is authenticated by. */
export type Credential = { kind: 'session'; doc: SessionDoc } | { kind: 'key'; doc: ApiKeyDoc };

interface IdentifiedCaller {
  caller: Caller;
  /** Null for an API key without an end of its own. */
  expiresAt: Date | null;
}

interface AuthServiceOptions extends Pick<LoginDeps, 'chain' | 'siwe' | 'now'> {
  db: Db;
  secretBox: SecretBox;
  issuer: string;
  /** Absent: no tokens of applications are accepted. */
  applications?: ApplicationTokens;
}

/** Where a token is used: those of applications are for the MCP server alone. */
type TokenAudience = 'service' | 'mcp';

const BALANCE_CACHE_MS = 5_000;
const MAX_CACHED_BALANCES = 1_000;

export class AuthService {
  readonly keys: TokenKeyStore;
  readonly apiKeys: ApiKeys;
  readonly acts: SignedActs;
  readonly siwe: SiweExpectation;
  readonly #loginDeps: LoginDeps;
  readonly #entitlements: Entitlements;
  readonly #walletTiers: WalletTiers;
  readonly #applications: ApplicationTokens | undefined;
  readonly #balances = createCache<GateReading>('gate-balances', MAX_CACHED_BALANCES);

  constructor({ db, chain, secretBox, issuer, siwe, applications, now }: AuthServiceOptions) {
    this.#applications = applications;
    this.keys = new TokenKeyStore({ db, secretBox, now });
    this.siwe = siwe;
    const sessions = new SessionStore(db);
    const readGate = createGateReader(chain);
    const tokens = new AccessTokens({ keys: this.keys, issuer, now });
    const claims = new LoginClaimStore(db);
    this.acts = new SignedActs({ db, chain, claims, siwe, now });
    this.#loginDeps = { chain, readGate, claims, acts: this.acts, sessions, tokens, siwe, now };
    const apiKeys = new ApiKeyStore(db);
    this.apiKeys = new ApiKeys({ store: apiKeys, readGate, now });
    this.#entitlements = new Entitlements({ stores: [sessions, apiKeys], readGate, now });
    this.#walletTiers = new WalletTiers({ readGate, now });
  }

  logIn(login: WalletLogin): Promise<OpenedSession> {
    return logInByMessage(this.#loginDeps, login);
  }

  logInBySiwe(login: SiweLogin): Promise<OpenedSession> {
    return logInBySiwe(this.#loginDeps, login);
  }

  /** Anonymous without a header; an invalid token is rejected, never ignored. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identify(authorization: string | undefined, audience?: TokenAudience): Promise<Caller> {
    if (authorization === undefined) return PUBLIC_CALLER;
    return (await this.identifyToken(parseBearerToken(authorization), audience)).caller;
  }

  /** The caller of an access token or an API key, and its expiry. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifyToken(token: string, audience: TokenAudience = 'service'): Promise<IdentifiedCaller> {
    if (isApiKey(token)) return this.#identify({ kind: 'key', doc: await this.apiKeys.find(token) });
    if (this.#applications !== undefined && isApplicationToken(token)) {
      return audience === 'mcp' ? this.#applications.identify(token) : rejectAudience();
    }
    const { sessionId, wallet } = await this.#loginDeps.tokens.verify(token);
    return this.#identifySession(sessionId, wallet);
  }

  /** By the id of a session or an API key that was authenticated otherwise. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifyCredential(id: string): Promise<IdentifiedCaller> {
    const [credential] = await this.listLiveCredentials([id]);
    if (credential === undefined) throw sessionEnded();
    return this.#identify(credential);
  }

  async #identifySession(sessionId: string, wallet: Address): Promise<IdentifiedCaller> {
    const session = await this.#loginDeps.sessions.findLive(sessionId, this.#loginDeps.now());
    // The database decides: a token alone cannot change the wallet or raise the tier.
    if (session === null || session.wallet !== wallet) throw sessionEnded();
    return this.#identify({ kind: 'session', doc: session });
  }

  async #identify(credential: Credential): Promise<IdentifiedCaller> {
    return { caller: await this.getCaller(credential), expiresAt: credential.doc.expiresAt };
  }

  /** Those of these sessions and API keys that have not ended. */
  async listLiveCredentials(ids: readonly string[]): Promise<Credential[]> {
    const { sessions, now } = this.#loginDeps;
    const { key: keyIds = [], session: sessionIds = [] } = Object.groupBy(ids, (id) => (isApiKeyId(id) ? 'key' : 'session'));
    const [ofSessions, ofKeys] = await Promise.all([
      sessionIds.length === 0 ? [] : sessions.listLive(sessionIds, now()),
      keyIds.length === 0 ? [] : this.apiKeys.listLive(keyIds),
    ]);
    return [...ofSessions.map((doc) => ({ kind: 'session' as const, doc })), ...ofKeys.map((doc) => ({ kind: 'key' as const, doc }))];
  }

  /** @throws OracleError CHAIN_UNREACHABLE when the last balance reading is too old */
  async getCaller({ kind, doc }: Credential): Promise<Caller> {
    const id = kind === 'key' ? { keyId: doc._id } : { sessionId: doc._id };
    return { ...(await this.#entitlements.get(doc)), ...id };
  }

  logOut(sessionId: string): Promise<boolean> {
    return this.#loginDeps.sessions.revoke(sessionId, this.#loginDeps.now());
  }

  /** Ends all sessions, API keys and allowed applications of a wallet and returns their number. */
  async revokeAccess(wallet: Address): Promise<number> {
    const { sessions, now } = this.#loginDeps;
    const address = getAddress(wallet);
    const standing = (await this.apiKeys.revokeWallet(address)) + ((await this.#applications?.revokeWallet(address)) ?? 0);
    return standing + (await sessions.revokeWallet(address, now()));
  }

  /** Gate balance of a wallet, cached for five seconds. @throws OracleError CHAIN_UNREACHABLE */
  getGateBalance(wallet: Address): Promise<GateReading> {
    const period = Math.floor(this.#loginDeps.now().getTime() / BALANCE_CACHE_MS);
    const address = getAddress(wallet);
    return this.#balances.get(`${address}:${period}`, () => this.#loginDeps.readGate(address));
  }

  /** Current tier of a wallet with or without a session. @throws OracleError CHAIN_UNREACHABLE */
  getWalletTier(wallet: string): Promise<Tier> {
    return this.#walletTiers.getTier(wallet);
  }

  async purge(now: Date): Promise<void> {
    const { claims, sessions } = this.#loginDeps;
    await claims.purge(now);
    await this.acts.purge(now);
    await sessions.purge(now);
    await this.apiKeys.purge(now);
    await this.keys.purge();
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
      throw rejected('The access token has expired or was revoked');
    }
    if (!this.#deps.resources.includes(String(found.aud))) throw rejected('The access token is meant for another service');
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

/** Rejects a token of an application where only the MCP server is meant (RFC 8707: it is bound to its audience). */
function rejectAudience(): never {
  throw rejected('The access token of an application is meant for the MCP server alone');
}

function rejected(problem: string) {
  return unauthenticated(problem);
}

/** Stored credential of a wallet, with its upper bound and the last reading of the balance. */
interface Entitled {
  wallet: Address;
  tier: PaidTier;
  gate: GateReading;
  gateReadAt: Date;
}

interface GateReadingStore {
  saveGateReading(wallet: Address, gate: GateReading, gateReadAt: Date): Promise<void>;
}

interface EntitlementsOptions {
  /** Where readings are stored for other processes. */
  stores: readonly GateReadingStore[];
  readGate: ReadGateBalance;
  now(): Date;
}

/** Current tier of credentials: at most their own, lower once the balance has fallen. */
class Entitlements {
  readonly #balances: GateBalanceCache;

  constructor({ stores, readGate, now }: EntitlementsOptions) {
    this.#balances = new GateBalanceCache({
      readGate,
      async persist(wallet, { gate, readAt }) {
        await Promise.all(stores.map((store) => store.saveGateReading(wallet, gate, readAt)));
      },
      now,
    });
  }

  /** @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  async get({ wallet, tier, gate, gateReadAt: readAt }: Entitled): Promise<Required<Pick<Caller, 'tier' | 'wallet' | 'balance'>>> {
    const current = await this.#balances.get(wallet, { gate, readAt });
    return { tier: lowerTier(tier, current.tier), wallet, balance: current.balance };
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
    list: async (wallet) => (await stores.grants.listLive(getAddress(wallet))).map(toAccessEntry),
    revoke: (wallet: Address, id) => endGrant(stores, id, getAddress(wallet)),
  };
}

function toAccessEntry({ _id, name, tier, createdAt, lastUsedAt, expiresAt }: GrantDoc): AccessEntry {
  return { id: _id, kind: 'application', name, tier, createdAt, lastUsedAt, expiresAt };
}

export interface OpenedSession {
  token: string;
  tier: PaidTier;
  wallet: Address;
  gate: GateReading;
  expiresAt: Date;
}

interface WalletLogin {
  wallet: Address;
  signature: Hex;
  timestamp: number;
}

interface SiweLogin {
  message: string;
  signature: Hex;
}

interface LoginDeps {
  chain: Chain;
  readGate: ReadGateBalance;
  claims: LoginClaimStore;
  acts: SignedActs;
  sessions: SessionStore;
  tokens: AccessTokens;
  siwe: SiweExpectation;
  now(): Date;
}

/** @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CONFLICT for a replayed message, TIER_REQUIRED, CHAIN_UNREACHABLE */
async function logInByMessage(deps: LoginDeps, { wallet, signature, timestamp }: WalletLogin): Promise<OpenedSession> {
  const signedMs = toTimestampMs(timestamp);
  requireWithinLoginWindow(signedMs, deps.now(), 'timestamp');
  const hashes = listAddressSpellings(wallet).map((spelling) => hashMessage(formatLoginMessage(spelling, timestamp)));
  // Keyed by one spelling of the message, which contains wallet and time: signatures are malleable.
  const claim = { key: `message:${hashes[0]}`, usableUntil: new Date(signedMs + LOGIN_WINDOW_MS) };
  return completeLogin(deps, { wallet: getAddress(wallet), hash: hashes, signature, claim });
}

/** @throws OracleError INPUT_INVALID for a malformed message, UNAUTHENTICATED, CONFLICT for a used nonce, TIER_REQUIRED, CHAIN_UNREACHABLE */
async function logInBySiwe(deps: LoginDeps, { message, signature }: SiweLogin): Promise<OpenedSession> {
  const { wallet, nonce } = checkSiweMessage(message, deps.siwe, deps.now());
  const usableUntil = await deps.acts.findLoginExpiry(nonce);
  if (usableUntil === null) throw loginRejected('message.nonce', 'The nonce was not issued here, or has expired', deps.now());
  return completeLogin(deps, { wallet, hash: hashMessage(message), signature, claim: { key: `nonce:${nonce}`, usableUntil } });
}

interface LoginProof extends SignedHash {
  claim: { key: string; usableUntil: Date };
}

async function completeLogin(deps: LoginDeps, { wallet, hash, signature, claim }: LoginProof): Promise<OpenedSession> {
  if (!(await isSignedBy(deps.chain, { wallet, hash, signature }))) {
    throw loginRejected('signature', 'The signature is not one of this wallet over this message', deps.now());
  }
  // Kept for longer than any process accepts the message, since their clocks differ.
  const release = await deps.claims.acquire(claim.key, new Date(claim.usableUntil.getTime() + LOGIN_WINDOW_MS));
  if (release === null) throw loginAlreadyUsed(deps.now());
  try {
    return await openSession(deps, wallet);
  } catch (error) {
    // A failed login leaves its message usable. If the release fails too, the client signs another message.
    await release().catch(() => undefined);
    throw error;
  }
}

async function openSession({ readGate, sessions, tokens, now }: LoginDeps, wallet: Address): Promise<OpenedSession> {
  const createdAt = now();
  const gate = await readGate(wallet);
  if (gate.tier === 'public') throw tierRequired('basic', gate);
  const sessionId = SessionStore.createId();
  const { token, expiresAt } = await tokens.issue({ sessionId, wallet, tier: gate.tier });
  await sessions.insertWithin(TOKEN_LIFETIME_SECONDS * 1_000, {
    _id: sessionId,
    wallet,
    tier: gate.tier,
    gate,
    gateReadAt: createdAt,
    createdAt,
    expiresAt,
  });
  return { token, tier: gate.tier, wallet, gate, expiresAt };
}
