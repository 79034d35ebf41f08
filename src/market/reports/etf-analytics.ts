import { z } from 'zod';
import { COUNT, DATE, PROBABILITY } from '../../fields.ts';
import type { Day } from '../../forecast/day.ts';
import { type Correlation, correlate, priceOn } from '../correlation.ts';
import { countUpTo, type Observations } from '../observations.ts';
import { type Reading, readingOf } from '../reading.ts';
import { SERIES } from '../series.ts';
import { biggestDays, FLOW_DIRECTIONS, flowStreak } from './flow-streak.ts';
import { flowSumUsd, windowEnd } from './flow-sums.ts';
import { valuesBetween } from './lookback.ts';
import { dateOf, millionsToUsd, rounded } from './numbers.ts';
import { marketReport } from './report.ts';

const SHARE_DAYS = 30;
const CORRELATION = { days: 365, minPairs: 20 };

const FLOW = z.number().nullable();

const FLOW_DAY = z.object({ date: DATE.describe('The day'), usd: z.number().describe('Net flow of the day, USD, outflows negative') });

const FIGURES = {
  lastDay: FLOW.describe('Net flow of the last day with a figure, USD, outflows negative'),
  flow7d: FLOW.describe('Net flow of the last 7 calendar days, USD; null when none of them has a figure'),
  flow30d: FLOW.describe('Net flow of the last 30 calendar days, USD'),
  flow90d: FLOW.describe('Net flow of the last 90 calendar days, USD'),
  streak: z
    .object({
      direction: z.enum(FLOW_DIRECTIONS).describe('Which way money flowed on the last day'),
      days: COUNT.describe('How many days with a figure in a row it has flowed that way, the last one included'),
    })
    .describe('The run of days that is still going on'),
  biggestInflow: FLOW_DAY.nullable().describe('The day with the largest inflow ever; null without one'),
  biggestOutflow: FLOW_DAY.nullable().describe('The day with the largest outflow ever; null without one'),
};

const FUND = z.object({
  ticker: z.string().describe('Ticker of the fund'),
  lastDayDate: DATE.nullable().describe('The last day with a figure of this fund'),
  stale: z.boolean().describe('True when that day is too long ago; its sums then end with it'),
  ...FIGURES,
  share: PROBABILITY.nullable().describe('Part of all money moved, 0 to 1, as `shareBasis` says; null for a fund that fell behind'),
});

const CORRELATED = z.object({
  correlation: z.number().min(-1).max(1).nullable().describe("Pearson's; null with too few pairs"),
  pairs: COUNT.describe('Days that it is made of'),
});

const FIELDS = z.object({
  lastDayDate: DATE.nullable().describe('The last day with a figure; null only before the first'),
  provisional: z.boolean().describe('True until noon UTC of the day after: funds report late'),
  total: z.object(FIGURES).describe('All funds together'),
  funds: z.array(FUND).describe('Fund by fund; empty where only totals are known'),
  shareBasis: z.string().describe('What `share` is a part of'),
  correlation: z
    .object({
      sameDay: CORRELATED.describe("Of a day's flow with bitcoin's log return of the same day"),
      nextDay: CORRELATED.describe("Of a day's flow with bitcoin's log return of the next day"),
      windowDays: COUNT.describe('Days that the pairs are from'),
      note: z.string().describe('What it is not'),
    })
    .describe('Flows beside returns'),
});

export const etfAnalytics = marketReport({
  path: '/api/etf-analytics',
  summary: 'Flows of each US spot Bitcoin ETF and of all: sums, shares, streaks, biggest days, and correlation with returns',
  dependsOn: ['etfFlow', 'btcClose'],
  fields: FIELDS,
  async build({ feed, read, atMs }) {
    const { reading, known } = await read('etfFlow');
    const closes = (await read('btcClose')).known;
    const end = windowEnd(reading, atMs);
    const funds = Object.entries(await feed.fundFlows(atMs)).map(([ticker, flows]) => fundAt(ticker, flows, atMs));
    const shareOf = shares(funds);
    return {
      lastDayDate: dateOf(reading.observedDay),
      provisional: reading.provisional,
      total: flowFigures(known, end),
      funds: funds.map((fund) => ({
        ticker: fund.ticker,
        lastDayDate: dateOf(fund.reading.observedDay),
        stale: fund.reading.stale,
        ...flowFigures(fund.flows, fund.end),
        share: shareOf(fund),
      })),
      shareBasis: `part of all money moved in either direction within ${SHARE_DAYS} days, of the funds that report as far as the newest`,
      correlation: {
        sameDay: reported(flowCorrelation(known, closes, end, 0)),
        nextDay: reported(flowCorrelation(known, closes, end, 1)),
        windowDays: CORRELATION.days,
        note: 'nextDay describes the past; it is no forecast and takes no part in one',
      },
    };
  },
});

interface Fund {
  ticker: string;
  flows: Observations;
  reading: Reading;
  /** The day that its sums end with: today, or once it is stale its own last day, so that its old figures stay those of their days. */
  end: Day;
}

function fundAt(ticker: string, flows: Observations, atMs: number): Fund {
  const reading = readingOf('etfFlow', flows, atMs);
  return { ticker, flows, reading, end: windowEnd(reading, atMs) };
}

/** Shares within the days that end with the last of any fund; a fund that fell behind the others has none, and takes none. */
function shares(funds: readonly Fund[]): (fund: Fund) => number | null {
  const end = Math.max(...funds.map((fund) => fund.end));
  const takesPart = (fund: Fund) => end - fund.end <= SERIES.etfFlow.staleDays;
  const grossMusd = funds.filter(takesPart).reduce((sum, { flows }) => sum + grossFlow(flows, end), 0);
  return (fund) => (takesPart(fund) && grossMusd > 0 ? rounded(grossFlow(fund.flows, end) / grossMusd, 4) : null);
}

function flowFigures(flows: Observations, end: Day) {
  return {
    lastDay: millionsToUsd(flows.values.at(-1) ?? null),
    flow7d: flowSumUsd(flows, end, 7),
    flow30d: flowSumUsd(flows, end, 30),
    flow90d: flowSumUsd(flows, end, 90),
    streak: flowStreak(flows),
    ...biggestDays(flows),
  };
}

function grossFlow(flows: Observations, end: Day): number {
  return valuesBetween(flows, end - SHARE_DAYS + 1, end).reduce((sum, flow) => sum + Math.abs(flow), 0);
}

/** Correlation of the flows with Bitcoin's log return of the day that comes `delayDays` later. */
function flowCorrelation(flows: Observations, closes: Observations, end: Day, delayDays: number): Correlation {
  const paired: [number, number][] = [];
  for (let i = countUpTo(flows.days, end - CORRELATION.days); i < flows.days.length; i++) {
    const day = flows.days[i] + delayDays;
    const [before, after] = [priceOn(closes, day - 1), priceOn(closes, day)];
    if (before !== null && after !== null) paired.push([flows.values[i], Math.log(after / before)]);
  }
  return correlate(
    paired.map(([flow]) => flow),
    paired.map(([, change]) => change),
    CORRELATION.minPairs,
  );
}

function reported({ correlation, pairs }: Correlation): Correlation {
  return { correlation: rounded(correlation, 3), pairs };
}
