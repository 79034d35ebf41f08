import { setTimeout as delay } from 'node:timers/promises';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { broadcast } from './broadcast.ts';
import type { WalletContext } from './context.ts';
import type { JournalRow } from './journal.ts';
import { readInclusion } from './receipt.ts';
import { getLastAttempt, recoverStuckTransaction } from './recover-stuck.ts';

const MAX_CONSECUTIVE_FAILURES = 3;
/** The first poll comes after an eighth of the interval, for chains that mine instantly. */
const FIRST_POLL_DIVISOR = 8;

/** @param fresh the row has not been broadcast yet @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, SHUTTING_DOWN */
export async function waitForConfirmation(context: WalletContext, row: JournalRow, fresh: boolean): Promise<JournalRow> {
  const { pollingIntervalMs } = context.chain;
  const deadline = performance.now() + context.timeoutMs;
  let current = row;
  let nextRecoveryAt = 0;
  if (fresh && (await broadcast(context, getLastAttempt(row))) === 'sent') nextRecoveryAt = performance.now() + context.recoveryIntervalMs;
  let lastFailure: unknown;
  let pauseMs = pollingIntervalMs / FIRST_POLL_DIVISOR;
  for (let failures = 0; ; ) {
    try {
      current = await pollRow(context, current, nextRecoveryAt);
      failures = 0;
    } catch (error) {
      failures += 1;
      lastFailure = error;
      // Without its signer a transaction is not replaced, but what was broadcast may still be mined.
      const mayPass = isOracleError(error, 'CHAIN_UNREACHABLE') || isOracleError(error, 'SIGNER_UNAVAILABLE');
      if (!mayPass || failures >= MAX_CONSECUTIVE_FAILURES) throw error;
    }
    if (isFinalRow(current)) {
      for (const { hash } of current.attempts) context.nodeRejections.delete(hash);
      return current;
    }
    if (performance.now() > deadline) throw unconfirmedError(context, current, lastFailure);
    if (performance.now() >= nextRecoveryAt) nextRecoveryAt = performance.now() + context.recoveryIntervalMs;
    await waitForNextPoll(context, pauseMs);
    pauseMs = Math.min(2 * pauseMs, pollingIntervalMs);
  }
}

export function isFinalRow(row: JournalRow): boolean {
  return row.state === 'CONFIRMED' || row.state === 'REVERTED';
}

async function pollRow(context: WalletContext, row: JournalRow, nextRecoveryAt: number): Promise<JournalRow> {
  const inclusion = await readInclusion(context, row);
  if (inclusion.at === 'depth') {
    const { state, receipt } = inclusion;
    return (await context.journal.update(row, { state, receipt })) ?? reloadRow(context, row);
  }
  if (inclusion.at === 'shallow' || performance.now() < nextRecoveryAt) return row;
  await recoverStuckTransaction(context, row);
  return reloadRow(context, row);
}

/** Another worker may have replaced, moved or confirmed the row. */
async function reloadRow({ journal }: WalletContext, row: JournalRow): Promise<JournalRow> {
  return (await journal.find(row._id)) ?? row;
}

async function waitForNextPoll({ signal }: WalletContext, ms: number): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping; the transaction is followed up at the next start', { cause });
  }
}

function unconfirmedError({ timeoutMs, nodeRejections }: WalletContext, row: JournalRow, cause: unknown): OracleError {
  const { hash } = getLastAttempt(row);
  const rejection = nodeRejections.get(hash);
  const transaction = `Transaction ${hash} (${row.key}, nonce ${row.nonce})`;
  return new OracleError(
    'TRANSACTION_UNCONFIRMED',
    `${transaction} is not confirmed after ${timeoutMs / 1000} s${rejection ? `; the node says: ${rejection}` : ''}`,
    { suggestedAction: 'Retry with the same key: it continues the same transaction.', cause },
  );
}
