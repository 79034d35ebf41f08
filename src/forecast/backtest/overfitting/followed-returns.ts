import { variance } from '../../math/mean.ts';

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
