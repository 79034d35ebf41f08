import { z } from 'zod';
import { CANARIES } from '../../forecast/backtest/canaries.ts';
import { VINTAGES } from '../../forecast/backtest/contamination.ts';
import { LAST_LOOK_FOLDS, RECENT_RETURN_DAYS } from '../../forecast/backtest/out-of-sample.ts';
import { STABILITIES } from '../../forecast/backtest/stability.ts';
import { COVERED_SHARES } from '../../forecast/backtest/versions.ts';
import { TAIL_LEVELS } from '../../forecast/backtest/walk-forward.ts';
import type { Day } from '../../forecast/day.ts';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, FEATURE_NAMES } from '../../forecast/inputs.ts';
import { formatHorizonName, HORIZONS, MODEL_NAME } from '../../forecast/model.ts';
import { MODEL_NAMES } from '../../forecast/models.ts';
import { MOVE_SIZES } from '../../forecast/move.ts';
import { REGIME_NAMES } from '../../forecast/regime.ts';
import {
  COUNT,
  DATE,
  INTEGER_TEXT,
  listOf,
  namedObject,
  nullableObjectOf,
  objectOf,
  PROBABILITY,
  SUCCESS,
  TIME,
} from '../../platform/validation.ts';
import { INTERVAL, REGIME } from './forecast.ts';
import { CALL_STATISTICS, DIFFERENCE, ESTIMATE, RECORD_STATISTICS } from './track-record.ts';

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
const PROMISE_STATES = ['ran', 'late', 'waiting', 'failed', 'missed'] as const;

const GAS = namedObject('GasTotals', {
  transactions: COUNT.describe('Transactions'),
  gasUsed: COUNT.describe('Total gas used'),
  costWei: INTEGER_TEXT.describe('Cost in wei: gas, and the data fee of a rollup'),
});

export const SELF_REPORT = z.object({
  verdict: z.string().describe('Verdict on the week as a sentence'),
  from: TIME.describe('Start of the seven days, inclusive'),
  to: TIME.describe('End of the seven days, exclusive'),
  asOf: TIME.describe('Time of the report: what was done late by then is `late`, not missed'),
  steps: listOf('Promised steps of the timetable and their states', {
    step: z.enum(PROMISED_STEPS).describe('Promised step'),
    promised: COUNT.describe('Times promised in these seven days; of `resolve`: forecasts whose window ended'),
    ran: COUNT.describe('On time'),
    late: COUNT.describe(
      'Done more than three minutes late; of `resolve`: after the next outcome check; of `open-window` always 0, since its time is not stored',
    ),
    waiting: COUNT.describe('Not done, waiting at the time of the report'),
    failed: COUNT.describe('Not done, failed'),
    missed: COUNT.describe('Not done for another reason'),
  }),
  incidents: listOf('Promises not kept on time, by date', {
    date: DATE.describe('Due day'),
    step: z.enum(PROMISED_STEPS).describe('Promised step'),
    state: z.enum(PROMISE_STATES).exclude(['ran']).describe('State of the promise'),
    detail: z.string().nullable().describe('Detail, where there is any; reasons of a wager are not public'),
  }),
  record: objectOf('Days of the record', {
    days: COUNT.describe('Recorded days whose forecast was due; `steps` counts a promised `signal` for the others too'),
    forecast: COUNT.describe('Days with a forecast'),
    missed: COUNT.describe('Missed days: nothing was forecast before the window opened'),
    late: COUNT.describe('Days with a late forecast'),
    replayed: COUNT.describe('Days replayed by the demo, on which no other step ran'),
  }),
  outcomes: objectOf('Forecasts of all horizons whose window ended in these days', {
    wins: COUNT.describe('Direction came true'),
    losses: COUNT.describe('Direction did not come true'),
    holds: COUNT.describe('Abstained'),
    voids: COUNT.describe('Missed, or committed too late to count'),
    open: COUNT.describe('Ended, not resolved on chain at the time of the report'),
  }),
  dataGaps: listOf('Masked inputs; empty when all were available every day', {
    series: z.string().describe('Input series of the model'),
    days: COUNT.describe('Forecast days on which it was masked, because it was missing or too old'),
    dates: z.array(DATE).describe('On which'),
  }),
  modelVersions: listOf('Models in use, earliest first', {
    modelVersion: z.string().describe('Model'),
    days: COUNT.describe('Forecast days'),
  }),
  regimes: listOf('Regimes of the forecast days', {
    regime: z.enum(REGIME_NAMES).describe('Market regime'),
    days: COUNT.describe('Days in the regime'),
  }),
  gas: objectOf('Transactions of these days by block time, and their cost', {
    attestations: GAS.describe('Commitments of forecasts'),
    resolutions: GAS.describe('Reveals with their outcomes'),
    feedback: GAS.describe('Wager outcomes in the reputation registry'),
    others: GAS.describe('Registrations and others'),
  }),
  notes: z.array(z.string()).describe('Limits of the report'),
});

