import { isOracleError, OracleError } from '../errors.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import { formatWeek, lastDayOfWeek, type Week, weekOf } from '../forecast/week.ts';
import { daysBetween, forecastsThrough } from '../record/history.ts';
import { composeWeekly } from '../record/weekly/compose.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { isLateFor, weeklyInstant } from './times.ts';

type WeeklyParts = Pick<PipelineParts, 'record' | 'market' | 'wagers' | 'reports'>;

const DAYS = 7;
/** For how long a report waits for the close of its Sunday; after that it says that none was agreed on. */
const PATIENCE_MS = 6 * 3_600_000;

/**
 * Writes the report on every week of the record that is over and has none, oldest first, and returns their ids. A report tells what
 * was known when it was due, so that a late one says the same as one in time.
 * @throws OracleError STEP_WAITING until the record holds the Sunday, PRICE_UNAVAILABLE while its close is not settled
 */
export async function weeklyReportStep(parts: WeeklyParts, context: StepContext): Promise<string[]> {
  const weeks = await dueWeeks(parts, context);
  for (const week of weeks) await writeReport(parts, week, context);
  return weeks.map(formatWeek);
}

/** Weeks of the record that are over and have no report, oldest first. */
export async function dueWeeks({ record, reports }: WeeklyParts, { now }: StepContext): Promise<Week[]> {
  const [genesis, lastDay] = await Promise.all([record.genesis(), record.lastDay()]);
  if (genesis === null || lastDay === null) return [];
  const known = new Set(await reports.weekly.weeks());
  const weeks: Week[] = [];
  for (let week = weekOf(genesis); week <= weekOf(lastDay) && weeklyInstant(week) <= now.getTime(); week += DAYS) {
    if (!known.has(week)) weeks.push(week);
  }
  return weeks;
}

async function writeReport(parts: WeeklyParts, week: Week, context: StepContext): Promise<void> {
  const { now, time } = context;
  const { record, market, wagers, reports } = parts;
  await requireRecorded(parts, week);
  const due = await time.reach(weeklyInstant(week), `The report on ${formatWeek(week)}`);
  const sunday = lastDayOfWeek(week);
  const [days, forecasts, stakes, openUsd, closeUsd] = await Promise.all([
    daysBetween(record, week, sunday),
    forecastsThrough(record, sunday),
    wagers.settledStakes(),
    closeOf(parts, week - 1, week, context),
    closeOf(parts, sunday, week, context),
  ]);
  const asOf = new Date(weeklyInstant(week));
  const report = composeWeekly({
    week,
    before: new Date(weeklyInstant(week - DAYS)),
    asOf,
    generatedAt: now,
    late: isLateFor(asOf.getTime(), now),
    source: market.source,
    ...{ days, forecasts, stakes, openUsd, closeUsd },
  });
  await reports.weekly.keep(week, report, due);
}

/** A day enters the record at the latest when its window has opened, as missed; only where the data ends none does. */
async function requireRecorded({ record, market }: WeeklyParts, week: Week): Promise<void> {
  const sunday = lastDayOfWeek(week);
  const [last, coverage] = await Promise.all([record.lastDay(), market.coverage()]);
  const ends = coverage.lastDay !== null && last !== null && last >= coverage.lastDay;
  if (ends || (last !== null && last >= sunday)) return;
  throw new OracleError('STEP_WAITING', `${formatWeek(week)} is not complete: ${formatDay(sunday)} is not in the record yet`);
}

/** The settled close of a day in USD. */
async function closeOf({ market }: WeeklyParts, day: Day, week: Week, { now, time }: StepContext): Promise<number | null> {
  try {
    return (await market.dailyClose(day, now.getTime())).priceUsd;
  } catch (error) {
    const givenUpAt = weeklyInstant(week) + PATIENCE_MS;
    if (!isOracleError(error) || now.getTime() < givenUpAt) throw error;
    await time.reach(givenUpAt, `The end of waiting for a close of ${formatWeek(week)}`);
    return null;
  }
}
