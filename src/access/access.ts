import type { Db } from 'mongodb';
import { type Address, getAddress } from 'viem';
import type { Chain } from '../chain/client.ts';
import type { OracleError } from '../errors.ts';
import { createCache } from '../market/cache.ts';
import { type Caller, PUBLIC_CALLER, type Tier } from '../record/caller.ts';
import type { SecretBox } from '../secret-box.ts';
import { createGate, type GateReading } from './gate.ts';
import { type LoginParts, logInByMessage, logInBySiwe, type OpenedSession, type SiweLogin, type WalletLogin } from './login.ts';
import { LOGIN_CLAIM_INDEXES, LoginClaims } from './login-claims.ts';
import { SESSION_INDEXES, type SessionDoc, Sessions } from './sessions.ts';
import type { SiweExpectation } from './siwe.ts';
import { NONCE_INDEXES, SiweNonces } from './siwe-nonces.ts';
import { Standings } from './standing.ts';
import { TokenKeys } from './token-keys.ts';
import { bearerToken, Tokens, unauthenticated } from './tokens.ts';
import { WalletTiers } from './wallet-tiers.ts';

export const ACCESS_INDEXES = [...SESSION_INDEXES, ...LOGIN_CLAIM_INDEXES, ...NONCE_INDEXES] as const;

export interface AccessOptions {
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
const BALANCE_MEMORY_MS = 5_000;
const BALANCES_REMEMBERED = 1_000;

/** Wallet login, session tokens and tiers, in whichever process. */
export class Access {
  readonly keys: TokenKeys;
  readonly siwe: SiweExpectation;
  readonly #parts: LoginParts;
  readonly #standings: Standings;
  readonly #walletTiers: WalletTiers;
  readonly #balances = createCache<GateReading>('gate-balances', BALANCES_REMEMBERED);

  constructor({ db, chain, secretBox, issuer, siwe, now }: AccessOptions) {
    this.keys = new TokenKeys({ db, secretBox, now });
    this.siwe = siwe;
    const sessions = new Sessions(db);
    const readGate = createGate(chain);
    const tokens = new Tokens({ keys: this.keys, issuer, now });
    this.#parts = { chain, readGate, claims: new LoginClaims(db), nonces: new SiweNonces(db), sessions, tokens, siwe, now };
    this.#standings = new Standings({ sessions, readGate, now });
    this.#walletTiers = new WalletTiers({ readGate, now });
  }

  /** See `logInByMessage`. */
  logIn(login: WalletLogin): Promise<OpenedSession> {
    return logInByMessage(this.#parts, login);
  }

  /** See `logInBySiwe`. */
  logInBySiwe(login: SiweLogin): Promise<OpenedSession> {
    return logInBySiwe(this.#parts, login);
  }

  /** A nonce for one login by `logInBySiwe`. */
  issueNonce(): Promise<{ nonce: string; expiresAt: Date }> {
    return this.#parts.nonces.issue(this.#parts.now());
  }

  /**
   * Who asks, by the `Authorization` header of a request; anybody without one. A token that is not good is refused, never ignored.
   * @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE
   */
  async identify(authorization: string | undefined): Promise<Caller> {
    if (authorization === undefined) return PUBLIC_CALLER;
    return (await this.identifyToken(bearerToken(authorization))).caller;
  }

  /** Who holds a token, and until when. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifyToken(token: string): Promise<{ caller: Caller; expiresAt: Date }> {
    const session = await this.#sessionOf(token);
    return { caller: await this.#standings.callerOf(session), expiresAt: session.expiresAt };
  }

  /** Who holds a session, for whoever has proven it otherwise, and until when. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identifySession(sessionId: string): Promise<{ caller: Caller; expiresAt: Date }> {
    const session = await this.#parts.sessions.live(sessionId, this.#parts.now());
    if (session === null) throw sessionEnded();
    return { caller: await this.#standings.callerOf(session), expiresAt: session.expiresAt };
  }

  /** The sessions among these that are live. */
  liveSessions(sessionIds: readonly string[]): Promise<SessionDoc[]> {
    return this.#parts.sessions.liveAmong(sessionIds, this.#parts.now());
  }

  /** What a session is worth now. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old to go by */
  callerOf(session: SessionDoc): Promise<Caller> {
    return this.#standings.callerOf(session);
  }

  async #sessionOf(token: string): Promise<SessionDoc> {
    const { tokens, sessions, now } = this.#parts;
    const { sessionId, wallet } = await tokens.verify(token);
    const session = await sessions.live(sessionId, now());
    // What the store says counts: a token alone cannot raise a tier or change a wallet.
    if (session === null || session.wallet !== wallet) throw sessionEnded();
    return session;
  }

  /** Ends a session; its token is refused from then on, in all processes. */
  logOut(sessionId: string): Promise<boolean> {
    return this.#parts.sessions.revoke(sessionId, this.#parts.now());
  }

  /** Ends all sessions of a wallet, and tells how many there were. */
  revokeWallet(wallet: Address): Promise<number> {
    return this.#parts.sessions.revokeWallet(getAddress(wallet), this.#parts.now());
  }

  /** What a wallet holds, as read within the last seconds. @throws OracleError CHAIN_UNREACHABLE */
  balanceOf(wallet: Address): Promise<GateReading> {
    const period = Math.floor(this.#parts.now().getTime() / BALANCE_MEMORY_MS);
    const address = getAddress(wallet);
    return this.#balances.get(`${address}:${period}`, () => this.#parts.readGate(address));
  }

  /** What a wallet is worth now, logged in or not: see `WalletTiers`. @throws OracleError CHAIN_UNREACHABLE */
  tierOf(wallet: string): Promise<Tier> {
    return this.#walletTiers.tierOf(wallet);
  }

  /** Deletes what has expired: for a job. */
  async purge(now: Date): Promise<void> {
    const { claims, nonces, sessions } = this.#parts;
    await claims.purge(now);
    await nonces.purge(now);
    await sessions.purge(now);
    await this.keys.purge();
  }
}

function sessionEnded(): OracleError {
  return unauthenticated('The session has ended: it was logged out or revoked');
}