export type SelfReport = z.output<typeof SELF_REPORT>;

export type PromisedStep = (typeof PROMISED_STEPS)[number];

export type PromiseState = (typeof PROMISE_STATES)[number];

export const SELF_TESTS = ['walk-forward', 'contamination', 'stability', 'polymarket-comparison', 'self-report'] as const;

export type SelfTestName = (typeof SELF_TESTS)[number];

/** Version of the stored results: incremented with every change of a report schema. Results of other versions are kept, but not served. */
export const RESULT_FORMAT = 1;

export interface SelfTestFailure {
  at: Date;
  reason: string;
  codeVersion: string;
}

/** One run of a self-test. `_id` is `<test>:<YYYY-MM-DD>` of its due day. */
export interface SelfTestDoc<Result = object> {
  _id: string;
  test: SelfTestName;
  day: Day;
  dueAt: Date;
  ranAt: Date;
  /** First result of that due day; earlier than `ranAt` when other code or data replaced it. */
  firstRanAt: Date;
  durationMs: number;
  late: boolean;
  /** `failed`: the test could not run; a bad result is `done`. */
  state: 'done' | 'failed';
  reason: string | null;
  /** A later run, by other code or on other data, that failed while this result stands; null without one. */
  failure: SelfTestFailure | null;
  verdict: string | null;
  codeVersion: string;
  /** Digest of the history; null for tests of the record. */
  dataDigest: string | null;
  firstDay: Day | null;
  lastDay: Day | null;
  source: string;
  simulated: boolean;
  replayed: boolean;
  seed: number | null;
  format: number;
  result: Result | null;
}

const CODE_VERSION = z
  .string()
  .describe(
    'Package version and sha2-256 of the computing code: `find src/forecast -name "*.ts" | LC_ALL=C sort | xargs sha256sum | sha256sum`',
  );

export const SELF_TEST_ENVELOPE = {
  success: SUCCESS,
  test: z.enum(SELF_TESTS).describe('Which test'),
  state: z.literal('done').describe('The test ran and has a result, good or bad: see `verdict`'),
  verdict: z.string().describe('Verdict in a line'),
  date: DATE.describe('Due day'),
  dueAt: TIME.describe('Due time'),
  ranAt: TIME.describe('Time of the run'),
  firstRanAt: TIME.describe('Time of the first result of that due day; earlier than `ranAt` when other code or corrected data replaced it'),
  late: z.boolean().describe('True when that first result came more than three minutes after its due time'),
  durationMs: COUNT.describe('Duration in milliseconds'),
  nextDueAt: TIME.nullable().describe('Next due time; null once the market data has ended'),
  overdue: z.boolean().describe('True when a newer result is overdue'),
  failure: namedObject('SelfTestFailure', {
    at: TIME.describe('When'),
    reason: z.string().describe('Why'),
    codeVersion: z.string().describe('Failed code version; after an upgrade it differs from that of the result'),
  })
    .nullable()
    .describe('Failure of the newest run, in which case an earlier result is shown; null when the newest is shown'),
  codeVersion: CODE_VERSION,
  dataDigest: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .nullable()
    .describe('sha2-256 of the history, computed as `inputsDigest` of a forecast; null for tests of the record'),
  firstDay: DATE.nullable().describe('First day of the data; null without any'),
  lastDay: DATE.nullable().describe('Last day of the data'),
  source: z.string().describe('Source of the market data'),
  simulated: z.boolean().describe('True for simulated market data: the figures evaluate the method, not bitcoin'),
  replayed: z.boolean().describe('True when it includes replayed days of the demo'),
  seed: COUNT.nullable().describe('Seed of the resampling, which makes it reproducible; null without resampling'),
};

export const SELF_TEST_ENVELOPE_OBJECT = z.object(SELF_TEST_ENVELOPE);

