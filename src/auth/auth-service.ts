import type { Db } from 'mongodb';
import { type Address, getAddress } from 'viem';
import { createCache } from '../platform/cache.ts';
import type { SecretBox } from '../platform/secrets/secret-box.ts';
import { type Caller, PUBLIC_CALLER, type Tier } from './caller.ts';
import { type LoginDeps, logInByMessage, logInBySiwe, type OpenedSession, type SiweLogin, type WalletLogin } from './login/login.ts';
import { LOGIN_CLAIM_INDEXES, LoginClaimStore } from './login/login-claim-store.ts';
import { type SignIn, verifySignIn } from './login/sign-in-with-x.ts';
import type { SiweExpectation } from './login/siwe-message.ts';
import { SIWE_NONCE_INDEXES, SiweNonceStore } from './login/siwe-nonce-store.ts';
import { type ApplicationTokens, isApplicationToken, rejectAudience } from './oauth/application-tokens.ts';
import { createGateReader, type GateReading, type ReadGateBalance } from './tiers/gate-balance.ts';
import { GateBalanceCache } from './tiers/gate-balance-cache.ts';
import { lowerTier } from './tiers/tiers.ts';
import { WalletTiers } from './tiers/wallet-tiers.ts';
import { AccessTokens, parseBearerToken, unauthenticated } from './tokens/access-tokens.ts';
import { SESSION_INDEXES, type SessionDoc, SessionStore } from './tokens/session-store.ts';
import { TokenKeyStore } from './tokens/token-key-store.ts';

/** Current tier of sessions: at most the tier at login, lower once the balance has fallen. */
class SessionEntitlements {
  readonly #balances: GateBalanceCache;

  constructor({ sessions, readGate, now }: { sessions: Pick<SessionStore, 'saveGateReading'>; readGate: ReadGateBalance; now(): Date }) {
    this.#balances = new GateBalanceCache({
      readGate,
      persist: (wallet, { gate, readAt }) => sessions.saveGateReading(wallet, gate, readAt),
      now,
    });
  }

  /** The caller of a session. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  async getCaller({ _id: sessionId, wallet, tier, gate, gateReadAt: readAt }: SessionDoc): Promise<Caller> {
    const current = await this.#balances.get(wallet, { gate, readAt });
    return { tier: lowerTier(tier, current.tier), wallet, sessionId, balance: current.balance };
  }
}

export const AUTH_INDEXES = [...SESSION_INDEXES, ...LOGIN_CLAIM_INDEXES, ...SIWE_NONCE_INDEXES] as const;

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
  readonly siwe: SiweExpectation;
  readonly #loginDeps: LoginDeps;
  readonly #entitlements: SessionEntitlements;
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
    this.#loginDeps = { chain, readGate, claims: new LoginClaimStore(db), nonces: new SiweNonceStore(db), sessions, tokens, siwe, now };
    this.#entitlements = new SessionEntitlements({ sessions, readGate, now });
    this.#walletTiers = new WalletTiers({ readGate, now });
  }

  logIn(login: WalletLogin): Promise<OpenedSession> {
    return logInByMessage(this.#loginDeps, login);
  }

  logInBySiwe(login: SiweLogin): Promise<OpenedSession> {
    return logInBySiwe(this.#loginDeps, login);
  }

  /** The wallet of a header `SIGN-IN-WITH-X`; opens no session. @throws as `verifySignIn` */
  verifySignIn(header: string): Promise<SignIn> {
    return verifySignIn(this.#loginDeps, header);
  }

  issueNonce(): Promise<{ nonce: string; expiresAt: Date }> {
    return this.#loginDeps.nonces.issue(this.#loginDeps.now());
  }

  /** Anonymous without a header; an invalid token is rejected, never ignored. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identify(authorization: string | undefined, audience?: TokenAudience): Promise<Caller> {
    if (authorization === undefined) return PUBLIC_CALLER;
    return (await this.identifyToken(parseBearerToken(authorization), audience)).caller;
  }

  /** The caller of a token, and its expiry. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifyToken(token: string, audience: TokenAudience = 'service'): Promise<{ caller: Caller; expiresAt: Date }> {
    if (this.#applications !== undefined && isApplicationToken(token)) {
      return audience === 'mcp' ? this.#applications.identify(token) : rejectAudience();
    }
    const { sessionId, wallet } = await this.#loginDeps.tokens.verify(token);
    return this.identifySession(sessionId, wallet);
  }

  /** @param wallet of the token, unless the session was authenticated otherwise @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifySession(sessionId: string, wallet?: Address): Promise<{ caller: Caller; expiresAt: Date }> {
    const session = await this.#loginDeps.sessions.findLive(sessionId, this.#loginDeps.now());
    // The database decides: a token alone cannot change the wallet or raise the tier.
    if (session === null || (wallet !== undefined && session.wallet !== wallet)) {
      throw unauthenticated('The session has ended: it was logged out or revoked');
    }
    return { caller: await this.#entitlements.getCaller(session), expiresAt: session.expiresAt };
  }

  listLiveSessions(sessionIds: readonly string[]): Promise<SessionDoc[]> {
    return this.#loginDeps.sessions.listLive(sessionIds, this.#loginDeps.now());
  }

  /** @throws OracleError CHAIN_UNREACHABLE when the last balance reading is too old */
  getCaller(session: SessionDoc): Promise<Caller> {
    return this.#entitlements.getCaller(session);
  }

  logOut(sessionId: string): Promise<boolean> {
    return this.#loginDeps.sessions.revoke(sessionId, this.#loginDeps.now());
  }

  /** Ends all sessions of a wallet and returns their number. */
  revokeSessions(wallet: Address): Promise<number> {
    return this.#loginDeps.sessions.revokeWallet(getAddress(wallet), this.#loginDeps.now());
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
    const { claims, nonces, sessions } = this.#loginDeps;
    await claims.purge(now);
    await nonces.purge(now);
    await sessions.purge(now);
    await this.keys.purge();
  }
}
