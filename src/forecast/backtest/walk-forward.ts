import { GARCH } from '../baselines.ts';
import {
  BOOTSTRAP_SEED,
  bootstrapEstimate,
  chooseBlockDays,
  countEffective,
  type IntervalEstimate,
  RESAMPLES,
  SHARE_RANGE,
} from '../bootstrap.ts';
import { formatDay } from '../day.ts';
import { computeGridCrps, quantile } from '../distribution.ts';
import { type InputFrame, MIN_HISTORY_DAYS } from '../inputs.ts';
import { formatPercent, meanBy, shareOf, Z_95 } from '../math.ts';
import {
  BLOCK_DAYS,
  EMBARGO_DAYS,
  formatHorizonName,
  HORIZONS,
  type HorizonDays,
  MIN_TRAINING_DAYS,
  MODEL_NAME,
  TRAINING_START,
} from '../model.ts';
import { computeRecordStatistics } from '../record-statistics.ts';
import { boundedLogLoss, brierScore, type Interval, toDirection } from '../signal.ts';
import { computeCallStatistics, computeHitRate, RELATIONS, testAdvantageOverAlwaysUp } from '../statistics.ts';
import type { Canary, CanaryRun } from './canaries.ts';
import { buildMoveReport, walkMoves } from './move-walk.ts';
import {
  type BacktestHistory,
  buildFolds,
  computeReferenceSkill,
  EXPECTED_FOLDS,
  type Fold,
  fitBlocks,
  formatFoldNote,
  isDirectionRight,
  type OutOfSampleDay,
  PIPELINE,
  type Pipeline,
  RECENT_RETURN_DAYS,
} from './out-of-sample.ts';
import { buildVersionReports, runCanaries, walkVersions } from './versions.ts';

type WalkForwardSource = BacktestHistory & { frame: InputFrame };
/** The walk-forward of all horizons with its leak canaries. Days as `YYYY-MM-DD`. */
export type WalkForwardReport = ReturnType<typeof buildWalkForwardReport>;

export type HorizonWalkForward = ReturnType<typeof buildHorizonReport>;

/**
 * Walk-forward of every horizon, and the leak canaries that check it. Deterministic; a history too short for a fold gives empty tables
 * and a note. `features` are the pipeline's features of `frame`.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function buildWalkForwardReport(source: WalkForwardSource, pipeline: Pipeline = PIPELINE) {
  const { closes, features, frame } = source;
  const history = { closes, features };
  const walks = HORIZONS.map((horizonDays) => {
    const blocks = fitBlocks({ ...history, horizon: horizonDays, rules: pipeline.rules }, pipeline.walk);
    return { horizonDays, blocks, folds: buildFolds(history, blocks, pipeline) };
  });
  const versions = walkVersions(pipeline, walks, history);
  const moves = walkMoves(versions, { frame, features });
  const canaries = runCanaries({ ...history, frame }, { walks, versions, moves }, pipeline);
  const folds = Math.min(...walks.map((walk) => walk.folds.length));
  const note = formatFoldNote(folds, features);
  const need = `a fold requires ${MIN_TRAINING_DAYS} training days, the embargo, ${BLOCK_DAYS} days and all their outcomes`;
  return {
    model: MODEL_NAME,
    firstDay: formatDay(features.firstDay),
    lastDay: formatDay(features.firstDay + features.length - 1),
    trainingStart: formatDay(Math.max(TRAINING_START, features.firstDay + MIN_HISTORY_DAYS - 1)),
    minTrainingDays: MIN_TRAINING_DAYS,
    foldDays: BLOCK_DAYS,
    embargoDays: EMBARGO_DAYS,
    bootstrap: { blockDays: chooseBlockDays(folds * BLOCK_DAYS), resamples: RESAMPLES, seed: BOOTSTRAP_SEED },
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: note && `${note}; ${need}`,
    healthy: areCanariesHealthy(canaries),
    verdict: formatLeakVerdict(canaries),
    horizons: walks.map(({ horizonDays, folds }) => buildHorizonReport(history, horizonDays, folds)),
    versions: buildVersionReports(versions),
    moves: moves.map(buildMoveReport),
    canaries,
  };
}

/** Whether no canary found a leak and every mutant was caught. */
export function areCanariesHealthy(canaries: readonly CanaryRun[]): boolean {
  return canaries.every(({ passed, mutants }) => passed !== false && mutants.every(({ caught }) => caught));
}

