import { type Day, dayOf, instantOf } from '../forecast/day.ts';
import { formatWeek, lastDayOfWeek, weekOf } from '../forecast/week.ts';

/** One ISO week: commitments end when it begins, and the close of its Sunday decides. */
export interface RoundWeek {
  /** ISO 8601 week, e.g. `2026-W32`. */
  id: string;
  /** Monday 00:00 UTC: commitments made before it count. */
  opensAt: Date;
  /** The Monday after, when the deciding candle has closed. */
  resolvesAt: Date;
}

/** The week whose commitments are still taken at an instant (ms): the one that begins next. */
export function nextWeek(nowMs: number): RoundWeek {
  const week = lastDayOfWeek(weekOf(dayOf(nowMs))) + 1;
  return { id: formatWeek(week), opensAt: new Date(instantOf(week)), resolvesAt: new Date(instantOf(lastDayOfWeek(week) + 1)) };
}

/** The day whose close decides a round. */
export function decidingDay({ resolvesAt }: Pick<RoundWeek, 'resolvesAt'>): Day {
  return dayOf(resolvesAt.getTime()) - 1;
}