export const SELF_TEST_STATUS = z.object({
  test: z.enum(SELF_TESTS).describe('Which test'),
  path: z.string().describe('Path of its result'),
  state: z
    .enum(['done', 'failed', 'waiting'])
    .describe('State of the newest run; `waiting`: it never ran, or its result has another format'),
  verdict: z.string().nullable().describe('Verdict of the newest result in a line; null before the first'),
  lastRunAt: TIME.nullable().describe('Time of the last run; null before the first'),
  dueAt: TIME.describe('Last due time'),
  nextDueAt: TIME.nullable().describe('Next due time; null once the market data has ended'),
  overdue: z
    .boolean()
    .describe('True when a result is more than 15 minutes overdue; before the first one counted from the start of the service'),
  late: z.boolean().nullable().describe('Whether the first run of the newest due day was late; null before the first'),
  durationMs: COUNT.nullable().describe('Duration in milliseconds of the run that stands for that day; null before the first'),
  reason: z.string().nullable().describe('Reason for waiting or failure; null when done'),
  codeVersion: z.string().nullable().describe('Code version of the newest run; null before the first'),
});

const HORIZON_DAYS = z.literal(HORIZONS).describe('Days ahead');

const FOLD_COUNT = {
  folds: COUNT.describe('Folds of 180 days that are complete at every horizon'),
  expectedFolds: COUNT.describe('Folds of the whole history at the release of this version'),
  note: z.string().nullable().describe('Why there are fewer folds; null otherwise'),
};

const EDGE_ESTIMATE = ESTIMATE.nullable();
const FEATURE = z.enum(FEATURE_NAMES).meta({ id: 'Feature' });

const FIGURES = {
  n: COUNT.describe('Days forecast, HOLD included'),
  effectiveN: z.number().min(0).describe('Effective sample size: overlapping windows share their returns'),
  accuracy: PROBABILITY.nullable().describe('Share of days on which the likelier direction came true; null without days'),
  accuracy95: INTERVAL.nullable().describe('95 % Wilson interval of it on `effectiveN` days; null without days'),
  alwaysUp: PROBABILITY.nullable().describe('Accuracy of always saying UP; null without days'),
  downs: COUNT.describe('Days on which DOWN was likelier; without any the calls equal always saying UP'),
  edge: EDGE_ESTIMATE.describe('Accuracy minus that of always saying UP, 0.01 is one percentage point; null without days'),
  brierSkill: EDGE_ESTIMATE.describe('Brier skill against the base rate known at the time; null without days'),
  crpsSkill: EDGE_ESTIMATE.describe('CRPS skill against the returns of all training days; null without days'),
  recentCrpsSkill: EDGE_ESTIMATE.describe(
    `CRPS skill against the returns of the last ${RECENT_RETURN_DAYS} training days; null without days`,
  ),
};

const ERA = namedObject('MarketEra', {
  from: DATE.nullable().describe('First day forecast in it; null without any'),
  to: DATE.nullable().describe('Last day forecast in it; null without any'),
  ...FIGURES,
});

const SUSPICION = z.object({
  horizonDays: HORIZON_DAYS,
  where: z.string().describe('Era or regime'),
  why: z.string().describe('Suspiciously good figure'),
});

export const CONTAMINATION = z.object({
  ...FOLD_COUNT,
  healthy: z
    .boolean()
    .describe('False when a feature differs from what was known at the time, or a deliberately broken pipeline is not detected'),
  verdict: z.string().describe('Verdict as a sentence'),
  splitDay: DATE.describe('First day of the later era: first trading day of US spot Bitcoin ETFs'),
  horizons: listOf('Folds by era and regime per horizon; intervals are 95 %, by the block bootstrap', {
    horizonDays: HORIZON_DAYS,
    folds: COUNT.describe('Complete folds of this horizon'),
    preEtf: ERA.describe('Days before the first trading day of the ETFs'),
    postEtf: ERA.describe('Days from that day on'),
    difference: objectOf('The later era minus the earlier one', {
      accuracy: EDGE_ESTIMATE.describe('Difference in accuracy; null when an era has no day'),
      edge: EDGE_ESTIMATE.describe('Difference in edge over always saying UP; null when an era has no day'),
      brierSkill: EDGE_ESTIMATE.describe('Difference in Brier skill; null when an era has no day'),
      crpsSkill: EDGE_ESTIMATE.describe('Difference in CRPS skill; null when an era has no day'),
      recentCrpsSkill: EDGE_ESTIMATE.describe('Difference in CRPS skill against recent returns; null when an era has no day'),
    }),
    regimes: listOf('The same figures by regime, all seven', { regime: REGIME.describe('Market regime of the day'), ...FIGURES }),
  }),
  suspicions: z
    .array(SUSPICION)
    .describe(
      "Eras whose skill exceeds the other's with an interval that excludes zero, and eras or regimes with an accuracy above 60 % and above always saying UP, or below always saying UP, with an interval that excludes zero",
    ),
  pointInTime: objectOf('Features of the whole history against data known at the time', {
    days: z.array(DATE).describe('Days whose features were recomputed from data known at 21:35 UTC, with the close as price'),
    vintages: z
      .enum(VINTAGES)
      .describe(
        'Origin of that data: collected, kept as first seen since the service began; made, a simulated market without revisions; none, the same data as the whole history, where earlier revisions cannot show',
      ),
    differences: listOf('Features that differ: an input was revised, or a look-ahead', {
      day: DATE.describe('Audited day'),
      feature: FEATURE.describe('What differs'),
      known: z.number().nullable().describe('From data known on that day; null when masked'),
      computed: z.number().nullable().describe('From the whole history; null when masked'),
    }),
  }),
  lagMutants: listOf('The same audit of pipelines that read one input a day too early: each must be detected', {
    input: z.enum([...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS]).describe('Input that is read a day too early'),
    what: z.string().describe('Defect of the pipeline'),
    applicable: z.boolean().describe('Whether the defect changes any value between the first and the last audited day'),
    caught: z.boolean().describe('Whether the audit detected it'),
    features: z.array(FEATURE).describe('Features that differed'),
    days: COUNT.describe('Audited days with a difference'),
    reason: z.string().nullable().describe('Why it does not apply; null when it does'),
  }),
});

