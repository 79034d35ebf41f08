export interface LiquidationRules {
  entryDays: number;
  halfLifeDays: number;
  /** Fraction of the position. */
  maintenanceMargin: number;
  /** Distribution of leverage; the shares sum to 1. */
  leverages: readonly { leverage: number; share: number }[];
}

export interface LiquidationLevel {
  side: 'long' | 'short';
  priceUsd: number;
  usd: number;
}

/**
 * Distributes open interest over liquidation prices: half longs, half shorts, entered at the last closes (newest last) with the
 * leverages of the rules. `levels` are ahead of the price, longs below it, shorts above; `clearedUsd` is at levels that it has reached.
 */
export function estimateLiquidationLevels(openInterestUsd: number, closes: Float64Array, spotUsd: number, rules: LiquidationRules) {
  const entries = closes.subarray(-rules.entryDays);
  const weights = Array.from(entries, (_, index) => 0.5 ** ((entries.length - 1 - index) / rules.halfLifeDays));
  const totalWeight = weights.reduce((sum, weight) => sum + weight, 0);
  const levels: LiquidationLevel[] = [];
  let clearedUsd = 0;
  // Newest entry first, so that the running extremes are those since each entry.
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
