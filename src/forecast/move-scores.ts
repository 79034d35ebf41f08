import { isOracleError } from '../errors.ts';
import type { Day } from './day.ts';
import { computeResidualQuantiles } from './distribution.ts';
import { computeNextVariance, computeVariance } from './features.ts';
import type { DailyCloses } from './fit.ts';
import { getOrInsert } from './inputs.ts';
import { shareOf } from './math.ts';
import { getBlockIndex, getTrainingEnd, type HorizonDays, RESIDUAL_DAYS, TRAINING_START } from './model.ts';
import { computeTailProbability, getBigMove, type MoveForecast } from './move.ts';

/**
 * What P(big move) is compared with: the share of big moves in the last four years of training, the volatility that anyone can compute
 * (RiskMetrics, 1996; with the quantiles of its own residuals), and Bollerslev's model (1987).
 */
export const MOVE_REFERENCES = ['frequency', 'ewma', 'garch'] as const;
export type MoveReference = (typeof MOVE_REFERENCES)[number];

/** P(big move) by reference, 0 to 1; null where the history is too short for it. */
export type ReferenceProbabilities = Record<MoveReference, number | null>;

interface MoveDay {
  /** Of every day from the first on, at least to the day before; the same array is not modified between calls. */
  closes: DailyCloses;
  day: Day;
  /** At the forecast. */
  priceUsd: number;
  horizonDays: HorizonDays;
  /** 199 quantiles of the log return by GARCH. */
  garch: Float64Array | null;
}

/** The references of a day, from the closes before it and the price at its forecast. */
export type MoveReferences = (day: MoveDay) => ReferenceProbabilities;

/** Each block is fitted once, and the variances of a history are computed once: that of a day reads nothing after it. */
export function createMoveReferences(): MoveReferences {
  const fits = new Map<string, ReferenceFit | null>();
  let read: { closes: Float64Array; v94: Float64Array } | undefined;
  return ({ closes: history, day, priceUsd, horizonDays, garch }) => {
    const { firstDay, closes } = history;
    if (read?.closes !== closes) read = { closes, v94: computeVariance(closes, DECAY) };
    const { v94 } = read;
    const block = getBlockIndex(day);
    const fit = getOrInsert(fits, `${block} ${horizonDays}`, () => fitReferences(history, v94, block, horizonDays));
    const before = day - firstDay - 1;
    const variance = computeNextVariance(v94[before], Math.log(priceUsd) - Math.log(closes[before]), DECAY);
    return {
      frequency: fit?.frequency ?? null,
      ewma: fit && forecastByEwma(fit, variance, horizonDays),
      garch: garch && computeTailProbability(garch, getBigMove(horizonDays)),
    };
  };
}

const DECAY = 0.94;

type ReferenceFit = NonNullable<ReturnType<typeof fitReferences>>;

/** Reads nothing after the training days of the block; null without usable returns in them. */
export function fitReferences({ firstDay, closes }: DailyCloses, v94: Float64Array, block: number, horizonDays: HorizonDays) {
  const to = Math.min(getTrainingEnd(block, horizonDays) - firstDay, closes.length - horizonDays);
  const from = Math.max(1, TRAINING_START - firstDay, to - RESIDUAL_DAYS);
  if (to <= from) return null;
  const returns = Array.from({ length: to - from }, (_, index) => Math.log(closes[from + index + horizonDays] / closes[from + index]));
  const scaled = Float64Array.from(returns, (value, index) => value / Math.sqrt(horizonDays * v94[from + index]));
  try {
    const bigMove = getBigMove(horizonDays);
    return { frequency: shareOf(returns, (value) => Math.abs(value) > bigMove), residualQuantiles: computeResidualQuantiles(scaled) };
  } catch (error) {
    if (isOracleError(error, 'INPUT_INVALID')) return null;
    throw error;
  }
}

/** @param v94 daily variance at the forecast */
export function forecastByEwma({ residualQuantiles }: Pick<ReferenceFit, 'residualQuantiles'>, v94: number, horizonDays: number): number {
  const scale = Math.sqrt(horizonDays * v94);
  return computeTailProbability(
    Float64Array.from(residualQuantiles, (residual) => scale * residual),
    getBigMove(horizonDays),
  );
}

/** Scores of one forecast of the size of the move. */
export type MoveScores = ReturnType<typeof scoreMove>;

/** @param realised log return from the price at the forecast */
export function scoreMove({ pBig, bigMove, moveSize }: MoveForecast, realised: number, references: ReferenceProbabilities) {
  return { moveSize, pBig, big: Math.abs(realised) > bigMove, references };
}

/** Squared error of a probability; lower is better. */
export function scoreProbability(probability: number, happened: boolean): number {
  return (probability - (happened ? 1 : 0)) ** 2;
}

/**
 * (Brier score of the reference - that of the forecast) / the most by which they can differ, which is known at commitment: within -1 to 1,
 * as the e-process needs. Above 0 the forecast was better; 0 where both are the same.
 */
export function computeMoveDifference(pBig: number, reference: number, big: boolean): number {
  const limit = Math.abs(pBig - reference) * Math.max(pBig + reference, 2 - pBig - reference);
  if (limit === 0) return 0;
  const difference = (scoreProbability(reference, big) - scoreProbability(pBig, big)) / limit;
  // Rounding may move it past its bounds.
  return Math.max(-1, Math.min(1, difference));
}
