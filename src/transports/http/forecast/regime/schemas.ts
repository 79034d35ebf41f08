import { z } from 'zod';
import { RISK_LEVELS } from '../../../../forecast/regime/regime.ts';
import { COUNT, DATE, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { REGIME } from '../../../../record/schemas/forecast.ts';
import { FRESHNESS } from '../../../../record/schemas/oracle.ts';

export const RISK_LEVEL = z.enum(RISK_LEVELS);

const FACTORS = z.object({
  trendPosition: z.string().describe('Price against its 200-day average'),
  momentum: z.string().describe('30-day price change'),
  sentiment: z.string().describe('7-day mean of the Fear & Greed index'),
  volatility: z.string().describe('Volatility against its one-year median'),
});

/** Members of the regime resource and of the premium signal. */
export const REGIME_FIELDS = {
  regime: REGIME.describe('Current regime'),
  description: z.string().describe('Meaning, in one sentence'),
  riskLevel: RISK_LEVEL.describe('Risk level'),
  timestamp: TIME.describe('Last evaluation'),
  factors: FACTORS.describe('Factors as text with figures; each states a missing input'),
  date: DATE.describe('Day of the last evaluation, UTC'),
  since: DATE.describe('First day of the current run of this regime in the record'),
  daysHeld: COUNT.describe('Days from `since` through `date`'),
  previousRegime: REGIME.nullable().describe('Previous regime; null where the record has none'),
  ...FRESHNESS,
  nextEvaluationAt: TIME.nullable().describe('When it is evaluated next; null where the market data ends before'),
  replayed: z.boolean().describe('True when the demonstration replayed the day of the last evaluation'),
};

/** Interface, section 2.4. */
export const CURRENT_REGIME = z.object({
  success: SUCCESS,
  ...REGIME_FIELDS,
  source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
});

const DAY = z.object({
  date: DATE.describe('Day, UTC'),
  regime: REGIME.nullable().describe('Regime of the day; null for a missed day'),
  riskLevel: RISK_LEVEL.nullable().describe('Risk level; null for a missed day'),
  timestamp: TIME.describe('When it was evaluated, or recorded as missed'),
  missed: z.boolean().describe('True when the service missed the day'),
  replayed: z.boolean().describe('True when the demonstration replayed the day'),
});

const TRANSITION = z.object({
  date: DATE.describe('First evaluated day of the new regime'),
  from: REGIME.describe('Previous regime'),
  to: REGIME.describe('New regime'),
  timestamp: TIME.describe('Time of the evaluation'),
  replayed: z.boolean().describe('True when the demonstration replayed the day'),
});

export const REGIME_HISTORY = z.object({
  success: SUCCESS,
  count: COUNT.describe('Number of days'),
  days: z.array(DAY).describe('All days of the record, newest first'),
  transitions: z.array(TRANSITION).describe('Regime changes within these days, newest first'),
  source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
});
