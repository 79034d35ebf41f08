import type { ConfirmedAttestation } from '../../chain/eas/eas.ts';
import { OracleError } from '../../errors.ts';
import { formatDay, toDay } from '../../forecast/day.ts';
import { HORIZONS, type HorizonDays } from '../../forecast/model.ts';
import type { ReachedInstant } from '../../platform/time.ts';
import { buildDistributionScores } from '../../record/distribution-scores.ts';
import {
  buildExpectedResolution,
  buildResolution,
  type CommittedValues,
  type ForecastDoc,
  formatBatchKey,
  fromCents,
  getOutcomeWindow,
  type Resolution,
  toCents,
} from '../../record/forecast-doc.ts';
import type { Venue } from '../../wager/venue.ts';
import { buildEvidencePath, buildWagerEvidence, type WagerDoc } from '../../wager/wagers.ts';
import { type PipelineContext, requireWindowOpened, type StepContext } from '../forecaster.ts';
import { findVenue } from './wager.ts';

/** Records the closes that outcomes are measured from. @throws OracleError PRICE_UNAVAILABLE while one is not settled */
export async function runOpenWindowStep({ record, market }: PipelineContext, context: StepContext): Promise<number> {
  const days = await record.listDaysToOpen(context.now);
  for (const day of days) {
    const opened = await requireWindowOpened(day, context);
    const { priceUsd } = await market.dailyClose(day, context.now.getTime());
    await record.recordOpeningClose(day, toCents(priceUsd), opened);
  }
  return days.length;
}

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

/** Markets without a stake are settled too, for the comparison. @throws the first error after all were tried; OracleError STEP_WAITING */
export async function runSettleStep(deps: PipelineContext, { now, time }: Pick<StepContext, 'now' | 'time'>): Promise<number> {
  const due = await deps.wagers.listUnsettled(now);
  const errors: unknown[] = [];
  let settled = 0;
  for (const wager of due) {
    const venue = findSettlingVenue(deps, wager);
    if (venue === undefined) continue;
    try {
      const expired = await time.requireReached(wager.market!.expiresAt.getTime(), `The expiry of the market of ${wager._id}`);
      if (await settleWager(deps.wagers, venue, { wager, now, expired })) settled++;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  requireConfiguredVenues(due.filter((wager) => findSettlingVenue(deps, wager) === undefined));
  return settled;
}

/** Its own venue; for a market without a stake, any venue of the same order book. */
function findSettlingVenue(deps: PipelineContext, wager: WagerDoc): Venue | undefined {
  const own = findVenue(deps, wager);
  if (own !== undefined || wager.state !== 'SKIPPED') return own;
  return [deps.venue, ...deps.otherVenues].find(({ sameBook }) => sameBook.includes(wager.venue));
}

async function settleWager(
  wagers: PipelineContext['wagers'],
  venue: Venue,
  { wager, now, expired }: { wager: WagerDoc; now: Date; expired: ReachedInstant },
): Promise<boolean> {
  if (wager.state === 'SKIPPED') {
    const winner = await venue.findWinner(wager.market!, now);
    if (winner !== null) await wagers.recordWinner(wager._id, winner === 'VOID' ? null : winner, now, expired);
    return winner !== null;
  }
  const settlement = await venue.settleOrder(wager._id, now);
  if (settlement === null) return false;
  const { winner, payoutMicros, at } = settlement;
  const state = winner === null ? 'VOID' : winner === wager.side ? 'WIN' : 'LOSS';
  await wagers.settle(wager._id, state, { winner, payoutMicros, settledAt: at }, expired);
  return true;
}

function requireConfiguredVenues(withoutVenue: WagerDoc[]): void {
  if (withoutVenue.length === 0) return;
  const byVenue = Map.groupBy(withoutVenue, ({ venue }) => venue);
  const counts = [...byVenue].map(([venue, { length }]) => `${length} of ${venue}`);
  throw new OracleError('STEP_WAITING', `Wagers wait for venues that are not configured: ${counts.join(', ')}`);
}

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
