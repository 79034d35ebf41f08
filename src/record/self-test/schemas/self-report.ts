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
  step: z.enum(PROMISED_STEPS).describe('What was promised'),
  promised: COUNT.describe('How often, in these seven days; of `resolve`: forecasts whose window ended'),
  ran: COUNT.describe('Done in time'),
  late: COUNT.describe(
    'Done, and more than three minutes late; of `resolve`: after the next outcome check; of `open-window` always 0, as its time is not kept',
  ),
  waiting: COUNT.describe('Not done, and waiting for something when this was made'),
  failed: COUNT.describe('Not done: it failed'),
  missed: COUNT.describe('Not done, for whatever reason'),
});

const INCIDENT = z.object({
  date: DATE.describe('The day that it was promised for'),
  step: z.enum(PROMISED_STEPS).describe('What was promised'),
  state: z.enum(PROMISE_STATES).exclude(['ran']).describe('What became of it'),
  detail: z.string().nullable().describe('In words, where there are any; what holds up a wager is told to nobody'),
});

const GAS = z.object({
  transactions: COUNT.describe('Transactions'),
  gasUsed: COUNT.describe('Gas that they used together'),
  costWei: INTEGER_TEXT.describe('What that cost, in wei: gas at its price, and the fee that a rollup takes for data beside it'),
});

export const SELF_REPORT = z.object({
  verdict: z.string().describe('What the week amounts to, in words'),
  from: TIME.describe('Beginning of the seven days, included'),
  to: TIME.describe('Their end, left out'),
  asOf: TIME.describe('When this was put together: what was late and done by then is `late`, not missed'),
  steps: z.array(STEP).describe('What the timetable promised, and what became of it'),
  incidents: z.array(INCIDENT).describe('Every promise that was not kept in time, by date'),
  record: z
    .object({
      days: COUNT.describe(
        'Days whose forecast was due, as far as the record holds them; `steps` has promised `signal` for the others too',
      ),
      forecast: COUNT.describe('Of these, forecast'),
      missed: COUNT.describe('Of these, missed: nothing was forecast before the window opened'),
      late: COUNT.describe('Of these, forecast after their time'),
      replayed: COUNT.describe("Of these, days of the demonstration's replay: nothing ran on them but the replay"),
    })
    .describe('The days of the record'),
  outcomes: z
    .object({
      wins: COUNT.describe('Direction came true'),
      losses: COUNT.describe('Direction did not come true'),
      holds: COUNT.describe('Abstained'),
      voids: COUNT.describe('Missed, or committed too late to count'),
      open: COUNT.describe('Over, and not resolved on chain when this was made'),
    })
    .describe('Forecasts of all horizons whose window ended in these days'),
  dataGaps: z
    .array(
      z.object({
        series: z.string().describe('Input of the model'),
        days: COUNT.describe('On how many forecast days it was left out, because it was missing or too old'),
        dates: z.array(DATE).describe('On which'),
      }),
    )
    .describe('Inputs that forecasts did without; empty where all were there every day'),
  modelVersions: z
    .array(z.object({ modelVersion: z.string().describe('Model'), days: COUNT.describe('Days that it forecast') }))
    .describe('Models in use, the earliest first'),
  regimes: z
    .array(z.object({ regime: z.enum(REGIME_NAMES).describe('Market regime'), days: COUNT.describe('Days in it') }))
    .describe('Regimes of the forecast days'),
  gas: z
    .object({
      attestations: GAS.describe('Commitments of forecasts'),
      resolutions: GAS.describe('Reveals with their outcomes'),
      feedback: GAS.describe('Outcomes of wagers in the reputation registry'),
      others: GAS.describe('Registrations and the like'),
    })
    .describe('What was written on chain in these days, by block time, and its cost'),
  notes: z.array(z.string()).describe('What a reader should know'),
});

export type SelfReport = z.output<typeof SELF_REPORT>;

export type PromisedStep = (typeof PROMISED_STEPS)[number];

export type PromiseState = (typeof PROMISE_STATES)[number];
