import { chooseRoundStep } from '../../wager/paper-quote.ts';

/** Strikes on each side of the one nearest to the price. */
export const STRIKES_EACH_SIDE = 2;

/** Distance between two strikes before it is rounded, as a share of the price: about half a week's standard deviation. */
export const STRIKE_DISTANCE = 0.04;

/** Round strikes around a price (USD > 0), ascending. */
export function buildStrikesAround(spotUsd: number): number[] {
  const step = chooseRoundStep(STRIKE_DISTANCE * spotUsd);
  const nearest = Math.round(spotUsd / step);
  return Array.from({ length: 2 * STRIKES_EACH_SIDE + 1 }, (_, index) =>
    // Without the rounding error of the product.
    Number(((nearest + index - STRIKES_EACH_SIDE) * step).toPrecision(6)),
  );
}
