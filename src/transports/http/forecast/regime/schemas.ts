import { z } from 'zod';
import { RISK_LEVELS } from '../../../../forecast/regime/regime.ts';
import { COUNT, DATE, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { REGIME } from '../../../../record/schemas/forecast.ts';
import { FRESHNESS } from '../../../../record/schemas/oracle.ts';

export const RISK_LEVEL = z.enum(RISK_LEVELS);

const FACTORS = z.object({
  trendPosition: z.string().describe('Where the price stands against its 200-day average'),
  momentum: z.string().describe('Change of the price within 30 days'),
  sentiment: z.string().describe('Mean of the Fear & Greed index of 7 days'),
  volatility: z.string().describe('Volatility against its own median of a year'),
});

/** The regime as a resource of its own and as a part of the premium signal. */
export const REGIME_FIELDS = {
  regime: REGIME.describe('The regime that holds'),
  description: z.string().describe('What it means, in a sentence'),
  riskLevel: RISK_LEVEL.describe('Its risk'),
  timestamp: TIME.describe('Last evaluation'),
  factors: FACTORS.describe('What it rests on, in words and figures; each says so when its input is missing'),
  date: DATE.describe('Day of the last evaluation, UTC'),
  since: DATE.describe('First day of the record on which it has held without another one since'),
  daysHeld: COUNT.describe('Days from `since` through `date`'),
  previousRegime: REGIME.nullable().describe('The one before; null where the record knows none'),
  ...FRESHNESS,
  nextEvaluationAt: TIME.nullable().describe(
    'When it is evaluated next; null where the market data ends before: nothing is evaluated then',
  ),
  replayed: z.boolean().describe('True when the demonstration replayed the day of the last evaluation'),
};

/** Interface, section 2.4. */
export const CURRENT_REGIME = z.object({
  success: SUCCESS,
  ...REGIME_FIELDS,
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
});

const DAY = z.object({
  date: DATE.describe('The day, UTC'),
  regime: REGIME.nullable().describe('The regime of the day; null when the day was missed'),
  riskLevel: RISK_LEVEL.nullable().describe('Its risk; null when the day was missed'),
  timestamp: TIME.describe('When it was evaluated, or found to be missed'),
  missed: z.boolean().describe('True when the service was not there in time'),
  replayed: z.boolean().describe('True when the demonstration replayed the day'),
});

const TRANSITION = z.object({
  date: DATE.describe('First day of the new regime, as far as days were evaluated'),
  from: REGIME.describe('The regime that ended'),
  to: REGIME.describe('The regime that began'),
  timestamp: TIME.describe('When that was found'),
  replayed: z.boolean().describe('True when the demonstration replayed the day'),
});

export const REGIME_HISTORY = z.object({
  success: SUCCESS,
  count: COUNT.describe('How many days are told'),
  days: z.array(DAY).describe('Every day of the record, newest first; none is left out'),
  transitions: z.array(TRANSITION).describe('Changes among these days, newest first'),
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
});
