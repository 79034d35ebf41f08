import type { IntervalEstimate } from '../bootstrap.ts';
import { buildTrainingBasis, type FitSettings, MODEL_SETTINGS, type TrainingBasis } from '../fit.ts';
import { formatPercent, mean, normalCdf, normalQuantile, variance } from '../math.ts';
import { type HorizonDays, MODEL_INPUTS, MODEL_NAME, TRIAL_COUNT } from '../model.ts';
import { classifyRegimes, REGIMES, type Regime } from '../regime.ts';
import { brierScore, toSignal } from '../signal.ts';
import {
  type BacktestHistory,
  computeReferenceSkill,
  EXPECTED_FOLDS,
  fitBlocks,
  formatFoldNote,
  JUDGED_HORIZONS,
  selectCompleteBlocks,
} from './out-of-sample.ts';

/** Backtest overfitting: whether selection by the past works, and the performance deflated by the number of trials. */
export type OverfittingReport = ReturnType<typeof buildOverfittingReport>;

/** The report of a history; figures are null where it is too short. Deterministic. */
export function buildOverfittingReport(history: BacktestHistory) {
  const regimes = classifyRegimes(history.features);
  const all = JUDGED_HORIZONS.map((horizonDays) => runHorizonTrials(history, regimes, horizonDays));
  const folds = Math.min(...all.map((one) => one.folds));
  const horizons = all.map(buildHorizonOverfitting);
  const ledger = buildTrialLedger(all);
  return {
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: formatFoldNote(folds, history.features),
    verdict: formatOverfittingVerdict(horizons, ledger),
    trials: TRIAL_COUNT,
    horizons,
    ledger,
  };
}

/** S in the paper of CSCV. */
const CSCV_BLOCKS = 16;
/** Shorter blocks mostly share their windows with their neighbours. */
const MIN_BLOCK_DAYS = 30;

export type HorizonOverfitting = ReturnType<typeof buildHorizonOverfitting>;

function buildHorizonOverfitting({ horizonDays, folds, trials }: HorizonTrials) {
  const briers = trials.map(({ brier }) => brier ?? Number.POSITIVE_INFINITY);
  const least = Math.min(...briers);
  const days = trials[0].losses.length;
  const isLong = days >= CSCV_BLOCKS * MIN_BLOCK_DAYS;
  return {
    horizonDays,
    folds,
    days,
    modelBrier: trials[0].brier,
    /** Rank of the model among the variants by Brier score, from 1. */
    modelRank: days === 0 ? null : 1 + briers.filter((brier) => brier < briers[0]).length,
    best: days === 0 ? null : { id: VARIANTS[briers.indexOf(least)].id, brier: least },
    /** Null with fewer than 480 days. */
    pbo: isLong ? computeBacktestOverfitting(trials.map(({ losses }) => losses)) : null,
    deflatedSharpe: isLong ? computeDeflatedSharpeFigures(trials) : null,
  };
}

const MAX_CHOSEN_SHOWN = 5;

/**
 * Probability of backtest overfitting over the variants of one horizon; `chosen` are most often best of their half, with the share of
 * splits.
 */
function computeBacktestOverfitting(losses: readonly Float64Array[]) {
  const { chosen, ...found } = computeCscv({ losses, blocks: CSCV_BLOCKS });
  const shares = chosen.map((count, index) => ({ id: VARIANTS[index].id, share: count / found.splits }));
  const most = shares.sort((a, b) => b.share - a.share).slice(0, MAX_CHOSEN_SHOWN);
  return { ...found, variants: losses.length, chosen: most.filter(({ share }) => share > 0) };
}

/** Sharpe ratios of following the calls against holding, deflated by the number of trials. Per day, not annualised. */
function computeDeflatedSharpeFigures(trials: HorizonTrials['trials']) {
  const { followed, held, excess } = trials[0];
  const variantDeviation = sampleStandardDeviation(trials.flatMap((trial) => trial.excess.sharpe ?? []));
  // The variants are correlated; the trials that are not recomputable were not.
  const independentDeviation = 1 / Math.sqrt(excess.n);
  const expectedBest = computeExpectedBestSharpe(TRIAL_COUNT, Math.max(variantDeviation, independentDeviation));
  return {
    days: excess.n,
    followedSharpe: followed.sharpe,
    heldSharpe: held.sharpe,
    excessSharpe: excess.sharpe,
    excessSkewness: excess.skewness,
    excessKurtosis: excess.kurtosis,
    trials: TRIAL_COUNT,
    variantDeviation,
    independentDeviation,
    expectedBest,
    // That the true ratio exceeds the expected one; null where the calls equal holding.
    probability: computeDeflatedSharpe(excess, expectedBest),
  };
}

