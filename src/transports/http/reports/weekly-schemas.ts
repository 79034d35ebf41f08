import { z } from 'zod';
import { listOf, objectOf } from '../../../platform/validation/described.ts';
import { COUNT, DATE, INTEGER_TEXT, PROBABILITY, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { HORIZON, REGIME } from '../../../record/schemas/forecast.ts';
import { SUMMARY } from '../../../record/schemas/scorecard.ts';
import { INCIDENTS } from '../../../record/weekly/incidents.ts';

const WEEK_ID = z.string().regex(/^\d{4}-W\d{2}$/);

const HORIZON_WEEK = z.object({
  horizon: HORIZON.describe('Days from the opening of the outcome window to its end'),
  made: COUNT.describe('Forecasts of the week'),
  missed: COUNT.describe('Days without a forecast'),
  void: COUNT.describe('Void forecasts, committed too late'),
  over: COUNT.describe('Forecasts of any day resolved on chain within the week: wins, losses and holds'),
  wins: COUNT.describe('Wins'),
  losses: COUNT.describe('Losses'),
  holds: COUNT.describe('Abstentions, not scored'),
  hitRate: PROBABILITY.nullable().describe('Wins over wins and losses, 0 to 1; null without any'),
  alwaysUpRate: PROBABILITY.nullable().describe('Hit rate of always UP on the same forecasts; null without any'),
  meanReturnBps: z.number().nullable().describe('Mean return over the windows of resolved forecasts, basis points; null without any'),
  meanCalledReturnBps: z
    .number()
    .nullable()
    .describe('Mean return of following every scored call, before costs, basis points; null without any'),
  brier: SUMMARY.shape.brier.describe('Brier scores of resolved forecasts against the base rate of the time; null without any'),
  openAtEnd: COUNT.describe('Unresolved forecasts at the end of the week'),
});

const WAGERS = z.object({
  venue: z.string().describe('Venue'),
  asset: z.string().describe('Asset'),
  quotesAreOurs: z.boolean().describe('True for quotes of the service itself: a profit against them proves nothing'),
  settled: COUNT.describe('Settled stakes'),
  wins: COUNT.describe('Wins'),
  losses: COUNT.describe('Losses'),
  stakedMicros: COUNT.describe('Cost with fees, in millionths of the asset'),
  payoutMicros: COUNT.describe('Payout, in millionths of the asset'),
  pnlMicros: z.int().describe('Payout less cost, in millionths of the asset'),
});

const REPORT = {
  weekId: WEEK_ID.describe('ISO week, e.g. 2026-W07'),
  from: DATE.describe('Monday of the week, UTC'),
  to: DATE.describe('Sunday of the week, UTC'),
  asOf: TIME.describe('Monday 00:30 UTC after the week; later data is not included'),
  generatedAt: TIME.describe('When it was generated; immutable since'),
  late: z.boolean().describe('True when it was generated late; the content is the same'),
  source: z.string().describe('Market data source'),
  replayed: z.boolean().describe('True when the demonstration replayed days of the week'),
};

/** `GET /api/claw/latest` and `/api/claw/archive/{weekId}` (interface, section 4.1). */
export const WEEKLY_REPORT = z.object({
  success: SUCCESS,
  ...REPORT,
  days: objectOf('Days of the week', {
    recorded: COUNT.describe('Days in the record'),
    forecast: COUNT.describe('Days with forecasts'),
    missed: COUNT.describe('Without'),
    late: COUNT.describe('Forecast late'),
    replayed: COUNT.describe('Replayed by the demonstration'),
  }),
  market: objectOf('Price', {
    openUsd: z.number().nullable().describe('Settled close of the previous Sunday, BTC/USD; null where the venues agreed on none'),
    closeUsd: z.number().nullable().describe('Settled close of the Sunday of the week, BTC/USD; null where the venues agreed on none'),
    changePct: z.number().nullable().describe('Change between them, percent; null without both'),
  }),
  regimes: z
    .array(z.object({ regime: REGIME.describe('Market regime'), days: COUNT.describe('Days of the week in it') }))
    .describe('Regimes of the forecast days'),
  horizons: z.array(HORIZON_WEEK).describe('Forecasts by horizon'),
  wagers: z.array(WAGERS).describe('Newly published stakes by venue: settled, of days with all forecasts public'),
  attestations: objectOf('On-chain activity since the previous report', {
    predictions: COUNT.describe('Committed predictions'),
    resolutions: COUNT.describe('Revealed outcomes'),
    transactions: COUNT.describe('Transactions'),
    gasWei: INTEGER_TEXT.describe('Gas cost with the data fee of a rollup, wei, as digits'),
  }),
  incidents: listOf('Incidents', {
    date: DATE.describe('Affected day'),
    kind: z
      .enum(INCIDENTS)
      .describe(
        'late: forecast late; missed: no forecast; void: committed too late; uncommitted: not on chain; waiting: over, not resolved',
      ),
    detail: z.string().describe('As text'),
  }),
});

export const WEEKLY_ARCHIVE = z.object({
  success: SUCCESS,
  weeks: z.array(WEEK_ID).describe('ISO weeks with a report, newest first'),
  count: COUNT.describe('Length of `weeks`'),
});