const BRIER = z.number().min(0).max(1);
const SHARPE = z.number().nullable();

const PBO = z.object({
  blocks: COUNT.describe('Parts of equal length of the sample'),
  blockDays: COUNT.describe('Days per part'),
  splits: COUNT.describe('Ways to choose half of the parts'),
  probability: PROBABILITY.describe(
    'Share of splits in which the best variant of one half ranks at or below the median in the other; noise alone gives about one half, with a standard deviation of about 0.2 between records',
  ),
  variants: COUNT.describe('Compared variants, by Brier score'),
  chosen: listOf('The five variants that were most often the best of their half', {
    id: z.string().describe('The variant'),
    share: PROBABILITY.describe('Share of the splits'),
  }),
});

const DEFLATED_SHARPE = z.object({
  days: COUNT.describe('Daily returns'),
  followedSharpe: SHARPE.describe('Sharpe ratio of the daily return of following every call, without costs; null without calls'),
  heldSharpe: SHARPE.describe('Sharpe ratio of holding bitcoin'),
  excessSharpe: SHARPE.describe('Sharpe ratio of the excess over holding bitcoin at the same risk; null when both are the same'),
  excessSkewness: SHARPE.describe('Skewness of the excess return; 0 is symmetric'),
  excessKurtosis: SHARPE.describe('Kurtosis of the excess return; 3 is normal'),
  trials: COUNT.describe('Discounted trials'),
  variantDeviation: z.number().min(0).describe('Standard deviation of that ratio among the variants'),
  independentDeviation: z.number().min(0).describe('Its value among independent trials without skill'),
  expectedBest: z.number().describe('Expected best ratio of that many trials without skill, by the larger deviation'),
  probability: PROBABILITY.nullable().describe('Deflated Sharpe ratio: P(true ratio > `expectedBest`); null when there is none'),
});

export const OVERFITTING = z.object({
  ...FOLD_COUNT,
  verdict: z.string().describe('Verdict as a sentence'),
  trials: COUNT.describe('Discounted trials before the model was fixed'),
  horizons: listOf('By horizon', {
    horizonDays: HORIZON_DAYS,
    folds: COUNT.describe('Complete folds of this horizon'),
    days: COUNT.describe('Days out of sample'),
    modelBrier: BRIER.nullable().describe("Brier score of the model's P(up), lower is better; null without days"),
    modelRank: z.int().min(1).nullable().describe('Rank of the model among the variants, 1 is best; null without days'),
    best: nullableObjectOf('The best variant on all days, known only in hindsight; null without days', {
      id: z.string().describe('The variant'),
      brier: BRIER.describe('Its Brier score'),
    }),
    pbo: PBO.nullable().describe(
      'Probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey, Borwein, Lopez de Prado, Zhu 2015); null with fewer than 480 days',
    ),
    deflatedSharpe: DEFLATED_SHARPE.nullable().describe(
      'Deflated Sharpe ratio (Bailey, Lopez de Prado 2014) of following every call for its horizon with an equal part of the capital; ratios per day, not annualised; null with fewer than 480 days',
    ),
  }),
  ledger: listOf('All trials; their counts add up to `trials`', {
    id: z.string().describe('Stable name; the first is the model itself'),
    change: z.string().describe('Difference from the model'),
    trials: COUNT.describe('Trials that the row represents'),
    recomputable: z.boolean().describe('Whether this code can refit it'),
    figures: listOf('Out-of-sample results by horizon; empty when it cannot be refitted', {
      horizonDays: HORIZON_DAYS,
      brier: BRIER.nullable().describe('Brier score of P(up) over all folds; null without a fold'),
      brierSkill: ESTIMATE.nullable().describe(
        'Brier skill against the base rate known at the time; positive is better; null without a fold',
      ),
      accuracy: PROBABILITY.nullable().describe('Share of days on which the likelier direction came true; null without a fold'),
      excessSharpe: SHARPE.describe('Daily Sharpe ratio of following rather than holding at the same risk; null when both are the same'),
    }),
  }),
});

