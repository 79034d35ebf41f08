import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import type { GateReading, ReadGateBalance } from '../tiers/gate-balance.ts';
import { type PaidTier, tierRequired } from '../tiers/tiers.ts';
import type { AccessTokens } from '../tokens/access-tokens.ts';
import { SessionStore } from '../tokens/session-store.ts';
import type { LoginClaimStore } from './login-claim-store.ts';
import {
  formatLoginMessage,
  LOGIN_WINDOW_MS,
  loginAlreadyUsed,
  loginRejected,
  requireWithinLoginWindow,
  toTimestampMs,
} from './login-message.ts';
import { checkSiweMessage, type SiweExpectation } from './siwe-message.ts';
import type { SiweNonceStore } from './siwe-nonce-store.ts';

/** What a wallet gets that has logged in. */
export interface OpenedSession {
  token: string;
  tier: PaidTier;
  wallet: Address;
  gate: GateReading;
  expiresAt: Date;
}

/** The body of `POST /api/svc/oracle/verify`: `wallet` and `timestamp` as they were signed. */
export interface WalletLogin {
  wallet: Address;
  signature: Hex;
  timestamp: number;
}

export interface SiweLogin {
  message: string;
  signature: Hex;
}

export interface LoginDeps {
  chain: Chain;
  readGate: ReadGateBalance;
  claims: LoginClaimStore;
  nonces: SiweNonceStore;
  sessions: SessionStore;
  tokens: AccessTokens;
  /** What a message of EIP-4361 must be made out to. */
  siwe: SiweExpectation;
  now(): Date;
}

/**
 * Login by the access message (interface, section 4.2).
 * @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CONFLICT for a message that has opened a session before,
 * TIER_REQUIRED with the balance, CHAIN_UNREACHABLE
 */
export async function logInByMessage(deps: LoginDeps, { wallet, signature, timestamp }: WalletLogin): Promise<OpenedSession> {
  const signedMs = toTimestampMs(timestamp);
  requireWithinLoginWindow(signedMs, deps.now(), 'timestamp');
  const hash = hashMessage(formatLoginMessage(wallet, timestamp));
  // By the message, which holds wallet and time: the bytes of a signature can be changed without invalidating it.
  const claim = { key: `message:${hash}`, usableUntil: new Date(signedMs + LOGIN_WINDOW_MS) };
  return completeLogin(deps, { wallet: getAddress(wallet), hash, signature, claim });
}

/**
 * Login by a message of EIP-4361 over a nonce of ours.
 * @throws OracleError INPUT_INVALID for a message that is not one, UNAUTHENTICATED naming its field at fault or `signature`,
 * CONFLICT for a nonce that has opened a session before, TIER_REQUIRED with the balance, CHAIN_UNREACHABLE
 */
export async function logInBySiwe(deps: LoginDeps, { message, signature }: SiweLogin): Promise<OpenedSession> {
  const { wallet, nonce } = checkSiweMessage(message, deps.siwe, deps.now());
  const usableUntil = await deps.nonces.findExpiry(nonce, deps.now());
  if (usableUntil === null) throw loginRejected('message.nonce', 'The nonce was not issued here, or has expired', deps.now());
  return completeLogin(deps, { wallet, hash: hashMessage(message), signature, claim: { key: `nonce:${nonce}`, usableUntil } });
}

interface LoginProof {
  wallet: Address;
  hash: Hex;
  signature: Hex;
  claim: { key: string; usableUntil: Date };
}

async function completeLogin(deps: LoginDeps, { wallet, hash, signature, claim }: LoginProof): Promise<OpenedSession> {
  if (!(await isSignedBy(deps.chain, { wallet, hash, signature }))) {
    throw loginRejected('signature', 'The signature is not one of this wallet over this message', deps.now());
  }
  // The clocks of processes differ: kept for longer than any of them takes it.
  const release = await deps.claims.acquire(claim.key, new Date(claim.usableUntil.getTime() + LOGIN_WINDOW_MS));
  if (release === null) throw loginAlreadyUsed(deps.now());
  try {
    return await openSession(deps, wallet);
  } catch (error) {
    // A login without a session leaves its message usable. If this fails too, the client signs another.
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
  await sessions.insert({ _id: sessionId, wallet, tier: gate.tier, gate, gateReadAt: createdAt, createdAt, expiresAt });
  return { token, tier: gate.tier, wallet, gate, expiresAt };
}
