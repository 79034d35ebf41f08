import { z } from 'zod';
import { DATE } from '../../../platform/validation/fields.ts';
import { formatDayOrNull, roundOrNull, subtractOrNull } from '../../numbers.ts';
import { findValueAt } from '../../series/lookback.ts';
import type { Observations } from '../../series/observations.ts';
import type { SeriesReading } from '../../series/series-reading.ts';
import { defineReport } from '../report.ts';

const CHANGE_DAYS = 30;
/** Markets close on weekends and holidays; the policy rate may have one value a month. */
const GAP_DAYS = { market: 5, policy: 31 };
const UNITS = { rates: '% a year', change30d: 'percentage points', slope10y2y: 'basis points' } as const;

const RATE = z.object({
  title: z.string().describe('Name of the rate'),
  value: z.number().nullable().describe('Last value, % a year; null before the first'),
  change30d: z.number().nullable().describe('30-day change, percentage points'),
  date: DATE.nullable().describe('Date of the value'),
  stale: z.boolean().describe('True when missing or too old'),
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
  const { title, value, observedDay, stale, provisional } = reading;
  const before = observedDay === null ? null : findValueAt(known, observedDay - CHANGE_DAYS, gapDays);
  return {
    title,
    value: roundOrNull(value, 3),
    change30d: roundOrNull(subtractOrNull(before, value), 3),
    date: formatDayOrNull(observedDay),
    stale,
    provisional,
  };
}

function computeSlope(us2y: Observations, us10y: Observations): { day: number; basisPoints: number } | null {
  for (let index = us10y.days.length - 1; index >= 0; index--) {
    const short = findValueAt(us2y, us10y.days[index]);
    if (short !== null) return { day: us10y.days[index], basisPoints: Math.round((us10y.values[index] - short) * 1_000) / 10 };
  }
  return null;
}
