import { z } from 'zod';
import { DATE } from '../../fields.ts';
import type { Observations } from '../observations.ts';
import type { SeriesReading } from '../reading.ts';
import { valueAt } from './lookback.ts';
import { dateOf, difference, rounded } from './numbers.ts';
import { marketReport } from './report.ts';

const CHANGE_DAYS = 30;
/** Markets close for a weekend and holidays; the policy rate may come as one value a month. */
const GAP_DAYS = { market: 5, policy: 31 };

const UNITS = { rates: '% a year', change30d: 'percentage points', slope10y2y: 'basis points' } as const;

const RATE = z.object({
  title: z.string().describe('Name of the rate'),
  value: z.number().nullable().describe('The last value, % a year; null only before the first'),
  change30d: z.number().nullable().describe('Change against 30 days before, percentage points'),
  date: DATE.nullable().describe('The day of the value'),
  stale: z.boolean().describe('True when the value is missing or too old'),
  provisional: z.boolean().describe('True before the value is final'),
});

const FIELDS = z.object({
  units: z
    .object({
      rates: z.literal(UNITS.rates).describe('Unit of each `value`'),
      change30d: z.literal(UNITS.change30d).describe('Unit of each `change30d`'),
      slope10y2y: z.literal(UNITS.slope10y2y).describe('Unit of `slope10y2y`'),
    })
    .describe('Units of the figures'),
  policyRate: RATE.describe('Federal funds target, upper limit'),
  fedFunds: RATE.describe('Effective federal funds rate'),
  us2y: RATE.describe('US 2-year yield'),
  us10y: RATE.describe('US 10-year yield'),
  slope10y2y: z.number().nullable().describe('10-year less 2-year yield, basis points, on the last day that has both'),
  slopeDate: DATE.nullable().describe('That day'),
  inverted: z.boolean().nullable().describe('True when the slope is negative'),
});

export const interestRates = marketReport({
  path: '/api/interest-rates',
  summary: 'US policy rate, effective fed funds, 2- and 10-year yields, and the slope between them',
  dependsOn: ['policyRate', 'fedFunds', 'us2y', 'us10y'],
  fields: FIELDS,
  async build({ read }) {
    const [us2y, us10y] = [await read('us2y'), await read('us10y')];
    const slope = slopeOf(us2y.known, us10y.known);
    return {
      units: UNITS,
      policyRate: rate(await read('policyRate'), GAP_DAYS.policy),
      fedFunds: rate(await read('fedFunds'), GAP_DAYS.market),
      us2y: rate(us2y, GAP_DAYS.market),
      us10y: rate(us10y, GAP_DAYS.market),
      slope10y2y: slope?.basisPoints ?? null,
      slopeDate: dateOf(slope?.day ?? null),
      inverted: slope === null ? null : slope.basisPoints < 0,
    };
  },
});

function rate({ reading, known }: SeriesReading, gapDays: number) {
  const { title, value, observedDay, stale, provisional } = reading;
  const before = observedDay === null ? null : valueAt(known, observedDay - CHANGE_DAYS, gapDays);
  return {
    title,
    value: rounded(value, 3),
    change30d: rounded(difference(before, value), 3),
    date: dateOf(observedDay),
    stale,
    provisional,
  };
}

/** 10-year less 2-year yield on the last day that has both; null without one. */
function slopeOf(us2y: Observations, us10y: Observations): { day: number; basisPoints: number } | null {
  for (let index = us10y.days.length - 1; index >= 0; index--) {
    const short = valueAt(us2y, us10y.days[index]);
    if (short !== null) return { day: us10y.days[index], basisPoints: Math.round((us10y.values[index] - short) * 1_000) / 10 };
  }
  return null;
}
