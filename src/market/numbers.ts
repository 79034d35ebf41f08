import { type Day, formatDay } from '../forecast/day.ts';
import { roundTo } from '../platform/round.ts';

/** Rounds for display; null for null, NaN and infinities. */
export function roundOrNull(value: number | null, decimals: number): number | null {
  return value === null || !Number.isFinite(value) ? null : roundTo(value, decimals);
}

/** Change in percent, rounded to two decimals; null when a value is missing or the result is not finite. */
export function computeChangePct(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : roundOrNull((to / from - 1) * 100, 2);
}

export function subtractOrNull(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}

/** Rounded to whole dollars: providers publish one decimal, and sums of them carry binary rounding errors. */
export function millionsToUsd(millions: number): number;
export function millionsToUsd(millions: number | null): number | null;
export function millionsToUsd(millions: number | null): number | null {
  return millions === null ? null : Math.round(millions * 1_000_000);
}

export function formatDayOrNull(day: Day | null): string | null {
  return day === null ? null : formatDay(day);
}