const RESULT = z.enum(STABILITIES).nullable();
const POINTS = z.number().min(0).nullable();

export const STABILITY = z.object({
  ...FOLD_COUNT,
  result: RESULT.describe(
    'Result of the worst horizon: STABLE when the 95th percentile is at most 1 point at 10 % and 2 points at 20 %, MODERATE at most 5 points at 20 %, else OVERFIT; null without calls',
  ),
  verdict: z.string().describe('Verdict as a sentence'),
  scheme: z.string().describe('Scheme of the changes'),
  draws: COUNT.describe('Draws per level'),
  seed: z.int().describe('Seed of the draws, which makes them reproducible'),
  thresholds: listOf("Changed thresholds: the limits of the regimes and each regime's minimum distance of P(up) from one half", {
    name: z.string().describe('Threshold name'),
    value: z.number().describe('Current value'),
  }),
  horizons: listOf('Joint change of all thresholds, by horizon', {
    horizonDays: HORIZON_DAYS,
    folds: COUNT.describe('Complete folds of this horizon'),
    calls: COUNT.describe('Out-of-sample BUY or SELL calls with the current thresholds'),
    accuracy: PROBABILITY.nullable().describe('Share of these calls that came true; null without any'),
    result: RESULT.describe('Result of this horizon; null without calls'),
    joint: listOf('Joint change of all thresholds, by level', {
      levelPct: z.number().describe('Change of every threshold in percent of its value, up or down'),
      draws: COUNT.describe('Draws with any call'),
      p50Points: POINTS.describe('Median of the absolute change in accuracy, percentage points; null without calls'),
      p95Points: POINTS.describe('95th percentile in percentage points, which decides the result'),
      maxPoints: POINTS.describe('Maximum in percentage points'),
    }),
  }),
  single: listOf('Change of one threshold at a time, largest effect first', {
    threshold: z.string().describe("Threshold name, `theta.<regime>` for a regime's minimum distance of P(up) from one half"),
    value: z.number().describe('Current value'),
    changePct: z.number().describe('Change in percent of that value'),
    largestPoints: z.number().min(0).describe('Largest absolute change in accuracy of any horizon, percentage points'),
    horizons: listOf('Effect by horizon', {
      horizonDays: HORIZON_DAYS,
      accuracyChangePoints: z.number().nullable().describe('Change in accuracy of the calls, percentage points; null without calls'),
      callsChange: z.int().describe('Change in the number of calls'),
    }),
  }),
});

const CRPS = z.number().min(0).describe('Mean continuous ranked probability score in log-return units, lower is better');
const GAIN = z.object({ ...DIFFERENCE, value: z.number().describe(`1 - CRPS / CRPS of ${MODEL_NAME}; positive is better`) });

const FOLDS_TOGETHER = {
  n: COUNT.describe('Forecast days'),
  crps: CRPS,
  gain: GAIN.nullable().describe(
    `Gain over ${MODEL_NAME} on the same days, with the interval of the paired block bootstrap; null of ${MODEL_NAME} itself`,
  ),
};

