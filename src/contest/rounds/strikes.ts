import { buildStrikesAround } from '../../wager/strikes.ts';

export const STRIKES_EACH_SIDE = 2;

/** Distance between strikes before rounding, as a share of the price: about half a weekly standard deviation. */
export const STRIKE_DISTANCE = 0.04;

export function buildRoundStrikes(spotUsd: number): number[] {
  return buildStrikesAround(spotUsd, STRIKE_DISTANCE, STRIKES_EACH_SIDE);
}
