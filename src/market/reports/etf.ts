import { z } from 'zod';
import { type Day, formatDay, formatDayOrNull, toDay } from '../../forecast/day.ts';
import { countUntil } from '../../forecast/inputs.ts';
import { COUNT, DATE, listOf, objectOf, PROBABILITY } from '../../platform/validation.ts';
import { buildLatestReading, type LatestReading, millionsToUsd, roundOrNull } from '../feed.ts';
import { findValueAt, type Observations, SERIES, sliceValuesBetween } from '../series.ts';
import { type Correlation, correlate } from './macro.ts';
import { defineReport } from './report.ts';

const FLOW_DIRECTIONS = ['inflow', 'outflow', 'none'] as const;

/** The last day of flow windows: the last reported one, since funds report none on weekends and holidays, and each day late. */
function getWindowEnd({ observedDay }: LatestReading, atMs: number): Day {
  return observedDay ?? toDay(atMs);
}

/** Net flow (USD) of the `days` calendar days up to `end`; null without a figure of any of them. */
export function sumFlowsUsd(flows: Observations, end: Day, days: number): number | null {
  return millionsToUsd(sumBetween(flows, end - days + 1, end));
}

export function sumBetween(observations: Observations, from: Day, to: Day): number | null {
  const values = sliceValuesBetween(observations, from, to);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

/** Consecutive reported days with the same sign of flow, counted back from the last. A flow of zero ends the streak. */
export function computeFlowStreak({ values }: Observations): { direction: (typeof FLOW_DIRECTIONS)[number]; days: number } {
  const sign = Math.sign(values.at(-1) ?? 0);
  if (sign === 0) return { direction: 'none', days: 0 };
  const others = values.findLastIndex((flow) => Math.sign(flow) !== sign);
  return { direction: sign > 0 ? 'inflow' : 'outflow', days: values.length - 1 - others };
}

/** The days with the largest inflow and outflow of the history; null without one. */
export function findBiggestDays({ days, values }: Observations) {
  let highest = -1;
  let lowest = -1;
  values.forEach((flow, index) => {
    if (flow > (values[highest] ?? 0)) highest = index;
    if (flow < (values[lowest] ?? 0)) lowest = index;
  });
  const toFlowDay = (index: number) => (index < 0 ? null : { date: formatDay(days[index]), usd: millionsToUsd(values[index]) });
  return { biggestInflow: toFlowDay(highest), biggestOutflow: toFlowDay(lowest) };
}

const SHARE_DAYS = 30;
const CORRELATION = { days: 365, minPairs: 20 };
const FLOW = z.number().nullable();
const FLOW_DAY = z
  .object({ date: DATE.describe('The day'), usd: z.number().describe('Net flow of the day, USD; outflows are negative') })
  .meta({ id: 'FlowDay' });

const FIGURES = {
  lastDay: FLOW.describe('Net flow of the last reported day, USD; outflows are negative'),
  flow7d: FLOW.describe('Net flow of the 7 calendar days that end with `lastDayDate`, USD; null without a reported day'),
  flow30d: FLOW.describe('Net flow of the 30 calendar days that end with `lastDayDate`, USD'),
  flow90d: FLOW.describe('Net flow of the 90 calendar days that end with `lastDayDate`, USD'),
  streak: objectOf('Current streak', {
    direction: z.enum(FLOW_DIRECTIONS).describe('Direction of the flow on the last reported day'),
    days: COUNT.describe('Consecutive reported days with this direction, the last one included'),
  }),
  biggestInflow: FLOW_DAY.nullable().describe('Day with the largest inflow; null without one'),
  biggestOutflow: FLOW_DAY.nullable().describe('Day with the largest outflow; null without one'),
};

const CORRELATED = z.object({
  correlation: z.number().min(-1).max(1).nullable().describe('Pearson correlation; null with too few pairs'),
  pairs: COUNT.describe('Number of days in the correlation'),
});

const FIELDS = z.object({
  lastDayDate: DATE.nullable().describe('Last reported day; null before the first'),
  provisional: z.boolean().describe('True until noon UTC of the day after: funds report late'),
  total: z.object(FIGURES).describe('All funds together'),
  funds: listOf('By fund; empty when only totals are known', {
    ticker: z.string().describe('Ticker of the fund'),
    lastDayDate: DATE.nullable().describe('Last reported day of this fund'),
    stale: z.boolean().describe('True when that day is too old; the sums then end on it'),
    ...FIGURES,
    share: PROBABILITY.nullable().describe(
      'Share of gross flows, 0 to 1, as defined by `shareBasis`; null for a fund without recent figures',
    ),
  }),
  shareBasis: z.string().describe('Definition of `share`'),
  correlation: objectOf('Correlation of flows and returns', {
    sameDay: CORRELATED.describe("Correlation of a day's flow with bitcoin's log return of the same day"),
    nextDay: CORRELATED.describe("Correlation of a day's flow with bitcoin's log return of the next day"),
    windowDays: COUNT.describe('Length of the window in days'),
    note: z.string().describe('Limits of the figure'),
  }),
});

export const etfAnalyticsReport = defineReport({
  path: '/api/etf-analytics',
  summary: 'Flows of US spot Bitcoin ETFs, by fund and in total: sums, shares, streaks, extremes, correlation with returns',
  dependsOn: ['etfFlow', 'btcClose'],
  fields: FIELDS,
  async build({ feed, read, atMs }) {
    const { reading, known } = await read('etfFlow');
    const closes = (await read('btcClose')).known;
    const end = getWindowEnd(reading, atMs);
    const funds = Object.entries(await feed.fundFlows(atMs)).map(([ticker, flows]): Fund => {
      const latest = buildLatestReading('etfFlow', flows, atMs);
      return { ticker, flows, reading: latest, end: getWindowEnd(latest, atMs) };
    });
    const shareOf = createShareLookup(funds);
    return {
      lastDayDate: formatDayOrNull(reading.observedDay),
      provisional: reading.provisional,
      total: buildFlowFigures(known, end),
      funds: funds.map((fund) => ({
        ticker: fund.ticker,
        lastDayDate: formatDayOrNull(fund.reading.observedDay),
        stale: fund.reading.stale,
        ...buildFlowFigures(fund.flows, fund.end),
        share: shareOf(fund),
      })),
      shareBasis: `share of gross flows in either direction within ${SHARE_DAYS} days, among the funds with recent figures`,
      correlation: {
        sameDay: correlateFlows(known, closes, end, 0),
        nextDay: correlateFlows(known, closes, end, 1),
        windowDays: CORRELATION.days,
        note: 'nextDay describes the past; it is neither a forecast nor an input of one',
      },
    };
  },
});

interface Fund {
  ticker: string;
  flows: Observations;
  reading: LatestReading;
  /** Last day of the fund's windows. A stale fund keeps its own last day, so its old figures stay attributed to their days. */
  end: Day;
}

/** Share of gross flow in the window of the newest fund. A fund without a recent report has no share and is not in the denominator. */
function createShareLookup(funds: readonly Fund[]): (fund: Fund) => number | null {
  const end = Math.max(...funds.map((fund) => fund.end));
  const takesPart = (fund: Fund) => end - fund.end <= SERIES.etfFlow.staleDays;
  const grossMusd = funds.filter(takesPart).reduce((sum, { flows }) => sum + sumGrossFlow(flows, end), 0);
  return (fund) => (takesPart(fund) && grossMusd > 0 ? roundOrNull(sumGrossFlow(fund.flows, end) / grossMusd, 4) : null);
}

function buildFlowFigures(flows: Observations, end: Day) {
  return {
    lastDay: millionsToUsd(flows.values.at(-1) ?? null),
    flow7d: sumFlowsUsd(flows, end, 7),
    flow30d: sumFlowsUsd(flows, end, 30),
    flow90d: sumFlowsUsd(flows, end, 90),
    streak: computeFlowStreak(flows),
    ...findBiggestDays(flows),
  };
}

function sumGrossFlow(flows: Observations, end: Day): number {
  return sliceValuesBetween(flows, end - SHARE_DAYS + 1, end).reduce((sum, flow) => sum + Math.abs(flow), 0);
}

/** Correlation of daily flows with Bitcoin's log return `delayDays` later. */
function correlateFlows(flows: Observations, closes: Observations, end: Day, delayDays: number): Correlation {
  const reported: [number, number][] = [];
  for (let i = countUntil(flows.days, end - CORRELATION.days); i < flows.days.length; i++) {
    const day = flows.days[i] + delayDays;
    const [before, after] = [findValueAt(closes, day - 1), findValueAt(closes, day)];
    if (before === null || after === null) continue;
    reported.push([flows.values[i], Math.log(after / before)]);
  }
  const { correlation, pairs } = correlate(reported, CORRELATION.minPairs);
  return { correlation: roundOrNull(correlation, 3), pairs };
}

export const etfFlowsReport = defineReport({
  path: '/api/etf-flows',
  summary: 'Net flows into US spot Bitcoin ETFs of the last reported day and the 7 and 30 calendar days that end with it, in US dollars',
  dependsOn: ['etfFlow'],
  fields: z.object({
    flow7d: FLOW.describe(
      'Net flow of the 7 calendar days that end with `lastDayDate`, USD; outflows are negative; null without a reported day',
    ),
    flows7d: FLOW.describe('The same as `flow7d`'),
    flow30d: FLOW.describe('Net flow of the 30 calendar days that end with `lastDayDate`, USD'),
    flows30d: FLOW.describe('The same as `flow30d`'),
    lastDay: FLOW.describe('Net flow of the last reported day, USD; null before the first'),
    lastDayDate: DATE.nullable().describe('That day'),
    provisional: z.boolean().describe('True until noon UTC of the day after: funds report late'),
  }),
  async build({ read, atMs }) {
    const { reading, known } = await read('etfFlow');
    const end = getWindowEnd(reading, atMs);
    const flow7d = sumFlowsUsd(known, end, 7);
    const flow30d = sumFlowsUsd(known, end, 30);
    return {
      flow7d,
      flows7d: flow7d,
      flow30d,
      flows30d: flow30d,
      lastDay: millionsToUsd(reading.value),
      lastDayDate: formatDayOrNull(reading.observedDay),
      provisional: reading.provisional,
    };
  },
});
