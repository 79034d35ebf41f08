import { z } from 'zod';
import { type Day, formatDayOrNull, toDay } from '../../forecast/day.ts';
import { countUntil, toRecord } from '../../forecast/inputs.ts';
import { computeCorrelation } from '../../forecast/math.ts';
import { COUNT, DATE, objectOf } from '../../platform/validation.ts';
import { type Feed, type LatestReading, readSeries, roundOrNull, type SeriesReading, subtractOrNull } from '../feed.ts';
import { findValueAt, type Observations, SERIES, type SeriesId } from '../series.ts';
import { defineReport, toState } from './report.ts';

/** The last value of a macro series with the correlation of its changes with Bitcoin's log returns. */
interface MacroReading extends LatestReading, Correlation {
  /** Change over the last five observations, in percent. */
  change5dPct: number | null;
  /** Days of the correlation window, which ends with the last value. */
  windowDays: number;
}

const DAILY_WINDOW = { days: 90, minPairs: 20, logarithmic: true };
const MONTHLY_WINDOW = { days: 730, minPairs: 12, logarithmic: false };
const MACRO_SERIES = ['dxy', 'sp500', 'gold', 'pmi', 'btcClose'] as const satisfies SeriesId[];

/** Macro series and their correlation with Bitcoin, as known at `atMs`. @throws the errors of the feed */
export async function buildMacroContext(feed: Feed, atMs: number) {
  const btc = await readSeries(feed, 'btcClose', atMs);
  const read = async (series: SeriesId, window: typeof DAILY_WINDOW): Promise<MacroReading> => {
    const { reading, known } = await readSeries(feed, series, atMs);
    const since = (reading.observedDay ?? toDay(atMs)) - window.days;
    const correlated = correlateReturns(known, btc.known, since, window);
    return { ...reading, ...correlated, change5dPct: computeChange5dPct(known), windowDays: window.days };
  };
  const gold = await read('gold', DAILY_WINDOW);
  const btcPrice = btc.reading.value;
  return {
    atMs,
    source: feed.source,
    dxy: await read('dxy', DAILY_WINDOW),
    sp500: await read('sp500', DAILY_WINDOW),
    // USD per ounce of gold divided by the BTC close; the correlation is that of gold in USD.
    goldBtcRatio: {
      ...gold,
      value: gold.value === null || btcPrice === null ? null : gold.value / btcPrice,
      change5dPct: null,
      stale: gold.stale || btc.reading.stale,
    },
    ismPmi: await read('pmi', MONTHLY_WINDOW),
  };
}

function computeChange5dPct({ values }: Observations): number | null {
  const last = values.length - 1;
  return last >= 5 ? (values[last] / values[last - 5] - 1) * 100 : null;
}

export interface Correlation {
  /** Pearson coefficient; null with too few pairs or zero variance. */
  correlation: number | null;
  pairs: number;
}

/**
 * Pearson correlation of a series' changes since `since`, logarithmic or as differences, with the log returns of `prices` between the same
 * dates.
 */
function correlateReturns(series: Observations, prices: Observations, since: Day, options: typeof DAILY_WINDOW): Correlation {
  const pairs: [number, number][] = [];
  for (let i = Math.max(1, countUntil(series.days, since - 1)); i < series.days.length; i++) {
    const before = findValueAt(prices, series.days[i - 1]);
    const after = findValueAt(prices, series.days[i]);
    if (before === null || after === null) continue;
    const [from, to] = [series.values[i - 1], series.values[i]];
    pairs.push([options.logarithmic ? Math.log(to / from) : to - from, Math.log(after / before)]);
  }
  return correlate(pairs, options.minPairs);
}

export function correlate(pairs: readonly [number, number][], minPairs: number): Correlation {
  const found = pairs.length < minPairs ? null : computeCorrelation(pairs);
  return { correlation: found === null || Number.isNaN(found) ? null : Math.max(-1, Math.min(1, found)), pairs: pairs.length };
}

const STATE = {
  date: DATE.nullable().describe('Date of the value'),
  stale: z.boolean().describe('True when missing or too old'),
  provisional: z.boolean().describe('True before the value is final'),
};

const buildFigureFields = (unit: string) =>
  z.object({
    value: z.number().nullable().describe(`Last value, ${unit}; null before the first`),
    correlation: z
      .number()
      .min(-1)
      .max(1)
      .nullable()
      .describe("Pearson correlation of its changes with bitcoin's log returns; null with too few pairs"),
    pairs: COUNT.describe('Number of pairs in the correlation'),
    windowDays: COUNT.describe('Length of the correlation window in days, up to the last value'),
    ...STATE,
  });

const CHANGE = z.number().nullable().describe('Change over the last five observations, in percent');

const INDEX = buildFigureFields('index points').extend({ change5d: CHANGE }).meta({ id: 'CorrelatedIndex' });

export const macroCorrelationReport = defineReport({
  path: '/api/macro-correlation',
  summary: 'Dollar index, S&P 500, gold and ISM PMI, with the correlation of their changes with Bitcoin',
  dependsOn: MACRO_SERIES,
  fields: z.object({
    dxy: INDEX.describe('US dollar index'),
    sp500: INDEX.describe('S&P 500'),
    goldBtcRatio: buildFigureFields('bitcoin per ounce').describe(
      'Ounce of gold in bitcoin; the correlation is that of the gold price in USD',
    ),
    ismPmi: buildFigureFields('index points').describe('ISM manufacturing PMI, monthly'),
  }),
  async build({ feed, atMs }) {
    const { dxy, sp500, goldBtcRatio, ismPmi } = await buildMacroContext(feed, atMs);
    return {
      dxy: { ...buildFigures(dxy, 3), change5d: roundOrNull(dxy.change5dPct, 2) },
      sp500: { ...buildFigures(sp500, 2), change5d: roundOrNull(sp500.change5dPct, 2) },
      goldBtcRatio: buildFigures(goldBtcRatio, 6),
      ismPmi: buildFigures(ismPmi, 1),
    };
  },
});