/** Every version of the model on the days of the walk-forward. */
const VERSIONS = z.array(
  z.object({
    name: z.enum(MODEL_NAMES).describe('Name of the model version'),
    title: z.string().describe('What sets its distribution apart'),
    distributionTrials: COUNT.describe('Distributions tried until this version was fixed; discount its gain for selection'),
    horizons: listOf('Scores of each horizon, shortest first', {
      horizonDays: z.literal(HORIZONS).describe('Days ahead'),
      horizon: z.enum(HORIZONS.map(formatHorizonName)).describe('The same as a name'),
      folds: listOf('Complete folds, oldest first', {
        fold: z.int().min(1).describe('Fold number, from 1'),
        crps: CRPS,
        gain: z.number().nullable().describe(`1 - CRPS / CRPS of ${MODEL_NAME} in the same fold; null of ${MODEL_NAME} itself`),
        coverage50: PROBABILITY.describe('Share of outcomes within the central 50 % of the distribution'),
        coverage80: PROBABILITY.describe('Within the central 80 %'),
        coverage90: PROBABILITY.describe('Within the central 90 %'),
      }),
      foldsBetter: COUNT.nullable().describe(`Folds with a gain above 0; null of ${MODEL_NAME}`),
      pooled: nullableObjectOf('All folds pooled; null without a complete fold', {
        ...FOLDS_TOGETHER,
        coverage: listOf('Coverage of the central ranges', {
          nominal: z.literal(COVERED_SHARES).describe('Probability of the central range'),
          ...DIFFERENCE,
          value: PROBABILITY.describe('Share of outcomes within it'),
        }),
      }),
      lastLook: nullableObjectOf(
        `Folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}, looked at once, after versions later than the first were chosen on the folds before them; null until all are complete`,
        FOLDS_TOGETHER,
      ),
    }),
  }),
);

/** Score of a probability or a distribution; lower is better. */
const SCORE = z.number().min(0);

const BRIER_GAIN = namedObject('BrierGain', {
  ...DIFFERENCE,
  value: z.number().describe('1 - ours / theirs; positive is better'),
  ours: SCORE.describe('Brier score'),
  theirs: SCORE.describe('That of the reference'),
}).nullable();

const MOVE_WALK = namedObject('MoveWalk', {
  n: COUNT.describe('Days'),
  big: PROBABILITY.nullable().describe('Share of big moves'),
  overFrequency: BRIER_GAIN.describe('`pBig` against the share of big moves in the last four years of training'),
  overEwma: BRIER_GAIN.describe('`pBig` against EWMA volatility, decay .94, with its own residuals'),
  ewmaOverFrequency: BRIER_GAIN.describe('That EWMA against that share'),
  bySize: listOf('Days by size, CALM first', {
    moveSize: z.enum(MOVE_SIZES).describe('Size'),
    n: COUNT.describe('Days'),
    big: PROBABILITY.nullable().describe('Share of big moves; null without a day'),
  }),
  wildLessCalm: ESTIMATE.nullable().describe('Share of big moves on WILD days less that on CALM days'),
}).nullable();

const SKILL_AGAINST = {
  ...DIFFERENCE,
  value: z.number().describe('1 - ours / theirs; positive is better'),
  ours: SCORE.describe('Mean score of the distributions in log-return units, lower is better'),
  theirs: SCORE.describe('The same for the empirical returns of the reference'),
};

const CRPS_SKILL = namedObject('CrpsSkill', SKILL_AGAINST);

