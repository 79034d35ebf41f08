/** The assumptions of the estimate. */
export interface LiquidationRules {
  /** How many of the last closes count as entries. */
  entryDays: number;
  /** Entries of this many days earlier weigh half. */
  halfLifeDays: number;
  /** Part of the position that has to remain, as a fraction of it. */
  maintenanceMargin: number;
  /** Which part of the positions has which leverage; the shares add up to 1. */
  leverages: readonly { leverage: number; share: number }[];
}

export interface LiquidationLevel {
  side: 'long' | 'short';
  priceUsd: number;
  usd: number;
}

export interface LiquidationEstimate {
  /** Levels still ahead of the price: longs below it, shorts above. */
  levels: LiquidationLevel[];
  /** What stood at levels that the price has reached since. */
  clearedUsd: number;
}

/**
 * Spreads open interest (USD) over the prices at which positions would be closed by force: half of it longs, half shorts, entered
 * at the last closes (ascending in time, the newest last), leverages as the rules say. Levels that a later close or the
 * spot price has touched are gone. The levels' USD and `clearedUsd` sum to the open interest.
 */
export function estimateLiquidationLevels(
  openInterestUsd: number,
  closes: Float64Array,
  spotUsd: number,
  rules: LiquidationRules,
): LiquidationEstimate {
  const entries = closes.subarray(-rules.entryDays);
  const weights = Array.from(entries, (_, index) => 0.5 ** ((entries.length - 1 - index) / rules.halfLifeDays));
  const totalWeight = weights.reduce((sum, weight) => sum + weight, 0);
  const levels: LiquidationLevel[] = [];
  let clearedUsd = 0;
  // From the newest entry back, so that the extremes since each entry are at hand.
  let [lowest, highest] = [spotUsd, spotUsd];
  for (let index = entries.length - 1; index >= 0; index--) {
    const enteredUsd = (openInterestUsd * weights[index]) / totalWeight;
    for (const level of buildLevels(entries[index], enteredUsd, rules)) {
      const touched = level.side === 'long' ? level.priceUsd >= lowest : level.priceUsd <= highest;
      if (touched) clearedUsd += level.usd;
      else levels.push(level);
    }
    lowest = Math.min(lowest, entries[index]);
    highest = Math.max(highest, entries[index]);
  }
  return { levels, clearedUsd };
}

function buildLevels(entryUsd: number, enteredUsd: number, { leverages, maintenanceMargin }: LiquidationRules): LiquidationLevel[] {
  return leverages.flatMap(({ leverage, share }) => {
    const move = 1 / leverage - maintenanceMargin;
    const usd = (enteredUsd * share) / 2;
    return [
      { side: 'long', priceUsd: entryUsd * (1 - move), usd },
      { side: 'short', priceUsd: entryUsd * (1 + move), usd },
    ];
  });
}
