import { z } from 'zod';
import { CHALLENGE_VERDICTS } from '../../forecast/challenge.ts';
import { MOVE_REFERENCES, type MoveReference } from '../../forecast/move-scores.ts';
import { TESTED_REFERENCES } from '../../forecast/move-skill.ts';
import { RISK_LEVELS } from '../../forecast/regime.ts';
import { WEEKDAYS } from '../../forecast/statistics.ts';
import {
  BYTES32,
  COUNT,
  DATE,
  keyedObject,
  listOf,
  namedObject,
  nullableObjectOf,
  objectOf,
  PROBABILITY,
  SUCCESS,
  TIME,
} from '../../platform/validation.ts';
import {
  DIRECTION,
  FORECAST_ID,
  FORECAST_PRICES,
  FORECAST_STATE,
  FORECAST_VALUES,
  HORIZON,
  INTERVAL,
  MOVE,
  MOVE_WITH_LIMITS,
  OUTCOME,
  REGIME,
  STATUS,
  TALLY,
} from './forecast.ts';

const WORTH = z.number().min(0).describe('Effective sample size: overlapping windows share their returns');

const HITS = {
  n: COUNT.describe('Calls: resolved forecasts other than HOLD'),
  hits: COUNT.describe('Calls whose direction came true'),
  accuracy: PROBABILITY.nullable().describe('hits / n; null without any'),
};

export const DIFFERENCE = {
  value: z.number().describe('Estimate'),
  low: z
    .number()
    .nullable()
    .describe('Lower bound of the 95 % block-bootstrap interval; null with too few blocks of days, or too many undefined resamples'),
  high: z.number().nullable().describe('Upper bound'),
};

export const ESTIMATE = z.object(DIFFERENCE).meta({ id: 'Estimate' });

export const CALL_STATISTICS = namedObject('CallStatistics', {
  ...HITS,
  effectiveN: WORTH,
  wilson95: INTERVAL.nullable().describe(
    '95 % Wilson interval of the accuracy on `effectiveN` trials, the headline interval: the same as `accuracyInterval95`; null without calls',
  ),
  bootstrap95: INTERVAL.nullable().describe(
    "Second 95 % interval of the accuracy, for comparison: circular block bootstrap over days, in blocks of 14 (30 from 300 days on), widened for few blocks by Student's t. It also allows for market regimes that last for weeks; null when the calls fill fewer than five blocks",
  ),
  offsets: listOf('All selections of non-overlapping windows: each h-th day, from each of h offsets', {
    offsetDays: COUNT.describe('Days after the first call of the record'),
    ...HITS,
  }),
  selection: z
    .object({
      called: PROBABILITY.describe('Share of rises on the days called UP'),
      all: PROBABILITY.describe('Share of rises on all resolved days'),
      held: PROBABILITY.nullable().describe('Share of rises on HOLD days; null without any'),
      overAll: ESTIMATE.describe('`called` minus `all`'),
      overHeld: ESTIMATE.nullable().describe('`called` minus `held`; null without HOLD'),
    })
    .nullable()
    .describe('Choice of the days called UP, which is all that a record of UP calls can show; null without any, or where every day was'),
  alwaysUp: nullableObjectOf('Against always saying UP; null without calls', {
    accuracy: PROBABILITY.describe('Accuracy of always saying UP on the same days'),
    difference: ESTIMATE.describe('Accuracy minus that, in daily pairs'),
  }),
});

const SKILL = namedObject('BrierSkill', {
  brier: z.number().min(0).describe('Brier score of the reference'),
  ...DIFFERENCE,
});

const RELIABILITY_BIN = namedObject('ReliabilityBin', {
  from: PROBABILITY.describe('Lower bound, inclusive'),
  to: PROBABILITY.describe('Upper bound, exclusive unless it is 1'),
  n: COUNT.describe('Forecasts in the bin'),
  effectiveN: WORTH,
  meanProbability: PROBABILITY.describe('Mean forecast probability'),
  observedShare: PROBABILITY.describe('Observed share'),
  interval95: INTERVAL.describe('95 % Wilson interval of that share on `effectiveN` trials'),
});