export const WALK_FORWARD = z.object({
  model: z.string().describe('Method name'),
  firstDay: DATE.describe('First day of the history'),
  lastDay: DATE.describe('Last day of the history'),
  trainingStart: DATE.describe('First training day'),
  minTrainingDays: COUNT.describe('Minimum number of training days'),
  foldDays: COUNT.describe('Days per fold, unseen by the model that forecasts them'),
  embargoDays: COUNT.describe('Days between the last price known to a model and the first day of its fold'),
  bootstrap: objectOf('The circular block bootstrap of the intervals of skills and differences', {
    blockDays: COUNT.describe('Days per block'),
    resamples: COUNT.describe('Number of resamples'),
    seed: COUNT.describe('Seed of the resampling, which makes it reproducible'),
  }),
  folds: COUNT.describe('Folds complete at every horizon; later ones are added as they end'),
  expectedFolds: COUNT.describe('Folds of the whole history'),
  note: z.string().nullable().describe('Why there are fewer folds; null otherwise'),
  healthy: z.boolean().describe('False when a canary finds a leak or misses a planted one: no figure here can be trusted then'),
  verdict: z.string().describe('Verdict of the canaries as a sentence'),
  horizons: listOf('Walk-forward of each horizon, shortest first', {
    horizonDays: z.literal(HORIZONS).describe('Days ahead'),
    horizon: z.enum(HORIZONS.map(formatHorizonName)).describe('The same as a name'),
    purgeDays: COUNT.describe('Purged days before the embargo, whose outcomes are not known in time: the length of the window'),
    folds: listOf('Complete folds, oldest first', {
      fold: z.int().min(1).describe('Fold number, from 1'),
      modelVersion: z.string().describe('Model fitted before the fold, which forecast all of its days'),
      trainFrom: DATE.describe('First training day'),
      trainTo: DATE.describe('Last training day; its outcome was known an embargo before the fold'),
      from: DATE.describe('First forecast day'),
      to: DATE.describe('Last forecast day'),
      n: COUNT.describe('Days forecast'),
      base: PROBABILITY.describe('Share of days followed by a rise: the accuracy of always saying UP'),
      accuracy: PROBABILITY.describe('Share of days on which the likelier direction came true, HOLD included'),
      calls: COUNT.describe('Days with BUY or SELL'),
      hits: COUNT.describe('Calls that came true'),
      brier: SCORE.max(1).describe('Brier score of P(up), lower is better'),
      climatologyBrier: SCORE.max(1).describe('The same for the base rate of the training days'),
      logScore: SCORE.describe('Mean log loss of P(up), natural logarithm, lower is better'),
      crps: SCORE.describe('Mean continuous ranked probability score in log-return units, lower is better'),
      climatologyCrps: SCORE.describe('The same for the empirical returns of all training days'),
      recentCrps: SCORE.describe(`The same for those of the last ${RECENT_RETURN_DAYS} training days: the harder reference`),
      coverage80: PROBABILITY.describe('Share of outcomes within the central 80 % of the distribution'),
    }),
    pooled: nullableObjectOf('All folds pooled, with error bars; null without a complete fold', {
      n: COUNT.describe('Forecast days of all folds'),
      signals: objectOf('Counts of signals', {
        buy: COUNT.describe('Days with BUY'),
        sell: COUNT.describe('Days with SELL'),
        hold: COUNT.describe('Days with HOLD'),
      }),
      directions: objectOf('Likelier direction, HOLD included', {
        up: COUNT.describe('Days with P(up) of at least one half'),
        down: COUNT.describe('Other days'),
      }),
      statistics: RECORD_STATISTICS.describe('Forecasts as issued: HOLD is not a call'),
      direction: CALL_STATISTICS.describe('Likelier direction of every day, HOLD included'),
      advantage: z
        .literal([-1, 0, 1])
        .describe(
          'Whether that direction is better than always saying UP (1), worse (-1), or indistinguishable (0), by an exact test of the DOWN days on non-overlapping windows, confirmed by the interval of the difference',
        ),
      crpsSkill: CRPS_SKILL.describe('CRPS against the returns of all training days'),
      recentCrpsSkill: CRPS_SKILL.describe(
        `CRPS against the returns of the last ${RECENT_RETURN_DAYS} training days, which give the distributions their shape: the harder reference`,
      ),
      garchCrpsSkill: CRPS_SKILL.describe('CRPS against GARCH(1,1) with Student t innovations, refitted for each fold'),
      coverage80: ESTIMATE.describe('Coverage of the central 80 % interval, with its block-bootstrap interval'),
      quantileSkills: listOf(
        `Pinball loss of the quantiles at ${TAIL_LEVELS.join(' and ')} against the same quantiles of the returns of all training days`,
        { level: PROBABILITY.describe('Nominal share below the quantile'), ...SKILL_AGAINST },
      ),
      worth: objectOf('Evidence of a year of daily calls', {
        independentPerYear: SCORE.nullable().describe(
          'Independent observations per year of daily calls, at most one a day, estimated from the variance of accuracy between runs of three consecutive windows; null below 30 such runs',
        ),
        independentPerYear95: nullableObjectOf('95 % interval of that estimate; null when it is null', {
          low: SCORE.describe('Lower bound'),
          high: SCORE.describe('Upper bound'),
        }),
        independentPerYearByOverlap: SCORE.describe('The same from the overlap of the windows alone'),
        proof: listOf('Duration of an edge until it is proven', {
          points: z.number().describe('Percentage points of accuracy above the reference without the model'),
          years: SCORE.nullable().describe('Years of daily calls that prove it with 80 % power, two-sided test at 5 %; null when unknown'),
        }),
      }),
    }),
    verdict: z.string().describe('Verdict as a sentence'),
  }),
  versions: VERSIONS.describe('Distributions of every model version, which share P(up), the first of which the others are compared with'),
  moves: listOf('The size of the move at each horizon, shortest first', {
    horizonDays: z.literal(HORIZONS).describe('Days ahead'),
    horizon: z.enum(HORIZONS.map(formatHorizonName)).describe('The same as a name'),
    pooled: MOVE_WALK.describe('All folds; null without a day'),
    lastLook: MOVE_WALK.describe(`Folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}; null until all are complete`),
  }),
  canaries: listOf('Tests that fail when future data leaks', {
    name: z.enum(CANARIES).describe('Which canary'),
    versions: z.array(z.enum(MODEL_NAMES)).describe('Model versions that it ran for'),
    what: z.string().describe('What it does, and the expected result'),
    unit: z.string().describe('Unit of the figures'),
    figure: SCORE.nullable().describe('Result; null when it could not run'),
    limit: SCORE.nullable().describe('Maximum of the figure; null when it could not run'),
    passed: z.boolean().nullable().describe('False when the figure exceeds the limit, which suggests a leak; null when it could not run'),
    note: z.string().describe('Origin of the figure, or why it could not run'),
    mutants: listOf('Deliberately broken pipelines, which show that the canary can fail', {
      what: z.string().describe('Defect'),
      figure: SCORE.describe('Result of the same run with the defect'),
      caught: z.boolean().describe('True when the figure exceeds the limit, as it must'),
    }),
  }),
});

