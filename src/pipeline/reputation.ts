import { formatDay } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { windowOf } from '../record/forecast.ts';
import type { ReachedInstant } from '../trusted-time.ts';
import { evidencePath, wagerEvidence } from '../wager/evidence.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts, StepContext } from './parts.ts';

/**
 * Logs the outcome of every settled wager to the ERC-8004 reputation registry, by the reporter's wallet and labelled as the
 * operator's own. A wager's key finds a transaction that an earlier run sent. A market may settle before the day's forecasts do, and
 * an outcome tells the side that was taken: it is reported once all of them are told.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, and as `TrustedTime.reach`; the step waits.
 */
export async function reputationStep(parts: PipelineParts, { now, time }: StepContext): Promise<number> {
  const wagers = await parts.wagers.unreported(await parts.record.lastDayTold(now));
  for (const wager of wagers) {
    const { resolvesAtMs } = windowOf(wager.day, Math.max(...HORIZONS));
    const over = await time.reach(resolvesAtMs, `The last outcome of ${formatDay(wager.day)}`);
    await report(parts, { wager, now, over });
  }
  return wagers.length;
}

/** The header is written before the report is sent; a report that an earlier version has sent is of a file without it. */
async function report(parts: PipelineParts, { wager, now, over }: { wager: WagerDoc; now: Date; over: ReachedInstant }): Promise<void> {
  const outcome = wager.state === 'WIN' ? 'WIN' : 'LOSS';
  const header = { ...(await parts.reporter.describe(outcome)), createdAt: now.toISOString() };
  const prepared = await parts.wagers.prepareFeedback(wager, header);
  const [{ hash }, older] = [wagerEvidence(prepared), wagerEvidence({ ...prepared, feedbackHeader: undefined })];
  const [endpoint, feedbackUri] = [parts.publicUrl(), `${parts.publicUrl()}${evidencePath(wager._id)}`];
  const sent = await parts.reporter.report(`feedback:${wager._id}`, { outcome, endpoint, feedbackUri, feedbackHash: hash }, over);
  await parts.wagers.recordFeedback(wager._id, sent.txHash, { at: sent.at, hasHeader: sent.feedbackHash !== older.hash });
}