const PROBABILITY_STATISTICS = namedObject('ProbabilityStatistics', {
  n: COUNT.describe('Resolved forecasts, HOLD included'),
  effectiveN: WORTH,
  brier: z.number().min(0).max(1).describe('Brier score of P(up), lower is better; a constant one half scores 0.25'),
  logScore: z.number().min(0).describe('Mean log loss, natural logarithm, lower is better; a constant one half scores 0.6931'),
  climatologySkill: SKILL.nullable().describe(
    'Brier skill against the base rate known at the time, 1 - score / reference; positive is better. Null when that rate is unknown',
  ),
  climatology4ySkill: SKILL.nullable().describe('The same against that of the last four years; null while a day lacks it'),
  alwaysUpSkill: SKILL.nullable().describe(
    'Brier skill against certainty of a rise, which any hedged probability beats: a positive value implies no skill in direction, unlike `calls.alwaysUp`. Null while that was never wrong',
  ),
  murphy: objectOf('Decomposition of the Brier score (Murphy 1973, Stephenson et al. 2008)', {
    brier: z.number().min(0).max(1).describe('reliability - resolution + uncertainty + withinBins'),
    reliability: z.number().min(0).describe('Distance of probabilities from outcomes; lower is better'),
    resolution: z.number().min(0).describe('Variation of outcomes between bins; higher is better'),
    uncertainty: z.number().min(0).describe('Variance of the outcomes, independent of the forecasts'),
    withinBins: z.number().describe('Remainder from unequal probabilities within bins'),
  }),
  reliability: z
    .array(RELIABILITY_BIN)
    .describe('Forecast probability against the observed share of rises, in bins of five points; empty bins omitted'),
});

const COVERED = {
  observed: PROBABILITY.describe('Observed share'),
  interval95: INTERVAL.describe(
    '95 % interval of it by the circular block bootstrap over days; of outcomes in fewer than five blocks, Wilson on their effective number',
  ),
};

const CENTRAL_COVERAGE = z
  .array(z.object({ nominal: PROBABILITY.describe('Nominal share of the central interval'), ...COVERED }))
  .meta({ id: 'CentralCoverage' });

const DISTRIBUTION_STATISTICS = namedObject('DistributionStatistics', {
  n: COUNT.describe('Resolved forecasts whose distribution is known'),
  effectiveN: WORTH,
  crps: z.number().min(0).describe('Mean continuous ranked probability score in log-return units, lower is better'),
  coverage: CENTRAL_COVERAGE.describe('Coverage of the central intervals'),
  quantiles: listOf('Calibration of the quantiles', { level: PROBABILITY.describe('Nominal share below the quantile'), ...COVERED }),
  weekdays: listOf('The same by weekday, Monday first; weekdays without an outcome omitted', {
    weekday: z.enum(WEEKDAYS).describe('First day of the outcome window, UTC'),
    n: COUNT.describe('Resolved forecasts whose window opens on it'),
    coverage: CENTRAL_COVERAGE.describe('Coverage of the central intervals of these'),
  }),
});

export const RECORD_STATISTICS = namedObject('RecordStatistics', {
  calls: CALL_STATISTICS.describe('Accuracy of the calls and its evidence'),
  probabilities: PROBABILITY_STATISTICS.nullable().describe('Quality of the probabilities; null before the first outcome'),
  distribution: DISTRIBUTION_STATISTICS.nullable().describe('Quality of the predictive distributions; null when none is known'),
});

const MOVE_REFERENCE_TEXTS: Record<MoveReference, string> = {
  frequency: 'The share of big moves in the last four years of training',
  ewma: 'A random walk with EWMA(.94) volatility and the quantiles of its residuals',
  garch: 'GARCH(1,1), Student t',
};

const MOVE_REFERENCE = namedObject('MoveReferenceScore', {
  n: COUNT.describe('Resolved forecasts with the reference'),
  own: z.number().min(0).max(1).describe('Brier score of `pBig` on these'),
  ...SKILL.shape,
}).nullable();

const MOVE_TEST = namedObject('MoveTest', {
  days: COUNT.describe('Resolved days that count: replayed ones do not'),
  verdict: z.enum(CHALLENGE_VERDICTS).describe('Whether `pBig` has the lower Brier score; what was proven once stays proven'),
  since: DATE.nullable().describe('Forecast day whose outcome proved it; null while nothing is proven'),
  eBetter: z.number().min(0).describe('Evidence today that it is better: 20 proves it, whenever one looks (Ville)'),
  eWorse: z.number().min(0).describe('Evidence today that it is worse'),
});

