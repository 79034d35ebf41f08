import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../../../platform/usage-error.ts';

/** Times of the day in minutes after 00:00 UTC, or an interval in milliseconds. */
export type BackupSchedule = { times: readonly number[] } | { everyMs: number };

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const UNIT_MS = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MS } as const;
const MAX_EVERY_MS = 7 * DAY_MS;

/** @throws UsageError */
export function parseTimes(name: string, text: string): number[] {
  return text.split(',').map((time) => {
    const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? [];
    if (hours === undefined) throw new UsageError(name, 'must be times of the day in UTC, such as 21:50,00:30');
    return 60 * Number(hours) + Number(minutes);
  });
}

/** Milliseconds. @throws UsageError */
export function parseInterval(name: string, text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!(ms >= MINUTE_MS && ms <= MAX_EVERY_MS)) throw new UsageError(name, 'must be an interval from 1m to 7d, such as 24h');
  return ms;
}

/** The next instant that is due; an interval counts from the last run and is due at once without one. Milliseconds since 1970. */
export function computeNextRun(schedule: BackupSchedule, { nowMs, lastMs }: { nowMs: number; lastMs: number | null }): number {
  if ('everyMs' in schedule) return lastMs === null ? nowMs : lastMs + schedule.everyMs;
  const midnight = nowMs - (nowMs % DAY_MS);
  const due = [0, DAY_MS].flatMap((day) => schedule.times.map((minutes) => midnight + day + minutes * MINUTE_MS));
  return Math.min(...due.filter((ms) => ms > nowMs));
}

/** By the clock of the machine, also when it is set meanwhile. @throws AbortError */
export async function waitUntil(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms - Date.now(); left > 0; left = ms - Date.now()) await delay(Math.min(left, MINUTE_MS), undefined, { signal });
}