/**
 * Probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey, Borwein, Lopez de Prado and Zhu, "The
 * probability of backtest overfitting", 2015). Ties go to the earliest variant in the first half, and to the middle rank in the second.
 * `losses` are the daily losses of each variant in time order, all of the same length; `blocks` is an even number of blocks of equal
 * length, leftover days at the start are ignored.
 * @returns `splits`: the number of ways to choose half of the blocks; `probability`: the share of splits in which the best variant of one
 * half ranks at or below the median in the other; `chosen`: the splits in which each variant was the best
 */
export function computeCscv({ losses, blocks }: { losses: readonly Float64Array[]; blocks: number }) {
  const blockDays = Math.floor(losses[0].length / blocks);
  const sums = losses.map((days) => computeBlockSums(days, blocks, blockDays));
  const totals = sums.map((own) => own.reduce((sum, loss) => sum + loss, 0));
  const chosen = new Array<number>(losses.length).fill(0);
  const inside = new Float64Array(losses.length);
  let splits = 0;
  let overfit = 0;
  for (let mask = 0; mask < 2 ** blocks; mask++) {
    if (countBits(mask) !== blocks / 2) continue;
    for (let variant = 0; variant < inside.length; variant++) inside[variant] = sumMasked(sums[variant], mask);
    const best = inside.indexOf(Math.min(...inside));
    chosen[best]++;
    splits++;
    if (computeRelativeRank(inside, totals, best) <= 0.5) overfit++;
  }
  return { blocks, blockDays, splits, probability: overfit / splits, chosen };
}

function computeBlockSums(losses: Float64Array, blocks: number, blockDays: number): Float64Array {
  const sums = new Float64Array(blocks);
  const skipped = losses.length - blocks * blockDays;
  for (let day = skipped; day < losses.length; day++) sums[Math.floor((day - skipped) / blockDays)] += losses[day];
  return sums;
}

function sumMasked(sums: Float64Array, mask: number): number {
  let sum = 0;
  for (let block = 0; block < sums.length; block++) if ((mask >>> block) & 1) sum += sums[block];
  return sum;
}

/** Relative rank in the other half, from 1 / (n + 1) for the worst to n / (n + 1) for the best. */
function computeRelativeRank(inside: Float64Array, totals: readonly number[], best: number): number {
  const own = totals[best] - inside[best];
  let worse = 0;
  let equal = 0;
  for (let variant = 0; variant < totals.length; variant++) {
    const loss = totals[variant] - inside[variant];
    if (loss > own) worse++;
    else if (loss === own) equal++;
  }
  return (worse + (equal + 1) / 2) / (totals.length + 1);
}

function countBits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest > 0; rest &= rest - 1) count++;
  return count;
}

const EULER_MASCHERONI = 0.5772156649015329;

export interface ReturnMoments {
  n: number;
  mean: number;
  /** Mean over standard deviation, per period, not annualised; null without variance. */
  sharpe: number | null;
  /** 0 for a symmetric distribution. */
  skewness: number | null;
  /** 3 for a normal one. */
  kurtosis: number | null;
}

/** Moments of returns; null where they need a spread and there is none. */
export function computeReturnMoments(returns: ArrayLike<number>): ReturnMoments {
  const n = returns.length;
  const center = n === 0 ? 0 : mean(returns);
  const spread = n === 0 ? 0 : computeCentralMoment(returns, center, 2);
  if (!(spread > 0)) return { n, mean: center, sharpe: null, skewness: null, kurtosis: null };
  const [third, fourth] = [3, 4].map((power) => computeCentralMoment(returns, center, power));
  const [skewness, kurtosis] = [third / spread ** 1.5, fourth / spread ** 2];
  return { n, mean: center, sharpe: center / Math.sqrt(spread), skewness, kurtosis };
}

function computeCentralMoment(values: ArrayLike<number>, center: number, power: number): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += (values[index] - center) ** power;
  return sum / values.length;
}

/** Standard deviation (n - 1) of several ratios; 0 for fewer than two. */
export function sampleStandardDeviation(values: readonly number[]): number {
  return values.length < 2 ? 0 : Math.sqrt(variance(values, 1));
}

/** Expected Sharpe ratio of the best of `trials` (at least 2) trials without skill, from the deviation of their ratios. */
export function computeExpectedBestSharpe(trials: number, trialDeviation: number): number {
  const best = (1 - EULER_MASCHERONI) * normalQuantile(1 - 1 / trials) + EULER_MASCHERONI * normalQuantile(1 - 1 / (trials * Math.E));
  return trialDeviation * best;
}

