import { setTimeout as delay } from 'node:timers/promises';
import { isOracleError, OracleError } from '../../errors.ts';
import type { JournalRow } from '../journal.ts';
import { broadcast } from './broadcast.ts';
import type { WalletContext } from './context.ts';
import { heal, lastAttempt } from './heal.ts';
import { sight } from './receipt.ts';

/** Failed requests in a row that a wait puts up with. */
const PATIENCE = 3;
/** The first poll comes after an eighth of the interval, for chains that mine at once. */
const FIRST_POLL_PART = 8;

/**
 * Waits until a row is final and returns it, broadcasting, repeating and replacing its transaction as needed. `fresh`: nobody
 * has broadcast it yet.
 * @throws OracleError TRANSACTION_UNCONFIRMED after the wallet's time-out, CHAIN_UNREACHABLE, SHUTTING_DOWN.
 */
export async function confirm(context: WalletContext, row: JournalRow, fresh: boolean): Promise<JournalRow> {
  const deadline = Date.now() + context.timeoutMs;
  let current = row;
  let healAt = 0;
  if (fresh && (await broadcast(context, lastAttempt(row))) === 'sent') healAt = Date.now() + context.healEveryMs;
  let lastFailure: unknown;
  let pauseMs = context.chain.pollingIntervalMs / FIRST_POLL_PART;
  for (let failures = 0; ; ) {
    try {
      current = await advance(context, current, healAt);
      failures = 0;
    } catch (error) {
      failures += 1;
      lastFailure = error;
      if (!isOracleError(error, 'CHAIN_UNREACHABLE') || failures >= PATIENCE) throw error;
    }
    if (isFinal(current)) {
      for (const { hash } of current.attempts) context.refusals.delete(hash);
      return current;
    }
    if (Date.now() > deadline) throw unconfirmed(context, current, lastFailure);
    if (Date.now() >= healAt) healAt = Date.now() + context.healEveryMs;
    await pause(context, pauseMs);
    pauseMs = Math.min(2 * pauseMs, context.chain.pollingIntervalMs);
  }
}

export function isFinal(row: JournalRow): boolean {
  return row.state === 'CONFIRMED' || row.state === 'REVERTED';
}

/** One look at the chain; the row as it stands afterwards. */
async function advance(context: WalletContext, row: JournalRow, healAt: number): Promise<JournalRow> {
  const sighting = await sight(context, row);
  if (sighting.at === 'depth') {
    const { state, receipt } = sighting;
    return (await context.journal.change(row, { state, receipt })) ?? reload(context, row);
  }
  if (sighting.at === 'shallow' || Date.now() < healAt) return row;
  await heal(context, row);
  return reload(context, row);
}

/** Another worker may have replaced, moved or confirmed it. */
async function reload({ journal }: WalletContext, row: JournalRow): Promise<JournalRow> {
  return (await journal.find(row._id)) ?? row;
}

async function pause({ signal }: WalletContext, ms: number): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping; the transaction is followed up at the next start', { cause });
  }
}

function unconfirmed({ timeoutMs, refusals }: WalletContext, row: JournalRow, cause: unknown): OracleError {
  const { hash } = lastAttempt(row);
  const refusal = refusals.get(hash);
  return new OracleError(
    'TRANSACTION_UNCONFIRMED',
    `Transaction ${hash} (${row.key}, nonce ${row.nonce}) is not confirmed after ${timeoutMs / 1000} s${refusal ? `; the node says: ${refusal}` : ''}`,
    { suggestedAction: 'Call again with the same key: it goes on where it stands.', cause },
  );
}
