import { expect } from 'vitest';

/** Seven decimals: sums in another order, and logarithms of another engine, differ in the last digit. */
const DECIMALS = 7;

/** A value to expect, whose fractions need only be close. */
export function withNearNumbers(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : expect.closeTo(value, DECIMALS);
  if (Array.isArray(value)) return value.map(withNearNumbers);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withNearNumbers(member)]));
}
