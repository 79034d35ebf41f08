import { type Day, formatDay } from '../forecast/day.ts';

/** Rounds for people; null for what is missing or no number. */
export function roundOrNull(value: number | null, decimals: number): number | null {
  return value === null || !Number.isFinite(value) ? null : roundTo(value, decimals);
}

/** Rounds a number that is there for sure. */
export function roundTo(value: number, decimals: number): number {
  const unit = 10 ** decimals;
  return Math.round(value * unit) / unit;
}

/** Change from one value to another, in percent to two decimals; null where there is none to tell. */
export function computeChangePct(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : roundOrNull((to / from - 1) * 100, 2);
}

/** Difference of two values; null where one is missing. */
export function subtractOrNull(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}

/** USD of an amount in USD millions. */
export function millionsToUsd(millions: number): number;
export function millionsToUsd(millions: number | null): number | null;
export function millionsToUsd(millions: number | null): number | null {
  return millions === null ? null : Math.round(millions * 1_000_000);
}

/** `YYYY-MM-DD`; null of no day. */
export function formatDayOrNull(day: Day | null): string | null {
  return day === null ? null : formatDay(day);
}