function buildFigures({ value, correlation, pairs, windowDays, ...reading }: MacroReading, decimals: number) {
  return { value: roundOrNull(value, decimals), correlation: roundOrNull(correlation, 3), pairs, windowDays, ...toState(reading) };
}

const CHANGE_DAYS = 30;
/** Markets close on weekends and holidays; the policy rate may have one value a month. */
const GAP_DAYS = { market: 5, policy: 31 };
const UNITS = { rates: '% a year', change30d: 'percentage points', slope10y2y: 'basis points' } as const;

const RATE = z
  .object({
    title: z.string().describe('Name of the rate'),
    value: z.number().nullable().describe('Last value, % a year; null before the first'),
    change30d: z.number().nullable().describe('30-day change, percentage points'),
    ...STATE,
  })
  .meta({ id: 'InterestRate' });

const FIELDS = z.object({
  units: objectOf('Units of the figures', {
    rates: z.literal(UNITS.rates).describe('Unit of each `value`'),
    change30d: z.literal(UNITS.change30d).describe('Unit of each `change30d`'),
    slope10y2y: z.literal(UNITS.slope10y2y).describe('Unit of `slope10y2y`'),
  }),
  policyRate: RATE.describe('Federal funds target, upper limit'),
  fedFunds: RATE.describe('Effective federal funds rate'),
  us2y: RATE.describe('US 2-year yield'),
  us10y: RATE.describe('US 10-year yield'),
  slope10y2y: z.number().nullable().describe('10-year minus 2-year yield in basis points, on the last day with both'),
  slopeDate: DATE.nullable().describe('That day'),
  inverted: z.boolean().nullable().describe('True when the slope is negative'),
});

export const interestRatesReport = defineReport({
  path: '/api/interest-rates',
  summary: 'US policy rate, effective fed funds, 2- and 10-year yields and their slope',
  dependsOn: ['policyRate', 'fedFunds', 'us2y', 'us10y'],
  fields: FIELDS,
  async build({ read }) {
    const [us2y, us10y] = [await read('us2y'), await read('us10y')];
    const slope = computeSlope(us2y.known, us10y.known);
    return {
      units: UNITS,
      policyRate: buildRate(await read('policyRate'), GAP_DAYS.policy),
      fedFunds: buildRate(await read('fedFunds'), GAP_DAYS.market),
      us2y: buildRate(us2y, GAP_DAYS.market),
      us10y: buildRate(us10y, GAP_DAYS.market),
      slope10y2y: slope?.basisPoints ?? null,
      slopeDate: formatDayOrNull(slope?.day ?? null),
      inverted: slope === null ? null : slope.basisPoints < 0,
    };
  },
});

function buildRate({ reading, known }: SeriesReading, gapDays: number) {
  const { title, value, observedDay } = reading;
  const before = observedDay === null ? null : findValueAt(known, observedDay - CHANGE_DAYS, gapDays);
  return { title, value: roundOrNull(value, 3), change30d: roundOrNull(subtractOrNull(before, value), 3), ...toState(reading) };
}

function computeSlope(us2y: Observations, us10y: Observations): { day: number; basisPoints: number } | null {
  for (let index = us10y.days.length - 1; index >= 0; index--) {
    const short = findValueAt(us2y, us10y.days[index]);
    if (short !== null) return { day: us10y.days[index], basisPoints: Math.round((us10y.values[index] - short) * 1_000) / 10 };
  }
  return null;
}

/** The decimals of each. */
const INDICATORS = { pmi: 1, us10y: 3, us2y: 3, fedFunds: 2, vix: 2, dxy: 3, sp500: 2, gold: 2 } as const;
const IDS = Object.keys(INDICATORS) as (keyof typeof INDICATORS)[];

const INDICATOR = z
  .object({
    title: z.string().describe('Name of the indicator'),
    unit: z.string().describe('Unit of `value`, `previous` and `change`'),
    value: z.number().nullable().describe('Last value in `unit`; null before the first'),
    previous: z.number().nullable().describe('Previous value in `unit`'),
    change: z.number().nullable().describe('Difference of both values in `unit`'),
    date: DATE.nullable().describe('Date of the value; for the PMI, its release date'),
    previousDate: DATE.nullable().describe('Date of the previous value'),
    stale: STATE.stale,
    provisional: STATE.provisional,
  })
  .meta({ id: 'EconomicIndicator' });

export const economicIndicatorsReport = defineReport({
  path: '/api/economic-indicators',
  summary: 'ISM PMI, US yields, fed funds, VIX, dollar index, S&P 500 and gold with their previous values',
  dependsOn: IDS,
  fields: z.object(toRecord(IDS, (id) => INDICATOR.describe(SERIES[id].title))),
  async build({ read }) {
    const readings = new Map(await Promise.all(IDS.map(async (id) => [id, await read(id)] as const)));
    return toRecord(IDS, (id) => buildIndicator(readings.get(id)!, INDICATORS[id]));
  },
});

function buildIndicator({ reading, known }: SeriesReading, decimals: number) {
  const previous = known.values.at(-2) ?? null;
  return {
    title: reading.title,
    unit: reading.unit,
    value: roundOrNull(reading.value, decimals),
    previous: roundOrNull(previous, decimals),
    change: roundOrNull(subtractOrNull(previous, reading.value), decimals),
    date: formatDayOrNull(reading.observedDay),
    previousDate: formatDayOrNull(known.days.at(-2) ?? null),
    stale: reading.stale,
    provisional: reading.provisional,
  };
}