const LOG_LOSS = z.number().min(0).nullable();

const ACCURACY = namedObject('MarketAccuracy', {
  markets: COUNT.describe('Settled markets, each once'),
  weeks: COUNT.describe('Weeks of expiry: markets of one week share their outcome, so that weeks are the sample size'),
  calls: COUNT.describe('Markets with a probability above or below one half'),
  hits: COUNT.describe('Calls that were right'),
  hitRate: PROBABILITY.nullable().describe('hits / calls; null before the first call'),
  hitRateInterval95: nullableObjectOf('95 % Wilson interval on the number of weeks with calls; null before the first call', {
    low: PROBABILITY.describe('Lower bound'),
    high: PROBABILITY.describe('Upper bound'),
  }),
  brier: z.number().min(0).max(1).nullable().describe('Mean Brier score, lower is better; a constant one half scores 0.25'),
  logLoss: LOG_LOSS.describe('Mean log loss, natural logarithm, lower is better; a constant one half scores 0.6931'),
});

const SCORES = namedObject('ComparisonScores', {
  brier: z.number().min(0).max(1).describe('Mean Brier score, lower is better'),
  logLoss: z.number().min(0).describe('Mean log loss, natural logarithm, lower is better'),
});

const MARKET_DIFFERENCE = namedObject('ComparisonDifference', {
  n: COUNT.describe('Pairs, one per week'),
  mean: z.number().describe('Mean of oracle minus market; negative means the oracle was better'),
  low: z.number().nullable().describe("Lower bound of the 95 % interval (Student's t); null for a single pair"),
  high: z.number().nullable().describe('Upper bound; null for a single pair'),
});

export const POLYMARKET_COMPARISON = z.object({
  verdict: z.string().describe('Verdict as a sentence'),
  venue: z.string().describe('Venue of the prices'),
  quotesAreOurs: z.boolean().describe('True when the service makes the prices itself: results against them prove nothing'),
  throughDate: DATE.describe('Last included day: all forecasts up to it are public'),
  accuracy: objectOf('Prediction market and oracle on the same questions', {
    market: ACCURACY.describe('Accuracy and scores of the market price'),
    oracle: ACCURACY.describe("The same for the model's probability of the same strikes at the same times"),
  }),
  weekly: objectOf('Head-to-head on one strike per week; the weeks are at /api/svc/crowd-vs-oracle', {
    weeks: COUNT.describe('Settled weeks, one strike each: the nearest to the money'),
    market: SCORES.nullable().describe('Mean scores of the market; null before the first settled week'),
    oracle: SCORES.nullable().describe('Mean scores of the oracle; null before the first settled week'),
    brierDifference: MARKET_DIFFERENCE.nullable().describe('Paired Brier scores; null before the first settled week'),
    logLossDifference: MARKET_DIFFERENCE.nullable().describe('Paired log losses; null before the first settled week'),
    oracleCloser: COUNT.describe('Weeks in which the oracle was closer'),
    marketCloser: COUNT.describe('Weeks in which the market was closer'),
  }),
  weight: objectOf('Weight of the model in wagers', {
    settledMarkets: COUNT.describe('Settled markets behind the weight'),
    modelLogLoss: LOG_LOSS.describe("Mean log loss of the model's probability; null before the first"),
    marketLogLoss: LOG_LOSS.describe("Mean log loss of the market's price; null before the first"),
    weightGivenToModel: PROBABILITY.describe(
      'Weight of the model against the market in wagers: 0 until it has beaten the market on 30 settled markets',
    ),
  }),
  notes: z.array(z.string()).describe('Limits of the figures'),
});
