import type { Db } from 'mongodb';
import { type Address, getAddress } from 'viem';
import type { Chain } from '../chain/client.ts';
import { createCache } from '../platform/cache.ts';
import type { OracleError } from '../platform/errors.ts';
import type { SecretBox } from '../platform/secrets/secret-box.ts';
import { type Caller, PUBLIC_CALLER, type Tier } from './caller.ts';
import { type LoginDeps, logInByMessage, logInBySiwe, type OpenedSession, type SiweLogin, type WalletLogin } from './login/login.ts';
import { LOGIN_CLAIM_INDEXES, LoginClaimStore } from './login/login-claim-store.ts';
import type { SiweExpectation } from './login/siwe-message.ts';
import { SIWE_NONCE_INDEXES, SiweNonceStore } from './login/siwe-nonce-store.ts';
import { createGateReader, type GateReading } from './tiers/gate-balance.ts';
import { SessionEntitlements } from './tiers/session-entitlements.ts';
import { WalletTiers } from './tiers/wallet-tiers.ts';
import { AccessTokens, parseBearerToken, unauthenticated } from './tokens/access-tokens.ts';
import { SESSION_INDEXES, type SessionDoc, SessionStore } from './tokens/session-store.ts';
import { TokenKeyStore } from './tokens/token-key-store.ts';

export const AUTH_INDEXES = [...SESSION_INDEXES, ...LOGIN_CLAIM_INDEXES, ...SIWE_NONCE_INDEXES] as const;

export interface AuthServiceOptions {
  db: Db;
  chain: Chain;
  secretBox: SecretBox;
  /** Who issues tokens. */
  issuer: string;
  /** What a message of EIP-4361 must be made out to. */
  siwe: SiweExpectation;
  now(): Date;
}

/** For how long the answer to "what does this wallet hold" is remembered. */
const BALANCE_CACHE_MS = 5_000;
const MAX_CACHED_BALANCES = 1_000;

/** Wallet login, session tokens and tiers, in whichever process. */
export class AuthService {
  readonly keys: TokenKeyStore;
  readonly siwe: SiweExpectation;
  readonly #loginDeps: LoginDeps;
  readonly #entitlements: SessionEntitlements;
  readonly #walletTiers: WalletTiers;
  readonly #balances = createCache<GateReading>('gate-balances', MAX_CACHED_BALANCES);

  constructor({ db, chain, secretBox, issuer, siwe, now }: AuthServiceOptions) {
    this.keys = new TokenKeyStore({ db, secretBox, now });
    this.siwe = siwe;
    const sessions = new SessionStore(db);
    const readGate = createGateReader(chain);
    const tokens = new AccessTokens({ keys: this.keys, issuer, now });
    this.#loginDeps = { chain, readGate, claims: new LoginClaimStore(db), nonces: new SiweNonceStore(db), sessions, tokens, siwe, now };
    this.#entitlements = new SessionEntitlements({ sessions, readGate, now });
    this.#walletTiers = new WalletTiers({ readGate, now });
  }

  /** See `logInByMessage`. */
  logIn(login: WalletLogin): Promise<OpenedSession> {
    return logInByMessage(this.#loginDeps, login);
  }

  /** See `logInBySiwe`. */
  logInBySiwe(login: SiweLogin): Promise<OpenedSession> {
    return logInBySiwe(this.#loginDeps, login);
  }

  /** A nonce for one login by `logInBySiwe`. */
  issueNonce(): Promise<{ nonce: string; expiresAt: Date }> {
    return this.#loginDeps.nonces.issue(this.#loginDeps.now());
  }

  /**
   * Who asks, by the `Authorization` header of a request; anybody without one. A token that is not good is refused, never ignored.
   * @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE
   */
  async identify(authorization: string | undefined): Promise<Caller> {
    if (authorization === undefined) return PUBLIC_CALLER;
    return (await this.identifyToken(parseBearerToken(authorization))).caller;
  }

  /** Who holds a token, and until when. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifyToken(token: string): Promise<{ caller: Caller; expiresAt: Date }> {
    const session = await this.#requireSession(token);
    return { caller: await this.#entitlements.getCaller(session), expiresAt: session.expiresAt };
  }

  /** Who holds a session, for whoever has proven it otherwise, and until when. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifySession(sessionId: string): Promise<{ caller: Caller; expiresAt: Date }> {
    const session = await this.#loginDeps.sessions.findLive(sessionId, this.#loginDeps.now());
    if (session === null) throw sessionEnded();
    return { caller: await this.#entitlements.getCaller(session), expiresAt: session.expiresAt };
  }

  /** The sessions among these that are live. */
  listLiveSessions(sessionIds: readonly string[]): Promise<SessionDoc[]> {
    return this.#loginDeps.sessions.listLive(sessionIds, this.#loginDeps.now());
  }

  /** What a session is worth now. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old to go by */
  getCaller(session: SessionDoc): Promise<Caller> {
    return this.#entitlements.getCaller(session);
  }

  async #requireSession(token: string): Promise<SessionDoc> {
    const { tokens, sessions, now } = this.#loginDeps;
    const { sessionId, wallet } = await tokens.verify(token);
    const session = await sessions.findLive(sessionId, now());
    // What the store says counts: a token alone cannot raise a tier or change a wallet.
    if (session === null || session.wallet !== wallet) throw sessionEnded();
    return session;
  }

  /** Ends a session; its token is refused from then on, in all processes. */
  logOut(sessionId: string): Promise<boolean> {
    return this.#loginDeps.sessions.revoke(sessionId, this.#loginDeps.now());
  }

  /** Ends all sessions of a wallet, and tells how many there were. */
  revokeSessions(wallet: Address): Promise<number> {
    return this.#loginDeps.sessions.revokeWallet(getAddress(wallet), this.#loginDeps.now());
  }

  /** What a wallet holds, as read within the last seconds. @throws OracleError CHAIN_UNREACHABLE */
  getGateBalance(wallet: Address): Promise<GateReading> {
    const period = Math.floor(this.#loginDeps.now().getTime() / BALANCE_CACHE_MS);
    const address = getAddress(wallet);
    return this.#balances.get(`${address}:${period}`, () => this.#loginDeps.readGate(address));
  }

  /** What a wallet is worth now, logged in or not: see `WalletTiers`. @throws OracleError CHAIN_UNREACHABLE */
  getWalletTier(wallet: string): Promise<Tier> {
    return this.#walletTiers.getTier(wallet);
  }

  /** Deletes what has expired: for a job. */
  async purge(now: Date): Promise<void> {
    const { claims, nonces, sessions } = this.#loginDeps;
    await claims.purge(now);
    await nonces.purge(now);
    await sessions.purge(now);
    await this.keys.purge();
  }
}

function sessionEnded(): OracleError {
  return unauthenticated('The session has ended: it was logged out or revoked');
}
