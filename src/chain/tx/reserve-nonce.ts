import { chainCall } from '../rpc/chain-call.ts';
import type { WalletContext } from './context.ts';
import { capFees, type FeeQuote } from './fees.ts';
import type { JournalRow, JournalState, SignedAttempt } from './journal.ts';
import { signAttempt } from './sign.ts';

/** A call ready to sign, except for its nonce. Wei and gas as decimal text. */
export interface PreparedCall extends Pick<JournalRow, 'key' | 'to' | 'data' | 'value' | 'gas'> {
  quote: FeeQuote;
}

export function readNextNonce({ chain, account }: WalletContext): Promise<number> {
  return chainCall('Reading the next nonce', () => chain.client.getTransactionCount({ address: account.address, blockTag: 'latest' }));
}

/** Writes the signed transaction to the journal. `fresh` is false when another worker reserved the key first; the row is then that worker's. */
export async function reserveNonce(
  context: WalletContext,
  call: PreparedCall,
  nonceOnChain: number,
): Promise<{ row: JournalRow; fresh: boolean }> {
  return context.runExclusive(async () => {
    for (let nonce = await findFreeNonce(context, nonceOnChain); ; nonce += 1) {
      const row = await createRow(context, call, { nonce, state: 'SENT' });
      if (await context.journal.insert(row)) return { row, fresh: true };
      const existing = await context.journal.find(row._id);
      if (existing) return { row: existing, fresh: false };
    }
  });
}

/** For a row whose nonce a foreign transaction used. Null when another worker changed the row first. */
export async function moveToNextNonce(context: WalletContext, row: JournalRow, nonceOnChain: number): Promise<JournalRow | null> {
  return context.runExclusive(async () => {
    await context.allowForeignTransactions?.(row.signedFromBlock);
    const quote = await context.fees.quoteFresh();
    const lost = { nonce: row.nonce, hashes: row.attempts.map((attempt) => attempt.hash) };
    for (let nonce = await findFreeNonce(context, nonceOnChain); ; nonce += 1) {
      const attempts = [await signAttempt(context, { ...row, nonce }, capFees(quote, context.feeCap))];
      const change = { nonce, attempts, signedFromBlock: quote.blockNumber, displaced: [...row.displaced, lost] };
      const moved = await context.journal.update(row, change);
      if (moved) return moved;
      const current = await context.journal.find(row._id);
      if (current?.version !== row.version) return null;
    }
  });
}

/** Closes a nonce gap by a zero-value transfer to self; see `FILLER`. */
export async function fillNonce(context: WalletContext, nonce: number): Promise<SignedAttempt | null> {
  const to = context.account.address;
  const quote = await context.fees.quoteFresh();
  const call: PreparedCall = { key: `fill:${nonce}`, to, data: '0x', value: '0', gas: '21000', quote };
  const row = await createRow(context, call, { nonce, state: 'FILLER' });
  return (await context.journal.insert(row)) ? row.attempts[0] : null;
}

export function buildRowId({ chain, role }: WalletContext, key: string): string {
  return `${chain.chainId}:${role}:${key}`;
}

/** The chain is read before the journal, because another worker writes to the journal before it broadcasts. */
async function findFreeNonce({ chain, account, journal, allowForeignTransactions }: WalletContext, nonceOnChain: number): Promise<number> {
  const known = ((await journal.findHighestNonce(chain.chainId, account.address)) ?? -1) + 1;
  if (nonceOnChain > known) await allowForeignTransactions?.();
  return Math.max(nonceOnChain, known);
}

async function createRow(
  context: WalletContext,
  { quote, ...call }: PreparedCall,
  { nonce, state }: { nonce: number; state: JournalState },
): Promise<JournalRow> {
  const { chain, account, role } = context;
  const at = new Date();
  return {
    _id: buildRowId(context, call.key),
    role,
    chainId: chain.chainId,
    address: account.address,
    nonce,
    ...call,
    attempts: [await signAttempt(context, { ...call, nonce }, capFees(quote, context.feeCap))],
    displaced: [],
    receipt: null,
    signedFromBlock: quote.blockNumber,
    state,
    version: 0,
    createdAt: at,
    updatedAt: at,
  };
}
