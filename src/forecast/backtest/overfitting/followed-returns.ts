/** Positions by day, of consecutive rows of a history. */
export interface FollowedCalls {
  closes: Float64Array;
  /** Row of the first position. */
  firstRow: number;
  /** 1 for a call UP, -1 for DOWN, 0 for none. */
  positions: ArrayLike<number>;
  horizonDays: number;
}

/** Simple returns a day, without costs and interest. */
export interface FollowedReturns {
  followed: Float64Array;
  /** Of holding bitcoin all the time. */
  held: Float64Array;
  /** What was followed less a constant part of what was held, so large that it moves as much: being out of a rising market half the time is no fault. */
  excess: Float64Array;
}

/**
 * Follows every call for `horizonDays` with an equal part of the capital, so that as many calls as the horizon has days are open at a
 * time: days do not overlap and none of the ways to begin is preferred. Starts on the day that the last part is in place.
 */
export function computeFollowedReturns({ closes, firstRow, positions, horizonDays }: FollowedCalls): FollowedReturns {
  const days = Math.max(0, positions.length - horizonDays + 1);
  const followed = new Float64Array(days);
  const held = new Float64Array(days);
  for (let day = 0; day < days; day++) {
    const row = firstRow + day + horizonDays - 1;
    held[day] = closes[row + 1] / closes[row] - 1;
    followed[day] = meanExposure(positions, day, horizonDays) * held[day];
  }
  const part = populationDeviation(followed) / populationDeviation(held);
  return { followed, held, excess: followed.map((value, day) => value - part * held[day]) };
}

/** Mean of the positions from a day on. */
function meanExposure(positions: ArrayLike<number>, day: number, horizonDays: number): number {
  let sum = 0;
  for (let index = day; index < day + horizonDays; index++) sum += positions[index];
  return sum / horizonDays;
}

function populationDeviation(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
