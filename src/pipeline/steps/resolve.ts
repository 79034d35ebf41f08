import { createHash } from 'node:crypto';
import type { ConfirmedAttestation } from '../../chain/eas/attester.ts';
import { formatDay, toDay } from '../../forecast/day.ts';
import { scoreDirection } from '../../forecast/scoring.ts';
import type { DailyClose } from '../../market/prices/daily-close.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import { buildExpectedResolution } from '../../record/commitment/expected-attestation.ts';
import { type CommittedValues, type ForecastDoc, type Resolution, toCents } from '../../record/forecast-doc.ts';
import type { PipelineDeps, StepContext } from '../deps.ts';

/** One reveal transaction per end of window; decision and batch key are stored first. @throws PRICE_UNAVAILABLE, and as `Attester` */
export async function runResolveStep(deps: PipelineDeps, { now, time }: StepContext): Promise<number> {
  const due = await deps.record.listDueForResolution(now);
  for (const [endsAtMs, docs] of Map.groupBy(due, (doc) => doc.resolvesAt.getTime())) {
    const over = await time.requireReached(endsAtMs, 'The end of an outcome window');
    const close = await deps.market.dailyClose(toDay(endsAtMs) - 1, now.getTime());
    const batch = formatBatchKey(endsAtMs, docs);
    const decisions = new Map(docs.map((doc) => [doc._id, buildResolution(doc as DecidedForecast, close, batch, now)]));
    await deps.record.recordResolutions(decisions, over);
    await revealDecided(deps, docs, over);
  }
  return due.length;
}

type DecidedForecast = ForecastDoc & { resolution: Resolution; values: CommittedValues; attestation: ConfirmedAttestation };

/** Derived from the ids of all due forecasts, so that workers that read the same set share the key, and a key's content is fixed. */
function formatBatchKey(endsAtMs: number, docs: ForecastDoc[]): string {
  const ids = createHash('sha256')
    .update(docs.map((doc) => doc._id).join(' '))
    .digest('hex');
  return `resolve:${formatDay(toDay(endsAtMs))}:${ids.slice(0, 16)}`;
}

function buildResolution({ values, btcAtSignalCents }: DecidedForecast, close: DailyClose, batch: string, now: Date): Resolution {
  const from = btcAtSignalCents as number;
  const to = toCents(close.priceUsd);
  return {
    btcAtSignalCents: from,
    btcAtResolutionCents: to,
    returnBps: Math.round((to / from - 1) * 10_000),
    actualDirection: to > from ? 'UP' : 'DOWN',
    outcome: values.signal === 'HOLD' ? 'HOLD' : scoreDirection(values.direction, from, to),
    venues: close.venues,
    deviationBps: close.deviationBps,
    decidedAt: now,
    batch,
  };
}

/** The first stored decision stands: after a crash, or beside another worker, it is revealed in its own batch. */
async function revealDecided(deps: PipelineDeps, docs: ForecastDoc[], over: ReachedInstant): Promise<void> {
  const stored = (await deps.record.listByIds(docs.map((doc) => doc._id))) as DecidedForecast[];
  for (const batch of new Set(stored.map((doc) => doc.resolution.batch))) {
    const members = (await deps.record.listByBatch(batch)) as DecidedForecast[];
    const references = await deps.attester.attestResolutions(
      batch,
      members.map((doc) => buildExpectedResolution(doc, deps.saltSecret)),
      over,
    );
    await deps.record.markRevealed(members, references);
  }
}
