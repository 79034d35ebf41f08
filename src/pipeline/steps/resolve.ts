import type { ConfirmedAttestation } from '../../chain/eas/eas.ts';
import { toDay } from '../../forecast/day.ts';
import type { HorizonDays } from '../../forecast/model.ts';
import type { ReachedInstant } from '../../platform/time.ts';
import { buildExpectedResolution } from '../../record/commitment.ts';
import { buildDistributionScores } from '../../record/distribution-scores.ts';
import {
  buildResolution,
  type CommittedValues,
  type ForecastDoc,
  formatBatchKey,
  fromCents,
  type Resolution,
  toCents,
} from '../../record/forecast-doc.ts';
import type { PipelineContext, StepContext } from '../forecaster.ts';

/** One reveal transaction per end of window; decision and batch key are stored first. @throws PRICE_UNAVAILABLE, and as `Attester` */
export async function runResolveStep(deps: PipelineContext, { now, time }: StepContext): Promise<number> {
  const due = await deps.record.listDueForResolution(now);
  for (const [endsAtMs, docs] of Map.groupBy(due, (doc) => doc.resolvesAt.getTime())) {
    const over = await time.requireReached(endsAtMs, 'The end of an outcome window');
    const close = await deps.market.dailyClose(toDay(endsAtMs) - 1, now.getTime());
    const batch = formatBatchKey(docs);
    const { venues, deviationBps } = close;
    const facts = { btcAtResolutionCents: toCents(close.priceUsd), venues, deviationBps, batch, decidedAt: now };
    const decide = (doc: ForecastDoc) => buildResolution(doc, { btcAtSignalCents: doc.btcAtSignalCents!, ...facts });
    const decisions = new Map(docs.map((doc) => [doc._id, decide(doc)]));
    if (await deps.record.recordResolutions(decisions, over)) await revealBatch(deps, batch, { members: toDecided(docs, decisions), over });
    else await revealStored(deps, docs, over);
  }
  return due.length;
}

type DecidedForecast = ForecastDoc & { resolution: Resolution; values: CommittedValues; attestation: ConfirmedAttestation };

/** As stored, and in the order of `listByBatch`: the ids that a batch key is derived from are all its members. */
function toDecided(docs: ForecastDoc[], decisions: ReadonlyMap<string, Resolution>): DecidedForecast[] {
  const decided = docs.map((doc) => ({ ...doc, resolution: decisions.get(doc._id)! }) as DecidedForecast);
  return decided.toSorted((a, b) => (a._id < b._id ? -1 : 1));
}

/** The first stored decision stands: after a crash, or beside another worker, it is revealed in its own batch. */
async function revealStored(deps: PipelineContext, docs: ForecastDoc[], over: ReachedInstant): Promise<void> {
  const stored = (await deps.record.listByIds(docs.map((doc) => doc._id))) as DecidedForecast[];
  for (const batch of new Set(stored.map((doc) => doc.resolution.batch))) {
    await revealBatch(deps, batch, { members: (await deps.record.listByBatch(batch)) as DecidedForecast[], over });
  }
}

/** Scores are stored before the forecasts are marked, so that every revealed forecast has them, whenever the process dies. */
async function revealBatch(
  deps: PipelineContext,
  batch: string,
  { members, over }: { members: DecidedForecast[]; over: ReachedInstant },
): Promise<void> {
  const { attester, record, saltSecret } = deps;
  const items = members.map((doc) => buildExpectedResolution(doc, saltSecret));
  const [reveals] = await Promise.all([attester.attestResolutions(batch, items, over), scoreDecided(deps, members)]);
  await record.markRevealed(members, reveals);
}

async function scoreDecided(
  { record, baselines, moveReferences, market }: PipelineContext,
  decided: readonly DecidedForecast[],
): Promise<void> {
  const distributions = await record.findDistributions(decided.map(({ day }) => day));
  const committed = decided.filter(({ day }) => distributions.has(day));
  if (committed.length === 0) return;
  const closes = await market.closeHistory(Math.max(...committed.map(({ resolvesAt }) => resolvesAt.getTime())));
  const scores = committed.map((doc) => {
    const horizonDays = doc.horizonDays as HorizonDays;
    const priceUsd = fromCents(doc.values.btcPriceCents);
    const grids = baselines(closes, doc.day, priceUsd, horizonDays);
    const references = moveReferences({ closes, day: doc.day, priceUsd, horizonDays, garch: grids.garch });
    return buildDistributionScores(doc, distributions.get(doc.day)![horizonDays]!, { baselines: grids, references });
  });
  await record.distributionScores.save(scores);
}
