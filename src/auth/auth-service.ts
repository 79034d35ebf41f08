import type { Db } from 'mongodb';
import { type Address, getAddress } from 'viem';
import { createCache } from '../platform/cache.ts';
import type { OracleError } from '../platform/errors.ts';
import type { SecretBox } from '../platform/secrets/secret-box.ts';
import { isApiKey } from './api-keys/api-key.ts';
import { API_KEY_INDEXES, type ApiKeyDoc, ApiKeyStore } from './api-keys/api-key-store.ts';
import { ApiKeys, isApiKeyId } from './api-keys/api-keys.ts';
import { type Caller, PUBLIC_CALLER, type Tier } from './caller.ts';
import { type LoginDeps, logInByMessage, logInBySiwe, type OpenedSession, type SiweLogin, type WalletLogin } from './login/login.ts';
import { LOGIN_CLAIM_INDEXES, LoginClaimStore } from './login/login-claim-store.ts';
import type { SiweExpectation } from './login/siwe-message.ts';
import { type ApplicationTokens, isApplicationToken, rejectAudience } from './oauth/application-tokens.ts';
import { NONCE_INDEXES, SignedActs } from './signed-acts.ts';
import { Entitlements } from './tiers/entitlements.ts';
import { createGateReader, type GateReading } from './tiers/gate-balance.ts';
import { WalletTiers } from './tiers/wallet-tiers.ts';
import { AccessTokens, parseBearerToken, unauthenticated } from './tokens/access-tokens.ts';
import { SESSION_INDEXES, type SessionDoc, SessionStore } from './tokens/session-store.ts';
import { TokenKeyStore } from './tokens/token-key-store.ts';

export const AUTH_INDEXES = [...SESSION_INDEXES, ...API_KEY_INDEXES, ...LOGIN_CLAIM_INDEXES, ...NONCE_INDEXES] as const;

/** What a request is authenticated by. */
export type Credential = { kind: 'session'; doc: SessionDoc } | { kind: 'key'; doc: ApiKeyDoc };

export interface IdentifiedCaller {
  caller: Caller;
  /** Null for an API key without an end of its own. */
  expiresAt: Date | null;
}

export interface AuthServiceOptions extends Pick<LoginDeps, 'chain' | 'siwe' | 'now'> {
  db: Db;
  secretBox: SecretBox;
  issuer: string;
  /** Absent: no tokens of applications are accepted. */
  applications?: ApplicationTokens;
}

/** Where a token is used: those of applications are for the MCP server alone. */
export type TokenAudience = 'service' | 'mcp';

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
