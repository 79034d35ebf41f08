import { formatDay } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { windowOf } from '../record/forecast.ts';
import { evidencePath, wagerEvidence } from '../wager/evidence.ts';
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
    const report = {
      outcome: wager.state === 'WIN' ? 'WIN' : 'LOSS',
      endpoint: parts.publicUrl(),
      feedbackUri: `${parts.publicUrl()}${evidencePath(wager._id)}`,
      feedbackHash: wagerEvidence(wager).hash,
    } as const;
    const { txHash, at } = await parts.reporter.report(`feedback:${wager._id}`, report, over);
    await parts.wagers.recordFeedback(wager._id, txHash, at);
  }
  return wagers.length;
}
