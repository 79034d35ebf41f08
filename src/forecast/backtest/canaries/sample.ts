export function pickFirstMiddleLast<T>(list: readonly T[]): T[] {
  const last = list.length - 1;
  return last < 0 ? [] : [...new Set([0, last >> 1, last])].map((index) => list[index]);
}

/** Largest absolute difference between two lists of equal length; finite even for NaN and Infinity. */
export function maxAbsoluteDifference(a: readonly number[], b: readonly number[]): number {
  return a.reduce((largest, value, index) => Math.max(largest, finiteDifference(value, b[index])), 0);
}

function finiteDifference(a: number, b: number): number {
  if (Object.is(a, b)) return 0;
  const found = Math.abs(a - b);
  return Number.isFinite(found) ? found : Number.MAX_VALUE;
}
