import { z } from 'zod';
import { COUNT, DATE, INTEGER_TEXT, PROBABILITY, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { HORIZON, REGIME } from '../../../record/schemas/forecast.ts';
import { SUMMARY } from '../../../record/schemas/scorecard.ts';
import { INCIDENTS } from '../../../record/weekly/incidents.ts';

const WEEK_ID = z.string().regex(/^\d{4}-W\d{2}$/);

const HORIZON_WEEK = z.object({
  horizon: HORIZON.describe('Days from the opening of the outcome window to its end'),
  made: COUNT.describe('Forecasts of the days of the week'),
  missed: COUNT.describe('Days of the week without one'),
  void: COUNT.describe('Forecasts of the week that were committed too late and never count'),
  over: COUNT.describe('Forecasts of any day whose outcome came on chain within the week: wins, losses and holds'),
  wins: COUNT.describe('How many of these were right'),
  losses: COUNT.describe('How many were wrong'),
  holds: COUNT.describe('How many abstained: never scored'),
  hitRate: PROBABILITY.nullable().describe('Wins over wins and losses, 0 to 1; null without any'),
  alwaysUpRate: PROBABILITY.nullable().describe('What always saying UP would have scored on the same forecasts; null without any'),
  meanReturnBps: z.number().nullable().describe('Mean return over the windows of all that are over, basis points; null without any'),
  meanCalledReturnBps: z
    .number()
    .nullable()
    .describe('Mean return of having followed each call that was scored, before costs, basis points; null without any'),
  brier: SUMMARY.shape.brier.describe('Of all that are over, against the base rate known at the time; null without any'),
  openAtEnd: COUNT.describe('Forecasts open when the week was over'),
});

const WAGERS = z.object({
  venue: z.string().describe('Where the wagers were placed'),
  asset: z.string().describe('What they were paid in'),
  quotesAreOurs: z.boolean().describe('True when the service made the quotes itself: what is won against them proves nothing'),
  settled: COUNT.describe('Stakes settled'),
  wins: COUNT.describe('How many won'),
  losses: COUNT.describe('How many lost'),
  stakedMicros: COUNT.describe('What they cost, fees included, in millionths of the asset'),
  payoutMicros: COUNT.describe('What they paid out, in millionths of the asset'),
  pnlMicros: z.int().describe('Payout less cost, in millionths of the asset'),
});

const REPORT = {
  weekId: WEEK_ID.describe('ISO week, e.g. 2026-W07'),
  from: DATE.describe('Its Monday, UTC'),
  to: DATE.describe('Its Sunday, UTC'),
  asOf: TIME.describe('Monday 00:30 UTC after the week: what became known later is not in it'),
  generatedAt: TIME.describe('When it was made; it is never changed after that'),
  late: z.boolean().describe('True when it was made after its time; it says the same all the same'),
  source: z.string().describe('Where the market data comes from'),
  replayed: z.boolean().describe('True when the demonstration replayed days of the week'),
};

/** `GET /api/claw/latest` and `/api/claw/archive/{weekId}` (interface, section 4.1). */
export const WEEKLY_REPORT = z.object({
  success: SUCCESS,
  ...REPORT,
  days: z
    .object({
      recorded: COUNT.describe('Days of the week that the record holds'),
      forecast: COUNT.describe('With forecasts'),
      missed: COUNT.describe('Without'),
      late: COUNT.describe('Forecast after their time'),
      replayed: COUNT.describe('Replayed by the demonstration'),
    })
    .describe('The days of the week'),
  market: z
    .object({
      openUsd: z.number().nullable().describe('Settled close of the Sunday before, BTC/USD; null where the venues agreed on none'),
      closeUsd: z.number().nullable().describe('Settled close of the Sunday of the week, BTC/USD; null where the venues agreed on none'),
      changePct: z.number().nullable().describe('Change from one to the other, percent; null without both'),
    })
    .describe('What the price did'),
  regimes: z
    .array(z.object({ regime: REGIME.describe('Market regime'), days: COUNT.describe('Days of the week in it') }))
    .describe('Regimes of the days forecast'),
  horizons: z.array(HORIZON_WEEK).describe('Forecasts, by horizon'),
  wagers: z
    .array(WAGERS)
    .describe('Stakes by venue that could be told for the first time: settled, and of days whose forecasts are all told'),
  attestations: z
    .object({
      predictions: COUNT.describe('Predictions committed to'),
      resolutions: COUNT.describe('Outcomes revealed'),
      transactions: COUNT.describe('Transactions that these took'),
      gasWei: INTEGER_TEXT.describe(
        'What these cost, in wei, as digits: gas at its price, and the fee that a rollup takes for data beside it',
      ),
    })
    .describe('What was written on chain since the report of the week before'),
  incidents: z
    .array(
      z.object({
        date: DATE.describe('The day it is about'),
        kind: z
          .enum(INCIDENTS)
          .describe(
            'late: forecast after its time; missed: not at all; void: committed too late; uncommitted: not on chain; waiting: over and not resolved',
          ),
        detail: z.string().describe('In words'),
      }),
    )
    .describe('What did not go as it should'),
});

/** `GET /api/claw/archive`. */
export const WEEKLY_ARCHIVE = z.object({
  success: SUCCESS,
  weeks: z.array(WEEK_ID).describe('ISO weeks that have a report, newest first'),
  count: COUNT.describe('Length of `weeks`'),
});
