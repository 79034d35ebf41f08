import type { Transaction } from 'viem';
import type { JournalRow, SignedAttempt } from '../journal.ts';
import { broadcast } from './broadcast.ts';
import { isSameCall, spentOtherwise } from './consumed.ts';
import type { WalletContext } from './context.ts';
import { bumpFees } from './fees.ts';
import { sight } from './receipt.ts';
import { fillNonce, moveToNextNonce, nextNonceOnChain } from './reserve.ts';
import { signAttempt } from './sign.ts';

/**
 * Gets a transaction going that is in no block: hands it to the node again, and sees to the wallet's lowest open nonce, which
 * holds up all others whoever reserved it. Safe to run at the same time in several processes.
 */
export async function heal(context: WalletContext, row: JournalRow): Promise<void> {
  if (row.address !== context.account.address) {
    // Signed before the role got another key: it can be repeated, but not replaced.
    await broadcast(context, lastAttempt(row));
    return;
  }
  const next = await nextNonceOnChain(context);
  if (next > row.nonce) return healUsedNonce(context, row, next);
  await unblock(context, next);
  if (next < row.nonce) await broadcast(context, lastAttempt(row));
}

/**
 * Its nonce is used. By us: the receipt will be seen. By its own call, which the database has forgotten the signature of: it is that. By
 * another, for good: it gets a new nonce.
 */
async function healUsedNonce(context: WalletContext, row: JournalRow, next: number): Promise<void> {
  if ((await sight(context, row)).at !== 'unseen') return;
  const other = await spentOtherwise(context, row);
  if (other === null) return;
  if (isSameCall(other, row)) {
    // Not as the last one: that is what is broadcast again, and replaced.
    await context.journal.change(row, { attempts: [foundAttempt(other), ...row.attempts] });
    return;
  }
  const moved = await moveToNextNonce(context, row, next);
  if (moved) await broadcast(context, lastAttempt(moved));
}

/** What was mined, without the signature: the chain has it. */
function foundAttempt({ hash, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: Transaction): SignedAttempt {
  const fees = { maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(maxPriorityFeePerGas) };
  return { hash, raw: '0x', ...fees, signedAt: new Date() };
}

async function unblock(context: WalletContext, nonce: number): Promise<void> {
  const { chain, account, journal } = context;
  const row = await journal.atNonce(chain.chainId, account.address, nonce);
  const attempt = row ? await attemptFor(context, row) : await fillerFor(context, nonce);
  if (attempt) await broadcast(context, attempt);
}

/** The last signature, or a dearer one when that is stuck: too old, or below the base fee. Written down before it is used. */
async function attemptFor(context: WalletContext, row: JournalRow): Promise<SignedAttempt> {
  const last = lastAttempt(row);
  const quote = await context.fees.fresh();
  const old = Date.now() - last.signedAt.getTime() > context.stuckAfterMs;
  if (!old && BigInt(last.maxFeePerGas) >= quote.baseFeePerGas) return last;
  const previous = { maxFeePerGas: BigInt(last.maxFeePerGas), maxPriorityFeePerGas: BigInt(last.maxPriorityFeePerGas) };
  const fees = bumpFees(previous, quote, context.feeCap);
  if (fees === null || !isOpen(row)) return last;
  const replacement = await signAttempt(context, row, fees);
  const changed = await context.journal.change(row, { attempts: [...row.attempts, replacement] });
  return changed ? replacement : last;
}

/** A hole that stays: its transaction was dropped in a reorganisation, and nothing of ours can take its place. */
async function fillerFor(context: WalletContext, nonce: number): Promise<SignedAttempt | null> {
  const since = context.holes.get(nonce) ?? Date.now();
  context.holes.set(nonce, since);
  if (Date.now() - since < context.stuckAfterMs) return null;
  context.holes.delete(nonce);
  return fillNonce(context, nonce);
}

function isOpen(row: JournalRow): boolean {
  return row.state === 'SENT' || row.state === 'FILLER';
}

export function lastAttempt(row: JournalRow): SignedAttempt {
  return row.attempts.at(-1)!;
}
