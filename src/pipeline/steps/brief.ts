import { isOracleError, OracleError } from '../../errors.ts';
import { type Day, formatDay, toDay, toWeek } from '../../forecast/day.ts';
import type { MarketContext } from '../../market/market.ts';
import { type Brief, type BriefData, type BriefNext, composeBrief } from '../../record/briefs.ts';
import {
  getStepDueMs,
  getWeeklyReportDueMs,
  getWindowOpensMs,
  isStepLate,
  type PipelineContext,
  requireStepDue,
  type StepContext,
} from '../forecaster.ts';
import { toPublicStepReason } from '../step-runs.ts';

/** As of 03:00 UTC, also when late. @throws OracleError STEP_WAITING before its due time, PRICE_UNAVAILABLE beyond the end of the data */
export async function runBriefStep(deps: PipelineContext, day: Day, context: StepContext): Promise<Brief> {
  const { briefs } = deps.reports;
  const known = await briefs.findByDay(day);
  if (known !== null) return known;
  await requireBriefDue(deps, day, context);
  const due = await requireStepDue('brief', day, context);
  return briefs.saveOnce(day, composeBrief(await gatherBriefData(deps, day, context)), due);
}

/** Due days without a brief: all since the newest brief; only the newest when there is none yet. */
export async function listDueBriefs({ record, market, reports }: PipelineContext, { now }: StepContext): Promise<Day[]> {
  const today = toDay(now.getTime());
  const [{ lastDay: lastCovered }, newest] = await Promise.all([market.coverage(), reports.briefs.findLastDay()]);
  const genesis = record.known.listDays()[0]?.day;
  const due = now.getTime() >= getStepDueMs('brief', today) ? today : today - 1;
  const last = Math.min(due, lastCovered === null ? due : lastCovered + 1);
  if (genesis === undefined || last <= genesis) return [];
  const first = newest === null ? last : newest + 1;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

async function requireBriefDue({ record, market }: PipelineContext, day: Day, { now }: StepContext): Promise<void> {
  const dueMs = getStepDueMs('brief', day);
  if (now.getTime() < dueMs)
    throw new OracleError('STEP_WAITING', `The brief of ${formatDay(day)} is due at ${new Date(dueMs).toISOString()}`);
  const [genesis, { lastDay }] = await Promise.all([record.findGenesisDay(), market.coverage()]);
  if (genesis === null || day <= genesis) throw new OracleError('STEP_WAITING', `The record holds no day before ${formatDay(day)}`);
  if (lastDay !== null && day > lastDay + 1) {
    throw new OracleError('PRICE_UNAVAILABLE', `The market data (${market.source}) ends on ${formatDay(lastDay)}`);
  }
}

async function gatherBriefData(deps: PipelineContext, day: Day, { now }: StepContext): Promise<BriefData> {
  const { record, market, runs } = deps;
  const asOfMs = getStepDueMs('brief', day);
  const [figures, { series }, troubles, { lastDay }] = await Promise.all([
    readContext(deps, asOfMs),
    market.health(asOfMs),
    listTroubles(runs, day, asOfMs),
    market.coverage(),
  ]);
  const { known } = record;
  const days = known.listDays().filter((one) => one.day < day);
  return {
    day,
    asOf: new Date(asOfMs),
    generatedAt: now,
    late: isStepLate('brief', day, now),
    source: market.source,
    kind: market.kind,
    context: figures.context,
    contextMissing: figures.missing,
    series,
    yesterday: known.findDay(day - 1),
    lastForecast: days.findLast(({ missedBecause }) => missedBecause === null) ?? null,
    replayedDays: days.filter(({ replayed }) => replayed).length,
    forecasts: known.listAll(),
    wager: known.findWager(day - 1),
    troubles,
    next: listNextEvents(day, lastDay),
    lastCovered: lastDay,
  };
}

/** Steps that waited or had failed at an instant; the earlier state of a step that has run since is unknown. */
async function listTroubles(runs: PipelineContext['runs'], day: Day, atMs: number): Promise<BriefData['troubles']> {
  return (await runs.listLatest())
    .filter((run) => run.day <= day && run.ranAt.getTime() <= atMs)
    .filter(({ state, step }) => state !== 'done' && step !== 'brief')
    .map((run) => ({ step: run.step, date: formatDay(run.day), state: run.state, reason: toPublicStepReason(run) }));
}

/** A brief is written without a fresh price too, and says so. */
async function readContext({ market }: PipelineContext, atMs: number): Promise<{ context: MarketContext | null; missing: string | null }> {
  try {
    return { context: await market.context(atMs), missing: null };
  } catch (error) {
    if (!isOracleError(error) || !error.retryable) throw error;
    return { context: null, missing: error.message };
  }
}

function listNextEvents(day: Day, lastCovered: Day | null): BriefNext[] {
  const times: [BriefNext['event'], number][] = [
    ['signal', getStepDueMs('signal', day)],
    ['attestation', getStepDueMs('attest', day)],
    ['wager', getStepDueMs('wager', day)],
    ['window-opens', getWindowOpensMs(day)],
    ['brief', getStepDueMs('brief', day + 1)],
  ];
  const covered = lastCovered === null || day <= lastCovered;
  const weekCovered = lastCovered === null || toWeek(day) <= toWeek(lastCovered);
  const weekly: typeof times = weekCovered ? [['weekly-report', getWeeklyReportDueMs(toWeek(day))]] : [];
  return [...(covered ? times : []), ...weekly].map(([event, ms]) => ({ event, at: new Date(ms).toISOString() }));
}
