import { roundTo } from '../../market/numbers.ts';

/** Of four-digit probabilities a squared error is exact in these. */
const SCORE_DIGITS = 8;

/** A score, or a mean or bound of scores or shares, as it is told. */
export function roundScore(value: number): number {
  return roundTo(value, SCORE_DIGITS);
}