/**
 * Deflated Sharpe ratio: probability that the true ratio is above `benchmark`, given the length and shape of the record (Bailey and
 * Lopez de Prado, "The deflated Sharpe ratio", 2014). All ratios per period. Null where a moment is null.
 */
export function computeDeflatedSharpe({ n, sharpe, skewness, kurtosis }: ReturnMoments, benchmark: number): number | null {
  if (sharpe === null || skewness === null || kurtosis === null) return null;
  const variance = 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2;
  return variance > 0 ? normalCdf(((sharpe - benchmark) * Math.sqrt(n - 1)) / Math.sqrt(variance)) : null;
}

type HorizonTrials = ReturnType<typeof runHorizonTrials>;

/** The trials are aligned with `VARIANTS`. */
function runHorizonTrials(history: BacktestHistory, regimes: readonly Regime[], horizonDays: HorizonDays) {
  const basis = buildTrainingBasis({ ...history, horizon: horizonDays });
  const outputs = VARIANTS.map((variant) => runVariant(history, variant, basis));
  const [{ folds, baseRates }] = outputs;
  return { horizonDays, folds, trials: outputs.map((output) => buildTrial(history, regimes, { ...output, baseRates, horizonDays })) };
}

function runVariant({ closes, features }: BacktestHistory, { settings }: Variant, basis: TrainingBasis) {
  const blocks = fitBlocks({ closes, features, horizon: basis.horizonDays, settings, basis });
  const folds = selectCompleteBlocks(blocks, closes.length);
  return {
    folds: folds.length,
    firstRow: folds[0]?.from ?? 0,
    pUp: folds.flatMap(({ pUp }) => [...pUp]),
    baseRates: folds.flatMap(({ pUp, model }) => new Array<number>(pUp.length).fill(model.baseRate)),
  };
}

function buildTrial(
  { closes }: BacktestHistory,
  regimes: readonly Regime[],
  { firstRow, pUp, baseRates, horizonDays }: ReturnType<typeof runVariant> & { horizonDays: number },
) {
  const rose = pUp.map((_, index) => closes[firstRow + index + horizonDays] > closes[firstRow + index]);
  const losses = Float64Array.from(pUp, (p, index) => brierScore(p, rose[index]));
  const positions = pUp.map((p, index) => POSITIONS[toSignal(p, REGIMES[regimes[firstRow + index]].theta)]);
  const { followed, held, excess } = computeFollowedReturns({ closes, firstRow, positions, horizonDays });
  const references = baseRates.map((base, index) => brierScore(base, rose[index]));
  return {
    /** Squared error of P(up) of each day. */
    losses,
    /** Null without a complete fold. */
    brier: meanOrNull(losses),
    /** Against the base rate known at the time. */
    brierSkill: computeBrierSkill(losses, references),
    /** Share of days with the right direction. */
    accuracy: meanOrNull(pUp.map((p, index) => (p >= 0.5 === rose[index] ? 1 : 0))),
    followed: computeReturnMoments(followed),
    held: computeReturnMoments(held),
    excess: computeReturnMoments(excess),
  };
}

const POSITIONS = { BUY: 1, SELL: -1, HOLD: 0 } as const;

/** Null without losses. */
function computeBrierSkill(losses: Float64Array, references: readonly number[]): IntervalEstimate | null {
  if (losses.length === 0) return null;
  const { value, low, high } = computeReferenceSkill(Array.from(losses, (ours, day) => ({ day, ours, theirs: references[day] })))!;
  return { value, low, high };
}

function meanOrNull(values: ArrayLike<number>): number | null {
  return values.length === 0 ? null : mean(values);
}

/** Daily positions on consecutive rows of a history. */
interface FollowedCalls {
  closes: Float64Array;
  firstRow: number;
  /** 1 for a call UP, -1 for DOWN, 0 for none. */
  positions: ArrayLike<number>;
  horizonDays: number;
}

/** Follows every call for `horizonDays` with an equal share of the capital, so that no offset is preferred, once all are invested. */
export function computeFollowedReturns({ closes, firstRow, positions, horizonDays }: FollowedCalls) {
  const days = Math.max(0, positions.length - horizonDays + 1);
  const followed = new Float64Array(days);
  const held = new Float64Array(days);
  for (let day = 0; day < days; day++) {
    const row = firstRow + day + horizonDays - 1;
    held[day] = closes[row + 1] / closes[row] - 1;
    followed[day] = meanExposure(positions, day, horizonDays) * held[day];
  }
  const part = Math.sqrt(variance(followed, 0)) / Math.sqrt(variance(held, 0));
  // Less a constant share of holding with the same volatility, so that low exposure to a rising market is no loss.
  return { followed, held, excess: followed.map((value, day) => value - part * held[day]) };
}