const MOVE_SKILL = namedObject('MoveSkill', {
  n: COUNT.describe('Resolved forecasts with a size of the move'),
  replayed: COUNT.describe('Replayed ones among them'),
  bigShare: PROBABILITY.nullable().describe('Share of big moves; null without any forecast'),
  brier: z.number().min(0).max(1).nullable().describe('Brier score of `pBig`, lower is better; null without any'),
  references: keyedObject(MOVE_REFERENCES, (name) => MOVE_REFERENCE.describe(MOVE_REFERENCE_TEXTS[name])).describe(
    'Above 0 `pBig` is better. Null while unknown, or never wrong',
  ),
  tests: keyedObject(TESTED_REFERENCES, (name) => MOVE_TEST.describe(`Against \`${name}\``)).describe(
    '`pBig` against each of the two that it has to beat',
  ),
  reliability: z.array(RELIABILITY_BIN).describe('`pBig` against the share of big moves, in bins of ten points'),
  bySize: listOf('Big moves by size', {
    moveSize: MOVE.moveSize.unwrap().describe('Size'),
    n: COUNT.describe('Resolved forecasts of this size'),
    bigShare: PROBABILITY.nullable().describe('Share of big moves; null without any forecast'),
    interval95: INTERVAL.nullable().describe('95 % Wilson interval of it on the effective sample size'),
  }),
});

const MOVE_RECORD = {
  moveSkill: MOVE_SKILL.describe('Scores of `pBig` over all forecasts of the horizon'),
  moveVerdict: MOVE_WITH_LIMITS.moveVerdict,
};

const BRIER = namedObject('Brier', {
  n: COUNT.describe('Resolved forecasts, HOLD included'),
  model: z.number().min(0).max(1).describe('Mean squared error of P(UP), 0 to 1; lower is better'),
  climatology: z.number().min(0).max(1).describe('The same for the base rate known at the time'),
  climatology4y: z.number().min(0).max(1).nullable().describe('The same for that of the last four years; null while a day lacks it'),
});

