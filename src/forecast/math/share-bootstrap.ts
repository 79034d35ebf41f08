import type { Interval } from '../scoring.ts';
import { planResampling, type Resampling, resampleColumn, SHARE_RANGE, toInterval } from './block-bootstrap.ts';
import { sum } from './mean.ts';

/** Bits of a number whose integers are all exact. */
const EXACT_BITS = 53;

/**
 * 95 % intervals of shares of the same days: of the days of `members`, each as 1, those on which a column of `held` is 1 as well. The same
 * as `blockBootstrap` of each column over `members`, with the days resampled once for all.
 */
export function bootstrapShares(held: readonly ArrayLike<number>[], members: ArrayLike<number>): (Interval | null)[] {
  const plan = planResampling(members.length, [members]);
  if (plan === null) return held.map(() => null);
  const [all, ...counts] = resampleFlags([members, ...held], plan);
  return counts.map((sums, index) => {
    const shares = sums.map((count, resample) => count / all[resample]);
    return toInterval(shares, { estimate: sum(held[index]) / sum(members), blocks: plan.blocks, range: SHARE_RANGE });
  });
}

/** Counts of several columns of 0 and 1 are resampled as the digits of one number, in the base of a count that none can reach. */
function resampleFlags(columns: readonly ArrayLike<number>[], plan: Resampling): Float64Array[] {
  const digitBits = Math.floor(Math.log2(plan.days + plan.blockDays)) + 1;
  const digits = Math.floor(EXACT_BITS / digitBits);
  const base = 2 ** digitBits;
  const groups = Array.from({ length: Math.ceil(columns.length / digits) }, (_, index) =>
    columns.slice(index * digits, (index + 1) * digits),
  );
  return groups.flatMap((group) => {
    const packed = resampleColumn(packFlags(group, base), plan);
    return group.map((_, digit) => packed.map((count) => readDigit(count, base, digit)));
  });
}

function packFlags(columns: readonly ArrayLike<number>[], base: number): Float64Array {
  const packed = new Float64Array(columns[0].length);
  columns.forEach((column, digit) => {
    for (let day = 0; day < packed.length; day++) packed[day] += column[day] * base ** digit;
  });
  return packed;
}

function readDigit(packed: number, base: number, digit: number): number {
  return Math.floor(packed / base ** digit) % base;
}