function meanExposure(positions: ArrayLike<number>, day: number, horizonDays: number): number {
  let sum = 0;
  for (let index = day; index < day + horizonDays; index++) sum += positions[index];
  return sum / horizonDays;
}

/** An alternative model, fitted by the same walk-forward. */
type Variant = ReturnType<typeof buildVariant>;

type Inputs = FitSettings['inputs'];
const PRICE_INPUTS: Inputs = ['trend', 'momentum', 'vol'];
const COMBINATIONS: readonly Inputs[] = [['trend', 'momentum'], ['trend', 'vol'], ['momentum', 'vol'], ['flow', 'value'], PRICE_INPUTS];
const UNCALIBRATED = { calibration: { calA: 0, calB: 1 } };
const BASE_RATE_ALONE = { inputs: [], calibration: { calA: 0, calB: 0 } };
const LAST_BASE_RATE = { ...BASE_RATE_ALONE, trainingDays: 1461 };

/** The model, first, and the variants that this code can fit. */
export const VARIANTS: readonly Variant[] = [
  buildVariant(MODEL_NAME, 'the model as served', {}),
  ...[1, 4, 64, 256, 1024].map((slopePrecision) =>
    buildVariant(`ridge-${slopePrecision}`, `slope prior of precision ${slopePrecision} instead of 16`, { slopePrecision }),
  ),
  ...MODEL_INPUTS.map((left) =>
    buildVariant(`without-${left}`, `does not read ${left}`, { inputs: MODEL_INPUTS.filter((name) => name !== left) }),
  ),
  ...[...MODEL_INPUTS.map((name) => [name]), ...COMBINATIONS].map((inputs) =>
    buildVariant(`only-${inputs.join('-')}`, `reads only ${inputs.join(', ')}`, { inputs }),
  ),
  ...[0.25, 0.5, 0.75, 1].map((calB) => {
    const change = `not calibrated, deviations from the base rate scaled by ${calB}`;
    return buildVariant(`slope-${calB}`, change, { calibration: { calA: 0, calB } });
  }),
  ...[0, 25, 100, 400].map((pseudoCount) => {
    const change = `base rate without scores, shrunk by Beta(${pseudoCount}, ${pseudoCount})`;
    return buildVariant(`base-rate-${pseudoCount}`, change, { ...BASE_RATE_ALONE, pseudoCount });
  }),
  ...[1095, 1461, 2192, 2922].map((trainingDays) =>
    buildVariant(`last-${trainingDays}-days`, `trained on the last ${trainingDays} days only`, { trainingDays }),
  ),
  ...[365, 730, 1461].map((halfLifeDays) =>
    buildVariant(`half-life-${halfLifeDays}-days`, `training weights with a half-life of ${halfLifeDays} days`, { halfLifeDays }),
  ),
  buildVariant('base-rate-last-1461-days', 'base rate of the last 1461 training days, without scores', LAST_BASE_RATE),
  buildVariant('ridge-256-slope-1', 'slope prior of precision 256, not calibrated', { slopePrecision: 256, ...UNCALIBRATED }),
  buildVariant('only-price-slope-1', 'reads only trend, momentum, vol; not calibrated', { inputs: PRICE_INPUTS, ...UNCALIBRATED }),
  buildVariant('last-1461-days-slope-1', 'trained on the last 1461 days only, not calibrated', { trainingDays: 1461, ...UNCALIBRATED }),
];

function buildVariant(id: string, change: string, changed: Partial<FitSettings>) {
  const settings: FitSettings = { ...MODEL_SETTINGS, ...changed };
  return { id, change, settings };
}

export interface LedgerRow {
  id: string;
  change: string;
  trials: number;
  /** Whether this code can fit it again; if not, there are no figures. */
  recomputable: boolean;
  figures: (Pick<HorizonTrials['trials'][number], 'brier' | 'brierSkill' | 'accuracy'> & {
    horizonDays: number;
    /** Daily Sharpe ratio of the calls over holding with the same volatility; null where both are equal. */
    excessSharpe: number | null;
  })[];
}