export const SHARE = {
  resolved: COUNT.describe('Scored forecasts: wins and losses'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  accuracy: PROBABILITY.nullable().describe('Wins / resolved, 0 to 1; null without any'),
  effectiveN: z
    .number()
    .min(0)
    .describe('Effective sample size: independent calls that the scored ones are worth, given the overlap of their windows'),
  dedupedTotal: COUNT.describe('Scored forecasts after removing overlapping windows'),
  accuracyInterval95: INTERVAL.nullable().describe('95 % Wilson interval on `effectiveN` trials, the headline interval; null without any'),
  brier: BRIER.nullable().describe('Brier score of P(UP) against both base rates; null without any, or when the first is unknown'),
};

const TOTAL = COUNT.describe('All forecasts, whatever their outcome');

const REGIME_ROW = namedObject('RegimeRow', {
  regime: REGIME.nullable().describe('Market regime at signal time; null for missed days'),
  total: TOTAL,
  ...SHARE,
});

const MODEL_VERSION_ROW = namedObject('ModelVersionRow', {
  modelVersion: z.string().nullable().describe('Model version: the method and the first day of its block; null for missed days'),
  total: TOTAL,
  ...SHARE,
});

const HORIZON_ROW = namedObject('HorizonRow', {
  horizon: HORIZON.describe('Length of the outcome window in days'),
  total: TOTAL,
  ...SHARE,
  holds: COUNT.describe('Resolved forecasts that abstained; not scored'),
  voids: COUNT.describe('Missed or committed too late; not scored'),
  missed: COUNT.describe('Voids without a forecast'),
  pending: COUNT.describe('Not resolved yet'),
  verdict: z.string().describe('Verdict as a sentence'),
  moveVerdict: MOVE_WITH_LIMITS.moveVerdict,
});

/** Of unrevealed forecasts nothing counts. */
const CALL_COUNTS = namedObject('CallCounts', {
  days: COUNT.describe('Days of the horizon whose outcome is on chain; 0 before the first'),
  buy: COUNT.describe('Of these, BUY'),
  sell: COUNT.describe('Of these, SELL'),
  hold: COUNT.describe('Of these, HOLD'),
  up: COUNT.describe('Of these, with direction UP'),
  down: COUNT.describe('Of these, with direction DOWN'),
  sameAsDayBefore: PROBABILITY.nullable().describe('Share whose signal is that of the day before; null without two such days'),
});

/** What a buyer should know of a horizon beforehand: nothing of an unrevealed forecast counts. */
export const REVEALED_CALLS = namedObject('RevealedCalls', {
  days30: CALL_COUNTS.describe('The newest 30'),
  days90: CALL_COUNTS.describe('The newest 90'),
  days365: CALL_COUNTS.describe('The newest 365'),
  all: CALL_COUNTS.describe('All'),
});

export const HORIZON_CALLS = z.array(namedObject('HorizonCalls', { horizon: HORIZON.describe('Horizon'), ...REVEALED_CALLS.shape }));

const MARKET_SKILL = namedObject('MarketSkill', {
  venue: z.string().describe('Venue of the prices'),
  quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: skill against them proves nothing'),
  throughDate: DATE.describe('Last counted day: all forecasts up to it are public'),
  skill: nullableObjectOf('Null before the first settled week', {
    weeks: COUNT.describe('Settled weeks, one strike each, the nearest to the money; they do not overlap'),
    oracleBrier: z.number().min(0).max(1).describe("Mean squared error of the oracle's probability, lower is better"),
    marketBrier: z.number().min(0).max(1).describe("The same for the market's mid price"),
    value: DIFFERENCE.value.describe('Brier skill, 1 - oracle / market; above zero the oracle is better'),
    low: DIFFERENCE.low.describe(
      "Lower bound of the 95 % interval: Student's t of the weekly differences over `marketBrier`, as in the weekly comparison; null for a single week",
    ),
    high: DIFFERENCE.high,
  }),
  note: z.string().describe('Scope and limits of the comparison'),
});

const BREAKDOWNS = {
  byHorizon: z.array(HORIZON_ROW).describe('Summary of each of the four horizons'),
  byRegime: z.array(REGIME_ROW).describe('Forecasts of the horizon by market regime, most frequent first'),
  byModelVersion: z.array(MODEL_VERSION_ROW).describe('Forecasts of the horizon by model version, newest first'),
  marketSkill: MARKET_SKILL.describe('Oracle against prediction market on the same question and time; the same for all horizons'),
};

export const RECORD_DETAILS = {
  statistics: RECORD_STATISTICS.describe('Resolved forecasts of the horizon with error bars; the same for every caller'),
  ...MOVE_RECORD,
  ...BREAKDOWNS,
};

export const SUMMARY = z.object({
  totalPredictions: COUNT.describe('All forecasts, whatever their outcome'),
  resolved: COUNT.describe('Scored forecasts: wins and losses'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  losses: COUNT.describe('Scored forecasts whose direction did not come true'),
  holds: COUNT.describe('Resolved forecasts that abstained; not scored'),
  voids: COUNT.describe('Missed or committed too late; not scored'),
  missed: COUNT.describe('Voids without a forecast'),
  pending: COUNT.describe('Not resolved yet'),
  accuracy: PROBABILITY.nullable().describe('Wins / resolved, 0 to 1; null before the first'),
  dedupedTotal: COUNT.describe(
    'Scored forecasts after removing overlapping windows: the first, and each that starts after the previous one has ended',
  ),
  dedupedWins: COUNT.describe('Wins among them'),
  dedupedAccuracy: PROBABILITY.nullable().describe('Their accuracy, 0 to 1; null before the first'),
  dedupedInterval95: INTERVAL.nullable().describe(
    '95 % Wilson interval of `dedupedWins` in `dedupedTotal`, which use a part of the calls; null before the first',
  ),
  accuracyInterval95: INTERVAL.nullable().describe(
    '95 % Wilson interval of `accuracy`, the headline interval, on the effective sample size given overlapping windows (`effectiveN` in `byHorizon` and `statistics.calls`); null before the first',
  ),
  alwaysUpAccuracy: PROBABILITY.nullable().describe('Accuracy of always saying UP on the same forecasts, 0 to 1'),
  streak: objectOf('Current run of equal outcomes', {
    count: COUNT.describe('Length of the run'),
    type: OUTCOME.nullable().describe('Outcome of the run; null before the first'),
  }),
  brier: BRIER.nullable().describe('Brier score of the probabilities against the base rate; null before the first'),
  verdict: z
    .string()
    .describe(
      'Verdict as a sentence: `wins` of `resolved` with `accuracyInterval95`, with overlapping windows also `dedupedWins` of `dedupedTotal`, and whether it differs from always saying UP: DOWN calls on non-overlapping windows are tested, right against wrong, at 5 %, and the daily difference must agree',
    ),
});

/** In the types of the interface: numbers also where nothing is scored. */
export const PUBLISHED_SUMMARY = SUMMARY.extend({
  scored: COUNT.describe('The same as `resolved`; while it is 0, shares are not measurements'),
  accuracy: PROBABILITY.describe('Wins / resolved, 0 to 1; 0 while `scored` is 0'),
  dedupedAccuracy: PROBABILITY.describe('Accuracy on non-overlapping windows, 0 to 1; 0 while `dedupedTotal` is 0'),
  streak: objectOf('Current run of equal outcomes', {
    count: COUNT.describe('Length of the run; 0 while nothing is scored'),
    type: OUTCOME.describe('Outcome of the run; meaningless while `count` is 0'),
  }),
}).meta({ id: 'PublishedSummary' });

const BAND80 = namedObject('Band80', {
  low: z.number().describe('Quantile 0.10, BTC/USD: one close in ten is expected below'),
  median: z.number().describe('Quantile 0.50, BTC/USD'),
  high: z.number().describe('Quantile 0.90, BTC/USD: one close in ten is expected above'),
});

export const ENTRY = z.object({
  ...FORECAST_ID,
  ...FORECAST_VALUES,
  band80: BAND80.nullable().describe(
    '80 % band: quantiles 0.10, 0.50 and 0.90 of the predictive distribution of the close at resolution, with its direction; `/api/svc/open/range` has the expected range instead, symmetric around the price at signal time. Null until the outcome for callers below Premium, and for a missed day. Shown as stored: the attested digest is of the whole distribution',
  ),
  ...FORECAST_STATE,
  riskLevel: z.enum(RISK_LEVELS).nullable().describe('Risk level of the regime; null for a missed day'),
  ...FORECAST_PRICES,
  outcome: namedObject('ForecastOutcome', {
    actualReturn: z.number().describe('Return over the window, as a fraction'),
    actualDirection: DIRECTION.describe('Realized direction'),
    correct: z.boolean().describe('Whether it matches the forecast direction'),
  })
    .nullable()
    .describe('null until the outcome is on chain, and for HOLD and VOID; `status` has the state'),
  attestationUid: BYTES32.nullable().describe('Uid of the committing attestation; null until it is on chain'),
  resolutionUid: BYTES32.nullable().describe('Uid of the resolution attestation; null until it is on chain'),
});

/** What a row of the whole record has; the others are those of a page. */
const ROW_FIELDS = {
  date: true,
  predictionId: true,
  sequence: true,
  signal: true,
  direction: true,
  confidence: true,
  btcPrice: true,
  status: true,
  outcome: true,
  btcAtSignal: true,
  btcAtResolution: true,
  resolvedAt: true,
  replayed: true,
} as const;
export const ROW = ENTRY.pick(ROW_FIELDS);
const PAGE_ONLY = ENTRY.omit(ROW_FIELDS).partial();

export const PREDICTION_MARKET = namedObject('PredictionMarket', {
  venue: z.string().describe('Venue of the wagers'),
  quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: winning against them proves nothing'),
  throughDate: DATE.describe('Last counted day: all forecasts up to it are public'),
  settledMarkets: COUNT.describe('Settled markets in the comparison'),
  modelLogLoss: z
    .number()
    .min(0)
    .nullable()
    .describe("Mean log loss of the model's probabilities, natural logarithm; null without a market"),
  marketLogLoss: z.number().min(0).nullable().describe("Mean log loss of the market's prices, natural logarithm; null without a market"),
  weightGivenToModel: PROBABILITY.describe('Weight of the model against the market in wagers, 0 to 1'),
  wagers: TALLY.describe('Settled wagers'),
});

export const SCORECARD = namedObject('Scorecard', {
  success: SUCCESS,
  horizon: HORIZON.describe('Requested horizon'),
  source: z.string().describe('Source of the market data'),
  summary: PUBLISHED_SUMMARY.describe('Counts, accuracy and their evidence'),
  stats: objectOf('The same in the other shape of the interface', {
    total: COUNT.describe('All forecasts'),
    scored: COUNT.describe('Wins and losses; while it is 0, `accuracy` is not a measurement'),
    wins: COUNT.describe('Scored forecasts whose direction came true'),
    losses: COUNT.describe('Scored forecasts whose direction did not come true'),
    accuracy: PROBABILITY.describe('Wins / (wins + losses), 0 to 1; 0 while `scored` is 0'),
    currentStreak: COUNT.describe('Current run of wins'),
    longestStreak: COUNT.describe('Longest run of wins'),
  }),
  ...RECORD_DETAILS,
  predictionMarket: PREDICTION_MARKET.describe('The model against prediction markets, on wagers of public days'),
  predictions: z
    .array(ROW.extend(PAGE_ONLY.shape))
    .describe('All forecasts of the horizon in compact rows, newest first; with `limit` or `before` a page of them with all fields'),
  count: COUNT.describe('Forecasts in `predictions`; `summary.totalPredictions` is the total'),
  nextCursor: z.string().nullable().describe('`before` of the next page; null on the last'),
});

export type ScorecardReply = z.input<typeof SCORECARD>;

/** An answer with `limit` or `before`. */
export type ScorecardPageReply = Omit<ScorecardReply, 'predictions'> & { predictions: z.input<typeof ENTRY>[] };

const BOUND = z.number().min(-1).max(1);

const STATISTICS = SUMMARY.extend({
  brierDifference: namedObject('BrierDifference', {
    n: COUNT.describe('Resolved forecasts on non-overlapping windows, HOLD included'),
    mean: BOUND.describe('Mean difference of paired Brier scores, model minus climatology, -1 to 1; negative is better'),
    low: BOUND.nullable().describe("Lower bound of the 95 % interval, Student's t; null for a single pair"),
    high: BOUND.nullable().describe('Upper bound; null for a single pair'),
  })
    .nullable()
    .describe('Model against the base rate; null before the first resolution'),
  calls: RECORD_STATISTICS.shape.calls
    .nullable()
    .describe('Accuracy of the calls, with error bars from all windows; null with the filter `status`'),
  probabilities: RECORD_STATISTICS.shape.probabilities.describe(
    'Quality of the probabilities, HOLD included; null without outcomes, and with `status`',
  ),
  distribution: RECORD_STATISTICS.shape.distribution.describe(
    'Quality of the predictive distributions by the stored models; only the probability is committed on chain. Null when none is known, and with the filter `status`',
  ),
}).meta({ id: 'Statistics' });

export const TRACK_RECORD = namedObject('TrackRecord', {
  asOf: TIME.describe('Time of the response'),
  filters: objectOf('Filters as parsed', {
    horizon: HORIZON.describe('Length of the outcome window in days'),
    from: DATE.nullable().describe('First day of forecasts, UTC; null without a limit'),
    to: DATE.nullable().describe('Last day of forecasts, UTC, inclusive; null without a limit'),
    regime: REGIME.nullable().describe('Market regime at signal time; null for all'),
    status: STATUS.nullable().describe('State of the forecast; null for all'),
  }),
  statistics: STATISTICS.describe(
    'Counts, accuracy and evidence of exactly the filtered forecasts; with the filter `status` only counts, since it selects by outcome',
  ),
  byRegime: z.array(REGIME_ROW).describe('The filtered forecasts by market regime, most frequent first'),
  byModelVersion: z.array(MODEL_VERSION_ROW).describe('The filtered forecasts by model version, newest first'),
  byHorizon: BREAKDOWNS.byHorizon.describe('Summary of each of the four horizons, regardless of filters'),
  marketSkill: BREAKDOWNS.marketSkill,
  wholeRecord: objectOf('The unfiltered figures of the horizon, for comparison', {
    total: COUNT.describe('All forecasts of the horizon'),
    ...SHARE,
    verdict: z.string().describe("Verdict on the horizon's whole record, as a sentence"),
  }),
  ...MOVE_RECORD,
  inference: z.string().describe('Effect of the filters on inference, as a sentence'),
  entries: z.array(ENTRY).describe('Forecasts of this page, newest first, cut to the caller'),
  page: z.int().min(1).describe('Page number, from 1'),
  pageSize: z.int().min(1).describe('Entries on a full page'),
  pages: COUNT.describe('Number of pages; 0 when no forecast matches'),
  total: COUNT.describe('Forecasts that match the filters'),
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
});

export type TrackRecordReply = z.input<typeof TRACK_RECORD>;
