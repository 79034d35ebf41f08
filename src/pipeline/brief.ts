import { isOracleError, OracleError } from '../errors.ts';
import { type Day, dayOf, formatDay } from '../forecast/day.ts';
import { weekOf } from '../forecast/week.ts';
import type { MarketContext } from '../market/context.ts';
import type { Brief, BriefNext } from '../record/briefs/brief.ts';
import { type BriefMaterial, composeBrief } from '../record/briefs/compose.ts';
import { forecastsThrough, lastForecastDay } from '../record/history.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { publicReason } from './step-runs.ts';
import { isLate, reachDue, stepInstant, weeklyInstant, windowOpensAt } from './times.ts';

type BriefParts = Pick<PipelineParts, 'record' | 'market' | 'wagers' | 'runs' | 'reports'>;

/**
 * The brief of a day, made once from what was known at 03:00 UTC of it, also when it is made later.
 * @throws OracleError STEP_WAITING before its time and before the record begins, PRICE_UNAVAILABLE beyond the end of the data, and as
 * `TrustedTime.reach`
 */
export async function briefStep(parts: BriefParts, day: Day, context: StepContext): Promise<Brief> {
  const { briefs } = parts.reports;
  const known = await briefs.of(day);
  if (known !== null) return known;
  await requireDue(parts, day, context);
  const due = await reachDue('brief', day, context);
  return briefs.keep(day, composeBrief(await gather(parts, day, context)), due);
}

/** Days whose brief is due and missing: all since the newest brief; of a record that has none yet, the newest only. */
export async function dueBriefs({ record, market, reports }: BriefParts, { now }: StepContext): Promise<Day[]> {
  const today = dayOf(now.getTime());
  const [genesis, { lastDay: lastCovered }, newest] = await Promise.all([record.genesis(), market.coverage(), reports.briefs.lastDay()]);
  const due = now.getTime() >= stepInstant('brief', today) ? today : today - 1;
  const last = Math.min(due, lastCovered === null ? due : lastCovered + 1);
  if (genesis === null || last <= genesis) return [];
  const first = newest === null ? last : newest + 1;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

async function requireDue({ record, market }: BriefParts, day: Day, { now }: StepContext): Promise<void> {
  const dueMs = stepInstant('brief', day);
  if (now.getTime() < dueMs)
    throw new OracleError('STEP_WAITING', `The brief of ${formatDay(day)} is due at ${new Date(dueMs).toISOString()}`);
  const [genesis, { lastDay }] = await Promise.all([record.genesis(), market.coverage()]);
  if (genesis === null || day <= genesis) throw new OracleError('STEP_WAITING', `The record holds no day before ${formatDay(day)}`);
  if (lastDay !== null && day > lastDay + 1) {
    throw new OracleError('PRICE_UNAVAILABLE', `The market data (${market.source}) ends on ${formatDay(lastDay)}`);
  }
}

async function gather(parts: BriefParts, day: Day, { now }: StepContext): Promise<BriefMaterial> {
  const { record, market, wagers, runs } = parts;
  const asOfMs = stepInstant('brief', day);
  const [figures, { series }, yesterday, lastForecast, replayedDays, forecasts, wager, troubles, { lastDay }] = await Promise.all([
    contextAt(parts, asOfMs),
    market.health(asOfMs),
    record.day(day - 1),
    lastForecastDay(record, day - 1),
    record.days.countDocuments({ replayed: true, day: { $lt: day } }, { hint: { day: 1 } }),
    forecastsThrough(record, day - 1),
    wagers.wager(day - 1),
    troublesAt(runs, day, asOfMs),
    market.coverage(),
  ]);
  return {
    day,
    asOf: new Date(asOfMs),
    generatedAt: now,
    late: isLate('brief', day, now),
    source: market.source,
    kind: market.kind,
    context: figures.context,
    contextMissing: figures.missing,
    ...{ series, yesterday, lastForecast, replayedDays, forecasts, wager, troubles },
    next: nextTimes(day, lastDay),
    lastCovered: lastDay,
  };
}

/** Steps that waited or had failed at an instant. Of a step that has run again since, what it came to then is not known any more. */
async function troublesAt(runs: BriefParts['runs'], day: Day, atMs: number): Promise<BriefMaterial['troubles']> {
  return (await runs.latest())
    .filter((run) => run.day <= day && run.ranAt.getTime() <= atMs)
    .filter(({ state, step }) => state !== 'done' && step !== 'brief')
    .map((run) => ({ step: run.step, date: formatDay(run.day), state: run.state, reason: publicReason(run) }));
}

/** Without a fresh price there is a brief all the same: it says so. */
async function contextAt({ market }: BriefParts, atMs: number): Promise<{ context: MarketContext | null; missing: string | null }> {
  try {
    return { context: await market.context(atMs), missing: null };
  } catch (error) {
    if (!isOracleError(error) || !error.retryable) throw error;
    return { context: null, missing: error.message };
  }
}

/** What comes next by the clock, seen from the brief of a day. @param lastCovered last day of the data, beyond which nothing comes */
function nextTimes(day: Day, lastCovered: Day | null): BriefNext[] {
  const times: [BriefNext['event'], number][] = [
    ['signal', stepInstant('signal', day)],
    ['attestation', stepInstant('attest', day)],
    ['wager', stepInstant('wager', day)],
    ['window-opens', windowOpensAt(day)],
    ['brief', stepInstant('brief', day + 1)],
  ];
  const covered = lastCovered === null || day <= lastCovered;
  const weekCovered = lastCovered === null || weekOf(day) <= weekOf(lastCovered);
  const weekly: typeof times = weekCovered ? [['weekly-report', weeklyInstant(weekOf(day))]] : [];
  return [...(covered ? times : []), ...weekly].map(([event, ms]) => ({ event, at: new Date(ms).toISOString() }));
}
