import { formatDay } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { ReachedInstant } from '../../platform/time.ts';
import { getOutcomeWindow } from '../../record/forecast-doc.ts';
import { buildEvidencePath, buildWagerEvidence, type WagerDoc } from '../../wager/wagers.ts';
import type { PipelineContext, StepContext } from '../forecaster.ts';

/** An outcome discloses the side of the wager: it is reported once all forecasts of its day are public. A rerun finds it by its key. */
export async function runReputationStep(deps: PipelineContext, { now, time }: StepContext): Promise<number> {
  const unreported = await deps.wagers.listUnreported();
  if (unreported.length === 0) return 0;
  // A report cannot be taken back, and a replay writes many days at once: the newest outcomes decide.
  await deps.record.known.catchUp();
  const lastPublicDay = deps.record.known.getLastPublicDay(now);
  const wagers = unreported.filter(({ day }) => day <= lastPublicDay);
  for (const wager of wagers) {
    const { resolvesAtMs } = getOutcomeWindow(wager.day, Math.max(...HORIZONS));
    const over = await time.requireReached(resolvesAtMs, `The last outcome of ${formatDay(wager.day)}`);
    await reportOutcome(deps, { wager, now, over });
  }
  return wagers.length;
}

/** The header is stored before the report is sent; reports of earlier versions hash a file without it. */
async function reportOutcome(deps: PipelineContext, { wager, now, over }: { wager: WagerDoc; now: Date; over: ReachedInstant }) {
  const outcome = wager.state === 'WIN' ? 'WIN' : 'LOSS';
  const header = { ...(await deps.reporter.describe(outcome)), createdAt: now.toISOString() };
  const prepared = await deps.wagers.prepareFeedback(wager, header);
  const [{ hash }, older] = [buildWagerEvidence(prepared), buildWagerEvidence({ ...prepared, feedbackHeader: undefined })];
  const [endpoint, feedbackUri] = [deps.publicUrl, `${deps.publicUrl}${buildEvidencePath(wager._id)}`];
  const sent = await deps.reporter.report(`feedback:${wager._id}`, { outcome, endpoint, feedbackUri, feedbackHash: hash }, over);
  await deps.wagers.recordFeedback(wager._id, sent.txHash, { at: sent.at, hasHeader: sent.feedbackHash !== older.hash });
}
