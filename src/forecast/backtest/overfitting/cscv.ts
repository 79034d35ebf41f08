export interface CscvSource {
  /** Daily losses of each variant in time order, all of the same length. */
  losses: readonly Float64Array[];
  /** Even number of blocks of equal length; leftover days at the start are ignored. */
  blocks: number;
}

export interface CscvResult {
  blocks: number;
  blockDays: number;
  /** Number of ways to choose half of the blocks. */
  splits: number;
  /** PBO: share of splits in which the best variant of one half ranks at or below the median in the other, 0 to 1. */
  probability: number;
  /** Splits in which each variant was the best. */
  chosen: number[];
}

/**
 * Probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey, Borwein, Lopez de Prado and Zhu, "The
 * probability of backtest overfitting", 2015). Ties go to the earliest variant in the first half, and to the middle rank in the second.
 */
export function computeCscv({ losses, blocks }: CscvSource): CscvResult {
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
