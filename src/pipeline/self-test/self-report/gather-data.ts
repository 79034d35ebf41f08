import type { Day } from '../../../forecast/day.ts';
import { toWeek } from '../../../forecast/week.ts';
import { listDaysBetween } from '../../../record/day-queries.ts';
import { getSelfTestDueMs } from '../../../record/self-test/due-times.ts';
import { PROMISED_STEPS } from '../../../record/self-test/schemas/self-report.ts';
import type { PipelineDeps } from '../../deps.ts';

export const WEEK_DAYS = 7;

export type SelfReportData = Awaited<ReturnType<typeof gatherSelfReportData>>;

const MAX_WINDOW_DAYS = 8;

export async function gatherSelfReportData(deps: PipelineDeps, sunday: Day, now: Date) {
  const { record, market, selfTests } = deps;
  const first = sunday - WEEK_DAYS;
  // From 15:00 UTC of one Sunday to 15:00 UTC of the next.
  const [from, to] = [first, sunday].map((day) => new Date(getSelfTestDueMs('diagnostics', day)));
  const [genesis, firstLive, { lastDay }, days, forecasts, gas] = await Promise.all([
    record.findGenesisDay(),
    // The first day that was not replayed: what a replay skips is promised only after it.
    record.days.findOne({ replayed: false }, { sort: { day: 1 }, hint: { day: 1 }, projection: { day: 1 } }),
    market.coverage(),
    listDaysBetween(record, first, sunday - 1),
    record.forecasts
      .find({ day: { $gte: first - MAX_WINDOW_DAYS, $lte: sunday } }, { hint: { day: 1 } })
      .sort({ day: 1, horizonDays: 1 })
      .toArray(),
    selfTests.gasCosts(from, to),
  ]);
  const common = { sunday, from, to, asOf: now, genesis, firstLive: firstLive?.day ?? null, lastCovered: lastDay };
  return { ...common, days, forecasts, gas, ...(await gatherReports(deps, sunday)) };
}

async function gatherReports({ wagers, reports, runs, selfTests: { store } }: PipelineDeps, sunday: Day) {
  const first = sunday - WEEK_DAYS;
  const briefDays = Array.from({ length: WEEK_DAYS }, (_, index) => first + 1 + index);
  const [decided, briefs, weekly, daily, before, stepRuns] = await Promise.all([
    wagers.wagers.find({ day: { $gte: first, $lt: sunday } }, { hint: { day: 1 }, projection: { day: 1, decidedAt: 1 } }).toArray(),
    Promise.all(briefDays.map((day) => reports.briefs.findByDay(day))),
    reports.weekly.findByDay(toWeek(first)),
    store.listBetween('walk-forward', first + 1, sunday),
    store.listBetween('stability', first, first),
    runs.listBetween(PROMISED_STEPS, first, sunday),
  ]);
  return {
    // Time of decision by day.
    wagers: new Map(decided.map(({ day, decidedAt }) => [day, decidedAt])),
    // Lateness by day, of days with a brief.
    briefs: new Map(briefs.flatMap((brief, index) => (brief === null ? [] : [[briefDays[index], brief.late] as const]))),
    weeklyLate: weekly?.late ?? null,
    tests: [...daily, ...before],
    runs: stepRuns,
  };
}
