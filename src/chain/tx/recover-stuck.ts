import type { Transaction } from 'viem';
import { broadcast } from './broadcast.ts';
import type { WalletContext } from './context.ts';
import { findDisplacingTransaction, isSameCall } from './displaced-nonce.ts';
import { bumpFees } from './fees.ts';
import type { JournalRow, SignedAttempt } from './journal.ts';
import { readInclusion } from './receipt.ts';
import { fillNonce, moveToNextNonce, readNextNonce } from './reserve-nonce.ts';
import { signAttempt } from './sign.ts';

/** Rebroadcasts, and unblocks the wallet's lowest open nonce, which blocks all higher ones. Safe to run concurrently in several processes. */
export async function recoverStuckTransaction(context: WalletContext, row: JournalRow): Promise<void> {
  if (row.address !== context.account.address) {
    // Signed with a previous key of the role: it can be rebroadcast, but not replaced.
    await broadcast(context, getLastAttempt(row));
    return;
  }
  const next = await readNextNonce(context);
  if (next > row.nonce) return recoverUsedNonce(context, row, next);
  await unblockNonce(context, next);
  if (next < row.nonce) await broadcast(context, getLastAttempt(row));
}

/** Used by the row's own attempt: wait; by the same call under a lost signature: adopt it; by a foreign transaction: take a new nonce. */
async function recoverUsedNonce(context: WalletContext, row: JournalRow, next: number): Promise<void> {
  if ((await readInclusion(context, row)).at !== 'unseen') return;
  const other = await findDisplacingTransaction(context, row);
  if (other === null) return;
  if (isSameCall(other, row)) {
    // Prepended, since the last attempt is the one that is rebroadcast and replaced.
    await context.journal.update(row, { attempts: [toMinedAttempt(other), ...row.attempts] });
    return;
  }
  const moved = await moveToNextNonce(context, row, next);
  if (moved) await broadcast(context, getLastAttempt(moved));
}

/** An attempt without its signature, which only the chain has. */
function toMinedAttempt({ hash, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: Transaction): SignedAttempt {
  return {
    hash,
    raw: '0x',
    maxFeePerGas: String(maxFeePerGas),
    maxPriorityFeePerGas: String(maxPriorityFeePerGas),
    signedAt: new Date(),
  };
}

async function unblockNonce(context: WalletContext, nonce: number): Promise<void> {
  const { chain, account, journal } = context;
  const row = await journal.findByNonce(chain.chainId, account.address, nonce);
  const attempt = row ? await getOrReplaceAttempt(context, row) : await fillStaleGap(context, nonce);
  if (attempt) await broadcast(context, attempt);
}

/** The last attempt, or a replacement when it is too old or below the base fee. The journal stores a replacement before its broadcast. */
async function getOrReplaceAttempt(context: WalletContext, row: JournalRow): Promise<SignedAttempt> {
  const last = getLastAttempt(row);
  const quote = await context.fees.quoteFresh();
  // A signing time far ahead comes from a clock that has been set back since.
  const isOld = Math.abs(Date.now() - last.signedAt.getTime()) > context.stuckAfterMs;
  if (!isOld && BigInt(last.maxFeePerGas) >= quote.baseFeePerGas) return last;
  const previous = { maxFeePerGas: BigInt(last.maxFeePerGas), maxPriorityFeePerGas: BigInt(last.maxPriorityFeePerGas) };
  const fees = bumpFees(previous, quote, context.feeCap);
  const isPending = row.state === 'SENT' || row.state === 'FILLER';
  if (fees === null || !isPending) return last;
  const replacement = await signAttempt(context, row, fees);
  const changed = await context.journal.update(row, { attempts: [...row.attempts, replacement] });
  return changed ? replacement : last;
}

/** Fills a nonce gap that persists: its transaction was dropped in a reorganisation, and no row can take its nonce. */
async function fillStaleGap(context: WalletContext, nonce: number): Promise<SignedAttempt | null> {
  const since = context.nonceGaps.get(nonce) ?? performance.now();
  context.nonceGaps.set(nonce, since);
  if (performance.now() - since < context.stuckAfterMs) return null;
  context.nonceGaps.delete(nonce);
  return fillNonce(context, nonce);
}

export function getLastAttempt(row: JournalRow): SignedAttempt {
  return row.attempts.at(-1)!;
}
