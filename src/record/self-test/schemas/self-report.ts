import { z } from 'zod';
import { REGIME_NAMES } from '../../../forecast/regime/regime.ts';
import { COUNT, DATE, INTEGER_TEXT, TIME } from '../../../platform/validation/fields.ts';

/** Promised steps in the order of the day; `resolve` is promised once per forecast that ends. */
export const PROMISED_STEPS = [
  'signal',
  'attest',
  'wager',
  'open-window',
  'resolve',
  'brief',
  'weekly-report',
  'backtest',
  'diagnostics',
] as const;

/** `missed`: not done, and the step is neither waiting nor failed. */
export const PROMISE_STATES = ['ran', 'late', 'waiting', 'failed', 'missed'] as const;

const STEP = z.object({
  step: z.enum(PROMISED_STEPS).describe('Promised step'),
  promised: COUNT.describe('Times promised in these seven days; of `resolve`: forecasts whose window ended'),
  ran: COUNT.describe('On time'),
  late: COUNT.describe(
    'Done more than three minutes late; of `resolve`: after the next outcome check; of `open-window` always 0, since its time is not stored',
  ),
  waiting: COUNT.describe('Not done, waiting at the time of the report'),
  failed: COUNT.describe('Not done, failed'),
  missed: COUNT.describe('Not done for another reason'),
});

const INCIDENT = z.object({
  date: DATE.describe('Due day'),
  step: z.enum(PROMISED_STEPS).describe('Promised step'),
  state: z.enum(PROMISE_STATES).exclude(['ran']).describe('State of the promise'),
  detail: z.string().nullable().describe('Detail, where there is any; reasons of a wager are not public'),
});

const GAS = z.object({
  transactions: COUNT.describe('Transactions'),
  gasUsed: COUNT.describe('Total gas used'),
  costWei: INTEGER_TEXT.describe('Cost in wei: gas, and the data fee of a rollup'),
});

export const SELF_REPORT = z.object({
  verdict: z.string().describe('Verdict on the week as a sentence'),
  from: TIME.describe('Start of the seven days, inclusive'),
  to: TIME.describe('End of the seven days, exclusive'),
  asOf: TIME.describe('Time of the report: what was done late by then is `late`, not missed'),
  steps: z.array(STEP).describe('Promised steps of the timetable and their states'),
  incidents: z.array(INCIDENT).describe('Promises not kept on time, by date'),
  record: z
    .object({
      days: COUNT.describe('Recorded days whose forecast was due; `steps` counts a promised `signal` for the others too'),
      forecast: COUNT.describe('Days with a forecast'),
      missed: COUNT.describe('Missed days: nothing was forecast before the window opened'),
      late: COUNT.describe('Days with a late forecast'),
      replayed: COUNT.describe('Days replayed by the demo, on which no other step ran'),
    })
    .describe('Days of the record'),
  outcomes: z
    .object({
      wins: COUNT.describe('Direction came true'),
      losses: COUNT.describe('Direction did not come true'),
      holds: COUNT.describe('Abstained'),
      voids: COUNT.describe('Missed, or committed too late to count'),
      open: COUNT.describe('Ended, not resolved on chain at the time of the report'),
    })
    .describe('Forecasts of all horizons whose window ended in these days'),
  dataGaps: z
    .array(
      z.object({
        series: z.string().describe('Input series of the model'),
        days: COUNT.describe('Forecast days on which it was masked, because it was missing or too old'),
        dates: z.array(DATE).describe('On which'),
      }),
    )
    .describe('Masked inputs; empty when all were available every day'),
  modelVersions: z
    .array(z.object({ modelVersion: z.string().describe('Model'), days: COUNT.describe('Forecast days') }))
    .describe('Models in use, earliest first'),
  regimes: z
    .array(z.object({ regime: z.enum(REGIME_NAMES).describe('Market regime'), days: COUNT.describe('Days in the regime') }))
    .describe('Regimes of the forecast days'),
  gas: z
    .object({
      attestations: GAS.describe('Commitments of forecasts'),
      resolutions: GAS.describe('Reveals with their outcomes'),
      feedback: GAS.describe('Wager outcomes in the reputation registry'),
      others: GAS.describe('Registrations and others'),
    })
    .describe('Transactions of these days by block time, and their cost'),
  notes: z.array(z.string()).describe('Limits of the report'),
});

export type SelfReport = z.output<typeof SELF_REPORT>;

export type PromisedStep = (typeof PROMISED_STEPS)[number];

export type PromiseState = (typeof PROMISE_STATES)[number];
