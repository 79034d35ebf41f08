import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import type { Chain } from '../chain/client.ts';
import { isSignedBy } from '../chain/verify-signature.ts';
import type { GateReading, ReadGate } from './gate.ts';
import type { LoginClaims } from './login-claims.ts';
import { LOGIN_WINDOW_MS, loginMessage, loginRefused, loginRepeated, requireInWindow, timestampMs } from './login-message.ts';
import { Sessions } from './sessions.ts';
import { checkSiweMessage, type SiweExpectation } from './siwe.ts';
import type { SiweNonces } from './siwe-nonces.ts';
import { type PaidTier, tierRequired } from './tiers.ts';
import type { Tokens } from './tokens.ts';

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

export interface LoginParts {
  chain: Chain;
  readGate: ReadGate;
  claims: LoginClaims;
  nonces: SiweNonces;
  sessions: Sessions;
  tokens: Tokens;
  /** What a message of EIP-4361 must be made out to. */
  siwe: SiweExpectation;
  now(): Date;
}

/**
 * Login by the access message (interface, section 4.2).
 * @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CONFLICT for a message that has opened a session before,
 * TIER_REQUIRED with the balance, CHAIN_UNREACHABLE
 */
export async function logInByMessage(parts: LoginParts, { wallet, signature, timestamp }: WalletLogin): Promise<OpenedSession> {
  const signedMs = timestampMs(timestamp);
  requireInWindow(signedMs, parts.now(), 'timestamp');
  const hash = hashMessage(loginMessage(wallet, timestamp));
  // By the message, which holds wallet and time: the bytes of a signature can be changed without invalidating it.
  const once = { key: `message:${hash}`, usableUntil: new Date(signedMs + LOGIN_WINDOW_MS) };
  return admit(parts, { wallet: getAddress(wallet), hash, signature, once });
}

/**
 * Login by a message of EIP-4361 over a nonce of ours.
 * @throws OracleError INPUT_INVALID for a message that is not one, UNAUTHENTICATED naming its field at fault or `signature`,
 * CONFLICT for a nonce that has opened a session before, TIER_REQUIRED with the balance, CHAIN_UNREACHABLE
 */
export async function logInBySiwe(parts: LoginParts, { message, signature }: SiweLogin): Promise<OpenedSession> {
  const { wallet, nonce } = checkSiweMessage(message, parts.siwe, parts.now());
  const usableUntil = await parts.nonces.expiryOf(nonce, parts.now());
  if (usableUntil === null) throw loginRefused('message.nonce', 'The nonce was not issued here, or has expired', parts.now());
  return admit(parts, { wallet, hash: hashMessage(message), signature, once: { key: `nonce:${nonce}`, usableUntil } });
}

interface Admission {
  wallet: Address;
  hash: Hex;
  signature: Hex;
  once: { key: string; usableUntil: Date };
}

async function admit(parts: LoginParts, { wallet, hash, signature, once }: Admission): Promise<OpenedSession> {
  if (!(await isSignedBy(parts.chain, { wallet, hash, signature }))) {
    throw loginRefused('signature', 'The signature is not one of this wallet over this message', parts.now());
  }
  // The clocks of processes differ: kept for longer than any of them takes it.
  const giveBack = await parts.claims.take(once.key, new Date(once.usableUntil.getTime() + LOGIN_WINDOW_MS));
  if (giveBack === null) throw loginRepeated(parts.now());
  try {
    return await openSession(parts, wallet);
  } catch (error) {
    // A login without a session leaves its message usable. If this fails too, the client signs another.
    await giveBack().catch(() => undefined);
    throw error;
  }
}

async function openSession({ readGate, sessions, tokens, now }: LoginParts, wallet: Address): Promise<OpenedSession> {
  const createdAt = now();
  const gate = await readGate(wallet);
  if (gate.tier === 'public') throw tierRequired('basic', gate);
  const sessionId = Sessions.newId();
  const { token, expiresAt } = await tokens.issue({ sessionId, wallet, tier: gate.tier });
  await sessions.open({ _id: sessionId, wallet, tier: gate.tier, gate, gateReadAt: createdAt, createdAt, expiresAt });
  return { token, tier: gate.tier, wallet, gate, expiresAt };
}
