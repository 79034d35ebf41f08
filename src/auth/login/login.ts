import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { isSignedBy, type SignedHash } from '../../chain/verify-signature.ts';
import type { SignedActs } from '../signed-acts.ts';
import type { GateReading, ReadGateBalance } from '../tiers/gate-balance.ts';
import { type PaidTier, tierRequired } from '../tiers/tiers.ts';
import type { AccessTokens } from '../tokens/access-tokens.ts';
import { SessionStore } from '../tokens/session-store.ts';
import { TOKEN_LIFETIME_SECONDS } from '../tokens/token-key-store.ts';
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

export interface OpenedSession {
  token: string;
  tier: PaidTier;
  wallet: Address;
  gate: GateReading;
  expiresAt: Date;
}

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
  acts: SignedActs;
  sessions: SessionStore;
  tokens: AccessTokens;
  siwe: SiweExpectation;
  now(): Date;
}

/** @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CONFLICT for a replayed message, TIER_REQUIRED, CHAIN_UNREACHABLE */
export async function logInByMessage(deps: LoginDeps, { wallet, signature, timestamp }: WalletLogin): Promise<OpenedSession> {
  const signedMs = toTimestampMs(timestamp);
  requireWithinLoginWindow(signedMs, deps.now(), 'timestamp');
  const hash = hashMessage(formatLoginMessage(wallet, timestamp));
  // Keyed by the message, which contains wallet and time: signatures are malleable.
  const claim = { key: `message:${hash}`, usableUntil: new Date(signedMs + LOGIN_WINDOW_MS) };
  return completeLogin(deps, { wallet: getAddress(wallet), hash, signature, claim });
}

/** @throws OracleError INPUT_INVALID for a malformed message, UNAUTHENTICATED, CONFLICT for a used nonce, TIER_REQUIRED, CHAIN_UNREACHABLE */
export async function logInBySiwe(deps: LoginDeps, { message, signature }: SiweLogin): Promise<OpenedSession> {
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
