import { isOracleError, OracleError } from '../../errors.ts';
import { type Day, formatDay, formatWeek, getLastDayOfWeek, toWeek, type Week } from '../../forecast/day.ts';
import { runAll } from '../../platform/concurrency.ts';
import { composeWeeklyReport } from '../../record/reports.ts';
import { isSettled } from '../../wager/wagers.ts';
import { getWeeklyReportDueMs, isLateForDue, type PipelineContext, type StepContext } from '../forecaster.ts';

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