/** All `TRIAL_COUNT` trials before the model was fixed, with figures where this code can recompute them. */
function buildTrialLedger(horizons: readonly HorizonTrials[]): LedgerRow[] {
  const recomputable = VARIANTS.map(({ id, change }, index) => ({
    id,
    change,
    trials: 1,
    recomputable: true,
    figures: horizons.map(({ horizonDays, trials }) => {
      const { brier, brierSkill, accuracy, excess } = trials[index];
      return { horizonDays, brier, brierSkill, accuracy, excessSharpe: excess.sharpe };
    }),
  }));
  return [...recomputable, OTHER_TRIALS];
}

const OTHER_TRIALS: LedgerRow = {
  id: 'other-families',
  change:
    'other trials before the model was fixed, not part of this service: forests, boosting, networks and other inputs. They count against the model, but cannot be recomputed here and have no figures. Which of the rows above were among them was not recorded, so each counts as one',
  trials: TRIAL_COUNT - VARIANTS.length,
  recomputable: false,
  figures: [],
};

/**
 * Up to this probability of backtest overfitting, better variants stay better. Noise alone gives one half with so large a variance that
 * values much above this limit do not differ from it.
 */
const MAX_PBO = 0.05;
/** Share of 95 % intervals above zero without an effect. */
const ONE_SIDED_LEVEL = 0.025;
const MIN_DEFLATED_SHARPE = 0.95;

export function formatOverfittingVerdict(horizons: readonly HorizonOverfitting[], ledger: readonly LedgerRow[]): string {
  const measured = horizons.filter(({ pbo }) => pbo !== null);
  if (measured.length === 0) return 'Too few out-of-sample days for a result';
  return `${formatTrials(ledger)} ${formatChoice(measured)} ${formatDeflatedSharpe(measured)}`;
}

function formatTrials(ledger: readonly LedgerRow[]): string {
  const again = ledger.filter(({ recomputable }) => recomputable);
  const counted = ledger.reduce((sum, { trials }) => sum + trials, 0) - again.length;
  const better = again.flatMap(({ id, figures }) =>
    figures.flatMap(({ brierSkill, horizonDays }) => ((brierSkill?.low ?? 0) > 0 ? [`${id} at ${horizonDays} days`] : [])),
  );
  const found = better.length === 0 ? 'none has' : `only ${better.join(', ')} ${better.length === 1 ? 'has' : 'have'}`;
  const chance = (again.length * again[0].figures.length * ONE_SIDED_LEVEL).toFixed(0);
  return `Of the ${again.length} recomputed variants ${found} a Brier skill against the base rate with a 95 % interval above zero; by chance about ${chance} would. The other ${counted} trials are only counted.`;
}

function formatChoice(horizons: readonly HorizonOverfitting[]): string {
  const shares = horizons.map(({ horizonDays, pbo }) => `${formatPercent(pbo!.probability, 0)} at ${horizonDays} days`).join(', ');
  const variants = horizons[0].pbo!.variants;
  const where = (holds: boolean) => formatHorizons(horizons.filter(({ pbo }) => pbo!.probability <= MAX_PBO === holds));
  const meanings = [
    where(true) === '' ? '' : `${where(true)} better variants stay better`,
    where(false) === '' ? '' : `${where(false)} selection by the past does not differ from chance`,
  ].filter((meaning) => meaning !== '');
  return `The best of ${variants} variants in one half of the record ranks at or below the median in the other half in this share of the splits: ${shares}. Noise gives about 50 %, with a standard deviation of about 20 points between records: ${meanings.join(', ')}.`;
}

const LIST = new Intl.ListFormat('en-GB');

/** `at 2, 3 and 7 days`; empty without horizons. */
function formatHorizons(horizons: readonly HorizonOverfitting[]): string {
  return horizons.length === 0 ? '' : `at ${LIST.format(horizons.map(({ horizonDays }) => `${horizonDays}`))} days`;
}

function formatDeflatedSharpe(horizons: readonly HorizonOverfitting[]): string {
  const shares = horizons.map(
    ({ horizonDays, deflatedSharpe }) => `${deflatedSharpe?.probability?.toFixed(2) ?? 'not defined'} at ${horizonDays} days`,
  );
  const more = horizons.filter(({ deflatedSharpe }) => (deflatedSharpe?.probability ?? 0) >= MIN_DEFLATED_SHARPE);
  const meaning =
    more.length === 0
      ? 'following the calls instead of holding bitcoin at the same risk does not differ from luck'
      : `more than luck at ${more.map(({ horizonDays }) => horizonDays).join(' and ')} days, which suggests a leak`;
  return `After ${horizons[0].deflatedSharpe!.trials} trials the deflated Sharpe ratio is ${shares.join(', ')}: ${meaning}.`;
}
