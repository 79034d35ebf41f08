import { isOracleError, OracleError } from '../../errors.ts';
import { type Day, formatDay, formatWeek, getLastDayOfWeek, toDay, toWeek, type Week } from '../../forecast/day.ts';
import type { MarketContext } from '../../market/market.ts';
import { runAll } from '../../platform/concurrency.ts';
import { type Brief, type BriefData, type BriefNext, composeBrief } from '../../record/briefs.ts';
import { composeWeeklyReport } from '../../record/reports.ts';
import { isSettled } from '../../wager/wagers.ts';
import {
  getStepDueMs,
  getWeeklyReportDueMs,
  getWindowOpensMs,
  isLateForDue,
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

const DAYS_PER_WEEK = 7;
const CONCURRENT_REPORTS = 4;
const MAX_CLOSE_WAIT_MS = 6 * 3_600_000;

/** Holds what was known when due, so that a late report is identical. @throws OracleError STEP_WAITING, PRICE_UNAVAILABLE */
export async function runWeeklyReportStep(deps: PipelineContext, context: StepContext): Promise<string[]> {
  const weeks = await listDueWeeks(deps, context);
  for (let first = 0; first < weeks.length; first += CONCURRENT_REPORTS) {
    await runAll(weeks.slice(first, first + CONCURRENT_REPORTS).map((week) => writeReport(deps, week, context)));
  }
  return weeks.map(formatWeek);
}

export async function listDueWeeks({ record, reports }: PipelineContext, { now }: StepContext): Promise<Week[]> {
  const [genesis, lastDay] = await Promise.all([record.findGenesisDay(), record.findLastDay()]);
  if (genesis === null || lastDay === null) return [];
  const known = new Set(await reports.weekly.listDays());
  const weeks: Week[] = [];
  for (let week = toWeek(genesis); week <= toWeek(lastDay) && getWeeklyReportDueMs(week) <= now.getTime(); week += DAYS_PER_WEEK) {
    if (!known.has(week)) weeks.push(week);
  }
  return weeks;
}

async function writeReport(deps: PipelineContext, week: Week, context: StepContext): Promise<void> {
  const { now, time } = context;
  const { record, market, reports } = deps;
  await requireRecordedWeek(deps, week);
  const due = await time.requireReached(getWeeklyReportDueMs(week), `The report on ${formatWeek(week)}`);
  const sunday = getLastDayOfWeek(week);
  const before = new Date(getWeeklyReportDueMs(week - DAYS_PER_WEEK));
  const asOf = new Date(getWeeklyReportDueMs(week));
  const [openUsd, closeUsd] = await Promise.all([readClose(deps, week - 1, week, context), readClose(deps, sunday, week, context)]);
  const { known } = record;
  const report = composeWeeklyReport({
    week,
    before,
    asOf,
    generatedAt: now,
    late: isLateForDue(asOf.getTime(), now),
    source: market.source,
    days: known.listDays().filter(({ day }) => day >= week && day <= sunday),
    forecasts: known.listAll(),
    stakes: known.listWagers().filter(isSettled),
    openUsd,
    closeUsd,
  });
  await reports.weekly.saveOnce(week, report, due);
}

/** Every day is recorded, at the latest as missed when its window opens, except beyond the end of the data. */
async function requireRecordedWeek({ record, market }: PipelineContext, week: Week): Promise<void> {
  const sunday = getLastDayOfWeek(week);
  const [last, coverage] = await Promise.all([record.findLastDay(), market.coverage()]);
  const ends = coverage.lastDay !== null && last !== null && last >= coverage.lastDay;
  if (ends || (last !== null && last >= sunday)) return;
  throw new OracleError('STEP_WAITING', `${formatWeek(week)} is not complete: ${formatDay(sunday)} is not in the record yet`);
}

async function readClose({ market }: PipelineContext, day: Day, week: Week, { now, time }: StepContext): Promise<number | null> {
  try {
    return (await market.dailyClose(day, now.getTime())).priceUsd;
  } catch (error) {
    const givenUpAt = getWeeklyReportDueMs(week) + MAX_CLOSE_WAIT_MS;
    if (!isOracleError(error) || now.getTime() < givenUpAt) throw error;
    await time.requireReached(givenUpAt, `The end of waiting for a close of ${formatWeek(week)}`);
    return null;
  }
}