function buildHorizonReport(history: BacktestHistory, horizonDays: HorizonDays, folds: readonly Fold[]) {
  const own = buildOwnReport(folds, horizonDays);
  const pooled: PooledReport | null = own && { ...own, garchCrpsSkill: computeGarchSkill(history, folds, horizonDays) };
  return {
    horizonDays,
    horizon: formatHorizonName(horizonDays),
    /** Days before the embargo whose outcomes are unknown at training time: the length of the window. */
    purgeDays: horizonDays,
    folds: folds.map(buildFoldReport),
    /** Null without a complete fold. */
    pooled,
    verdict: formatHorizonVerdict(pooled),
  };
}

const HALF_CENTRAL_80 = 0.4;

function isInCentral80({ distribution }: OutOfSampleDay): boolean {
  return Math.abs(distribution.pit - 0.5) <= HALF_CENTRAL_80;
}

/** Figures of one fold. Days as `YYYY-MM-DD`, shares 0 to 1, lower scores are better. */
export function buildFoldReport({ fold, model, days }: Fold) {
  const { n: calls, hits } = computeHitRate(days.filter(({ call }) => call !== null));
  return {
    /** From 1. */
    fold,
    modelVersion: model.modelVersion,
    trainFrom: formatDay(model.trainFrom),
    trainTo: formatDay(model.trainTo),
    from: formatDay(days[0].day),
    to: formatDay(days[0].day + BLOCK_DAYS - 1),
    n: days.length,
    /** Share of rises: the accuracy of always calling UP. */
    base: shareOf(days, ({ rose }) => rose),
    /** Share of days on which the likelier direction came true, HOLD included. */
    accuracy: shareOf(days, isDirectionRight),
    /** BUY and SELL, and those that came true. */
    calls,
    hits,
    /** Mean squared error of P(up), and of the base rate known at the time. */
    brier: meanBy(days, ({ pUp, rose }) => brierScore(pUp, rose)),
    climatologyBrier: meanBy(days, ({ climatology, rose }) => brierScore(climatology, rose)),
    /** Mean log loss, natural logarithm. */
    logScore: meanBy(days, ({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    /** Mean CRPS in log-return units: of the distribution, and of the returns of all training days. */
    crps: meanBy(days, ({ distribution }) => distribution.crps),
    climatologyCrps: meanBy(days, ({ climatologyCrps }) => climatologyCrps),
    /** Mean CRPS of the returns of the last `RECENT_RETURN_DAYS` training days. */
    recentCrps: meanBy(days, ({ recentCrps }) => recentCrps),
    coverage80: shareOf(days, isInCentral80),
  };
}

/** Statistics over all folds of one horizon. */
export type PooledReport = OwnReport & {
  /** CRPS skill against GARCH(1,1)-t. */
  garchCrpsSkill: ReferenceSkill;
};

type ReferenceSkill = NonNullable<ReturnType<typeof computeReferenceSkill>>;

/** What needs no model but the one of the folds. */
export type OwnReport = NonNullable<ReturnType<typeof buildOwnReport>>;

/** Null without a day. Shares 0 to 1, lower scores are better, intervals 95 %. */
export function buildOwnReport(folds: readonly Fold[], horizonDays: HorizonDays) {
  const days = folds.flatMap((fold) => fold.days);
  if (days.length === 0) return null;
  const countOf = (signal: string) => days.filter((day) => day.signal === signal).length;
  const directions = days.map((day) => ({ ...day, call: toDirection(day.pUp) }));
  const up = directions.filter(({ call }) => call === 'UP').length;
  return {
    n: days.length,
    signals: { buy: countOf('BUY'), sell: countOf('SELL'), hold: countOf('HOLD') },
    directions: { up, down: days.length - up },
    /** Of the calls; HOLD is no call. */
    statistics: computeRecordStatistics(days, horizonDays),
    /** Of the likelier direction of every day, HOLD included. */
    direction: computeCallStatistics(directions, horizonDays),
    /** Whether that is better than always calling UP (1), worse (-1), or neither significantly (0). */
    advantage: testAdvantageOverAlwaysUp(directions, horizonDays),
    /** Against the returns of all training days. */
    crpsSkill: computeCrpsSkill(days, ({ climatologyCrps }) => climatologyCrps),
    /** Against the last `RECENT_RETURN_DAYS` training days, which shape the distribution. */
    recentCrpsSkill: computeCrpsSkill(days, ({ recentCrps }) => recentCrps),
    coverage80: bootstrapEstimate(shareOf(days, isInCentral80), {
      columns: [days.map((one) => (isInCentral80(one) ? 1 : 0)), days.map(() => 1)],
      statistic: ([held, all]) => held / all,
      range: SHARE_RANGE,
    }),
    quantileSkills: computeQuantileSkills(folds),
    worth: estimateIndependentObservations(days, horizonDays),
  };
}

function computeCrpsSkill(days: readonly OutOfSampleDay[], crpsOf: (day: OutOfSampleDay) => number): ReferenceSkill {
  // Past returns vary, so the reference's score is above 0.
  return computeReferenceSkill(days.map((one) => ({ day: one.day, ours: one.distribution.crps, theirs: crpsOf(one) })))!;
}

/** CRPS skill of the folds' distributions against GARCH(1,1)-t fitted to the days that each fold may read; expects a fold. */
function computeGarchSkill(
  history: BacktestHistory,
  folds: readonly Pick<Fold, 'model' | 'days'>[],
  horizonDays: HorizonDays,
): ReferenceSkill {
  const scores = folds.flatMap(({ model, days }) => {
    const forecast = GARCH.fit(history, model.block, horizonDays);
    return days.map(({ day, row, realised, distribution }) => ({
      day,
      ours: distribution.crps,
      theirs: computeGridCrps(forecast(row), realised),
    }));
  });
  // Its quantiles differ, so the score of no outcome is 0.
  return computeReferenceSkill(scores)!;
}

const DAYS_PER_YEAR = 365.25;
/** Windows of a run: the minimum that captures nearly all of the overlap's correlation. */
const RUN_WINDOWS = 3;
/** With fewer runs their variance cannot be estimated. */
const MIN_RUNS = 30;
const ADVANTAGES = [3, 10];
/** Normal quantile of a power of 80 %. */
const Z_POWER = 0.8416212335729143;

/** Evidence in a year of daily calls of one horizon, from its out-of-sample days, each with its likelier direction as a call. */
export function estimateIndependentObservations(days: readonly OutOfSampleDay[], horizonDays: number) {
  const right = days.map(isDirectionRight);
  const runDays = RUN_WINDOWS * horizonDays;
  const estimate = estimateObservationsPerYear(right, runDays);
  const independentPerYear = estimate === null ? null : capAtDaily(estimate);
  return {
    /** Estimated from the variance of the hit rate between runs, at most one a day; null with too few runs. */
    independentPerYear,
    independentPerYear95: estimate === null ? null : computeYearlyInterval(estimate, days.length / runDays),
    /** Independent observations a year by the overlap of the windows alone. */
    independentPerYearByOverlap: (countEffective(days, horizonDays) / days.length) * DAYS_PER_YEAR,
    /** Time needed to prove an advantage in percentage points; null where `independentPerYear` is. */
    proof: ADVANTAGES.map((points) => ({
      points,
      years: independentPerYear === null ? null : computeObservationsToProve(points / 100) / independentPerYear,
    })),
  };
}

/** Observations that prove, at 5 % two-sided, a share near one half to exceed a known one: (z_test + z_power)^2 / 4 / advantage^2. */
export function computeObservationsToProve(advantage: number): number {
  return ((Z_95 + Z_POWER) ** 2 * 0.25) / advantage ** 2;
}

function capAtDaily(observations: number): number {
  return Math.min(DAYS_PER_YEAR, observations);
}

/**
 * The variance of overlapping-run means has 3/2 degrees of freedom for each run that fits in (Meketon and Schmeiser, 1984); its logarithm
 * has a standard deviation of about sqrt(2 / degrees).
 */
function computeYearlyInterval(estimate: number, runs: number): Interval {
  const factor = Math.exp(Z_95 * Math.sqrt(2 / (1.5 * runs)));
  return { low: capAtDaily(estimate / factor), high: capAtDaily(estimate * factor) };
}

/**
 * Days a year divided by the variance inflation of run means over independent days, which is the variance of the circular block bootstrap
 * in closed form. Null for few or constant runs.
 */
function estimateObservationsPerYear(right: readonly boolean[], runDays: number): number | null {
  const n = right.length;
  if (n < MIN_RUNS * runDays) return null;
  const share = right.filter(Boolean).length / n;
  let squares = 0;
  let run = right.slice(0, runDays).filter(Boolean).length;
  for (let first = 0; first < n; first++) {
    squares += (run - runDays * share) ** 2;
    run += Number(right[(first + runDays) % n]) - Number(right[first]);
  }
  const inflation = squares / n / runDays / (share * (1 - share));
  return inflation > 0 && Number.isFinite(inflation) ? DAYS_PER_YEAR / inflation : null;
}

/** Levels that bound the central 90 %. */
export const TAIL_LEVELS = [0.05, 0.95] as const;

/** Pinball-loss skill of quantiles against the same quantiles of the returns of all training days, in log-return units. */
export function computeQuantileSkills(folds: readonly Pick<Fold, 'climatology' | 'days'>[]) {
  const losses = folds.flatMap(computePinballLosses);
  return TAIL_LEVELS.map((level, index) => ({ level, ...computeReferenceSkill(losses.map(({ day, at }) => ({ day, ...at[index] })))! }));
}

function computePinballLosses({ climatology, days }: Pick<Fold, 'climatology' | 'days'>) {
  const usual = TAIL_LEVELS.map((level) => quantile(climatology, level));
  return days.map(({ day, predictive, realised }) => {
    const at = TAIL_LEVELS.map((level, index) => ({
      ours: pinballLoss(realised - quantile(predictive, level), level),
      theirs: pinballLoss(realised - usual[index], level),
    }));
    return { day, at };
  });
}

function pinballLoss(error: number, level: number): number {
  return error >= 0 ? level * error : (level - 1) * error;
}

function formatHorizonVerdict(pooled: PooledReport | null): string {
  if (pooled === null) return 'no complete fold: no result';
  const { statistics, worth } = pooled;
  const skill = statistics.probabilities!.climatologySkill!;
  return [
    formatDirection(pooled),
    `P(up) ${formatRelation(skill)} the base rate: Brier skill ${formatEstimate(skill, '%')}`,
    formatDistribution(pooled),
    ...formatYearsToProve(worth),
    ...(pooled.advantage === 0 && getSign(skill) === 0 ? [] : [MULTIPLICITY]),
  ].join('; ');
}

/** Direction, choice of days, P(up), and the distribution against three references. */
export const STATEMENTS_PER_HORIZON = 6;
const STATEMENTS = STATEMENTS_PER_HORIZON * HORIZONS.length;
/** Added where direction or P(up) is significant; the intervals of the distributions are mostly far from zero. */
const MULTIPLICITY = `of ${STATEMENTS} such tests in this report at 5 % each, ${(STATEMENTS * 0.05).toFixed(1)} are expected to be significant by chance`;

function formatDirection({ n, direction, directions, advantage, statistics }: PooledReport): string {
  const { accuracy, difference } = direction.alwaysUp!;
  const right = `right on ${formatPercent(direction.accuracy!)} of ${n} days`;
  if (directions.down === 0)
    return `direction not distinguishable from always-UP: ${right}, UP was likelier on every day${formatSelection(statistics.calls.selection)}`;
  const apart = `difference ${formatEstimate(difference, 'points')}, from ${directions.down} DOWN days`;
  return `direction ${RELATIONS[advantage]} always-UP: ${right}, always-UP ${formatPercent(accuracy)}, ${apart}`;
}

/** The choice of the days called BUY; direction alone has none where UP is always likelier. */
function formatSelection(selection: PooledReport['statistics']['calls']['selection']): string {
  if (selection === null || selection.overHeld === null) return '';
  const { called, held, overHeld } = selection;
  return `, and BUY days rose on ${formatPercent(called)}, HOLD days on ${formatPercent(held!)}: difference ${formatEstimate(overHeld, 'points')}`;
}

function formatDistribution({ crpsSkill, recentCrpsSkill, garchCrpsSkill, coverage80 }: PooledReport): string {
  const all = `${formatRelation(crpsSkill)} the returns of all training days: CRPS skill ${formatEstimate(crpsSkill, '%')}`;
  const recent = `${formatRelation(recentCrpsSkill)} those of the last ${RECENT_RETURN_DAYS} of them: ${formatEstimate(recentCrpsSkill, '%')}`;
  const garch = `${formatRelation(garchCrpsSkill)} GARCH(1,1)-t: ${formatEstimate(garchCrpsSkill, '%')}`;
  return `distribution ${all}, ${recent}, ${garch}, the central 80 % held ${formatEstimate(coverage80, '%')}`;
}

function formatYearsToProve(worth: PooledReport['worth']): string[] {
  const { independentPerYear, independentPerYear95, independentPerYearByOverlap, proof } = worth;
  if (independentPerYear === null || independentPerYear95 === null) return [];
  const { low, high } = independentPerYear95;
  const years = proof.map((one) => `${one.points} points would take ${one.years!.toPrecision(2)} years`).join(', ');
  const measured = `${Math.round(independentPerYear)} (95 % interval ${Math.round(low)} to ${Math.round(high)})`;
  const calls = `about ${measured} independent calls a year by the variance of the hit rate, ${Math.round(independentPerYearByOverlap)} by overlap alone`;
  return [`a daily call is worth ${calls}: proving ${years}`];
}

/** Verdict of the canaries, failures first. */
export function formatLeakVerdict(canaries: readonly Canary[]): string {
  const failed = canaries.filter(({ passed }) => passed === false);
  const found = failed.map(
    (one) => `${formatCanaryName(one)} (${one.figure!.toPrecision(3)}, at most ${Number(one.limit!.toPrecision(3))})`,
  );
  const missed = canaries.flatMap((one) =>
    one.mutants.filter(({ caught }) => !caught).map(({ what }) => `${formatCanaryName(one)} (${what})`),
  );
  const skipped = canaries.filter(({ passed }) => passed === null).map(formatCanaryName);
  const skippedNote = skipped.length === 0 ? '' : `; not run: ${skipped.join(', ')}`;
  if (!areCanariesHealthy(canaries)) {
    const leak = found.length === 0 ? [] : [`LEAK SUSPECTED: ${found.join('; ')}`];
    const blind = missed.length === 0 ? [] : [`UNRELIABLE: mutants not caught by ${missed.join('; ')}`];
    return [...leak, ...blind].join('. ') + skippedNote;
  }
  if (skipped.length === canaries.length) return 'no canary was run: the history is too short';
  const caught = canaries.reduce((sum, { mutants }) => sum + mutants.length, 0);
  return `no leak found: ${canaries.length - skipped.length} canaries passed and caught all ${caught} mutants${skippedNote}`;
}

/** `training-cut of m1`; the name alone of a canary of all versions. */
export function formatCanaryName({ name, versions }: Canary): string {
  return versions.length === 1 ? `${name} of ${versions[0]}` : name;
}

function formatRelation(compared: IntervalEstimate): string {
  return compared.low === null ? 'on too few days to be compared with' : RELATIONS[getSign(compared)];
}

/** Sign of the estimate where its interval excludes zero, else 0. */
function getSign({ low, high }: IntervalEstimate): -1 | 0 | 1 {
  if (low !== null && low > 0) return 1;
  return high !== null && high < 0 ? -1 : 0;
}

/** `0.17 % (95 % interval -0.32 to 0.68)`. */
function formatEstimate({ value, low, high }: IntervalEstimate, unit: string): string {
  const hundredths = (share: number) => (100 * share).toFixed(2).replace(/^-(0\.00)$/, '$1');
  const bounds = low === null || high === null ? '' : ` (95 % interval ${hundredths(low)} to ${hundredths(high)})`;
  return `${hundredths(value)} ${unit}${bounds}`;
}
