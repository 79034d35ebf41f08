import { type Day, toDay, toInstantMs } from '../../forecast/day.ts';
import { formatWeek, getLastDayOfWeek, toWeek } from '../../forecast/week.ts';

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
export function getNextRoundWeek(nowMs: number): RoundWeek {
  const week = getLastDayOfWeek(toWeek(toDay(nowMs))) + 1;
  return { id: formatWeek(week), opensAt: new Date(toInstantMs(week)), resolvesAt: new Date(toInstantMs(getLastDayOfWeek(week) + 1)) };
}

/** The day whose close decides a round. */
export function getDecidingDay({ resolvesAt }: Pick<RoundWeek, 'resolvesAt'>): Day {
  return toDay(resolvesAt.getTime()) - 1;
}
