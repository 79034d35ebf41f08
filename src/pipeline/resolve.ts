import { createHash } from 'node:crypto';
import type { Attested } from '../chain/attester.ts';
import { dayOf, formatDay } from '../forecast/day.ts';
import { directionOutcome } from '../forecast/scoring.ts';
import type { DailyClose } from '../market/daily-close.ts';
import { expectedResolution } from '../record/expected.ts';
import { type CommittedValues, type ForecastDoc, type Resolution, toCents } from '../record/forecast.ts';
import type { ReachedInstant } from '../trusted-time.ts';
import type { PipelineParts, StepContext } from './parts.ts';

/**
 * Decides every pending forecast whose window has closed, and reveals it on chain: one transaction for all forecasts that end at the
 * same time. Each decision is written, with the transaction it belongs to, before anything is sent.
 * @throws OracleError PRICE_UNAVAILABLE while a close is not settled, TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, and as
 * `TrustedTime.reach`
 */
export async function resolveStep(parts: PipelineParts, { now, time }: StepContext): Promise<number> {
  const due = await parts.record.dueForResolution(now);
  for (const [endsAtMs, docs] of Map.groupBy(due, (doc) => doc.resolvesAt.getTime())) {
    const over = await time.reach(endsAtMs, 'The end of an outcome window');
    const close = await parts.market.dailyClose(dayOf(endsAtMs) - 1, now.getTime());
    const batch = batchOf(endsAtMs, docs);
    const decisions = new Map(docs.map((doc) => [doc._id, resolutionOf(doc as Decided, close, batch, now)]));
    await parts.record.decide(decisions, over);
    await revealDecided(parts, docs, over);
  }
  return due.length;
}

type Decided = ForecastDoc & { resolution: Resolution; values: CommittedValues; attestation: Attested };

/**
 * Names the transaction by all forecasts that were due: whoever saw the same ones uses the same name, whoever saw others another, so
 * that what belongs to a name is settled once those forecasts are decided.
 */
function batchOf(endsAtMs: number, docs: ForecastDoc[]): string {
  const ids = createHash('sha256')
    .update(docs.map((doc) => doc._id).join(' '))
    .digest('hex');
  return `resolve:${formatDay(dayOf(endsAtMs))}:${ids.slice(0, 16)}`;
}

function resolutionOf({ values, btcAtSignalCents }: Decided, close: DailyClose, batch: string, now: Date): Resolution {
  const from = btcAtSignalCents as number;
  const to = toCents(close.priceUsd);
  return {
    btcAtSignalCents: from,
    btcAtResolutionCents: to,
    returnBps: Math.round((to / from - 1) * 10_000),
    actualDirection: to > from ? 'UP' : 'DOWN',
    outcome: values.signal === 'HOLD' ? 'HOLD' : directionOutcome(values.direction, from, to),
    venues: close.venues,
    deviationBps: close.deviationBps,
    decidedAt: now,
    batch,
  };
}

/** The first decision stands: after a crash, or beside another worker, the stored one is revealed, in the batch it was given. */
async function revealDecided(parts: PipelineParts, docs: ForecastDoc[], over: ReachedInstant): Promise<void> {
  const stored = (await parts.record.byIds(docs.map((doc) => doc._id))) as Decided[];
  for (const batch of new Set(stored.map((doc) => doc.resolution.batch))) {
    const members = (await parts.record.ofBatch(batch)) as Decided[];
    const references = await parts.attester.attestResolutions(
      batch,
      members.map((doc) => expectedResolution(doc, parts.saltSecret)),
      over,
    );
    await parts.record.markRevealed(members, references);
  }
}
