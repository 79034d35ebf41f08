import type { Transaction } from 'viem';
import { broadcast } from './broadcast.ts';
import type { WalletContext } from './context.ts';
import { findDisplacingTransaction, isSameCall } from './displaced-nonce.ts';
import { bumpFees } from './fees.ts';
import type { JournalRow, SignedAttempt } from './journal.ts';
import { readInclusion } from './receipt.ts';
import { fillNonce, moveToNextNonce, readNextNonce } from './reserve-nonce.ts';
import { signAttempt } from './sign.ts';

/**
 * Gets a transaction going that is in no block: hands it to the node again, and sees to the wallet's lowest open nonce, which
 * holds up all others whoever reserved it. Safe to run at the same time in several processes.
 */
export async function recoverStuckTransaction(context: WalletContext, row: JournalRow): Promise<void> {
  if (row.address !== context.account.address) {
    // Signed before the role got another key: it can be repeated, but not replaced.
    await broadcast(context, getLastAttempt(row));
    return;
  }
  const next = await readNextNonce(context);
  if (next > row.nonce) return recoverUsedNonce(context, row, next);
  await unblockNonce(context, next);
  if (next < row.nonce) await broadcast(context, getLastAttempt(row));
}

/**
 * Its nonce is used. By us: the receipt will be seen. By its own call, which the database has forgotten the signature of: it is that. By
 * another, for good: it gets a new nonce.
 */
async function recoverUsedNonce(context: WalletContext, row: JournalRow, next: number): Promise<void> {
  if ((await readInclusion(context, row)).at !== 'unseen') return;
  const other = await findDisplacingTransaction(context, row);
  if (other === null) return;
  if (isSameCall(other, row)) {
    // Not as the last one: that is what is broadcast again, and replaced.
    await context.journal.update(row, { attempts: [toMinedAttempt(other), ...row.attempts] });
    return;
  }
  const moved = await moveToNextNonce(context, row, next);
  if (moved) await broadcast(context, getLastAttempt(moved));
}

/** What was mined, without the signature: the chain has it. */
function toMinedAttempt({ hash, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: Transaction): SignedAttempt {
  const fees = { maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(maxPriorityFeePerGas) };
  return { hash, raw: '0x', ...fees, signedAt: new Date() };
}

async function unblockNonce(context: WalletContext, nonce: number): Promise<void> {
  const { chain, account, journal } = context;
  const row = await journal.findByNonce(chain.chainId, account.address, nonce);
  const attempt = row ? await getOrReplaceAttempt(context, row) : await fillStaleGap(context, nonce);
  if (attempt) await broadcast(context, attempt);
}

/** The last signature, or a dearer one when that is stuck: too old, or below the base fee. Written down before it is used. */
async function getOrReplaceAttempt(context: WalletContext, row: JournalRow): Promise<SignedAttempt> {
  const last = getLastAttempt(row);
  const quote = await context.fees.quoteFresh();
  const old = Date.now() - last.signedAt.getTime() > context.stuckAfterMs;
  if (!old && BigInt(last.maxFeePerGas) >= quote.baseFeePerGas) return last;
  const previous = { maxFeePerGas: BigInt(last.maxFeePerGas), maxPriorityFeePerGas: BigInt(last.maxPriorityFeePerGas) };
  const fees = bumpFees(previous, quote, context.feeCap);
  if (fees === null || !isPendingRow(row)) return last;
  const replacement = await signAttempt(context, row, fees);
  const changed = await context.journal.update(row, { attempts: [...row.attempts, replacement] });
  return changed ? replacement : last;
}

/** A hole that stays: its transaction was dropped in a reorganisation, and nothing of ours can take its place. */
async function fillStaleGap(context: WalletContext, nonce: number): Promise<SignedAttempt | null> {
  const since = context.nonceGaps.get(nonce) ?? Date.now();
  context.nonceGaps.set(nonce, since);
  if (Date.now() - since < context.stuckAfterMs) return null;
  context.nonceGaps.delete(nonce);
  return fillNonce(context, nonce);
}

function isPendingRow(row: JournalRow): boolean {
  return row.state === 'SENT' || row.state === 'FILLER';
}

export function getLastAttempt(row: JournalRow): SignedAttempt {
  return row.attempts.at(-1)!;
}
