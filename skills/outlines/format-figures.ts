import { sanitizeText } from '../../src/record/sanitize-text.ts';

/** `95 % interval 0.38 to 0.70`. */
export function formatInterval({ low, high }: { low: number; high: number }, digits = 2): string {
  return `95 % interval ${low.toFixed(digits)} to ${high.toFixed(digits)}`;
}

/** `2026-12-05 00:00 UTC` of an ISO 8601 time in UTC. */
export function formatInstant(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`;
}

/** `40 s`, `4 h`, `2 days`. */
export function formatAgeSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** Last line of a verdict: the source of the market data. */
export function formatSource(source: string): string {
  return `Market data: ${sanitizeText(source, 60)}${source.startsWith('simulated') ? ', no real market' : ''}.`;
}
