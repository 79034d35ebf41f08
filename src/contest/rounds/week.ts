import { type Day, toDay, toInstantMs } from '../../forecast/day.ts';
import { formatWeek, getLastDayOfWeek, toWeek } from '../../forecast/week.ts';

/** One ISO week: its start is the deadline of commitments, the close of its Sunday decides. */
export interface RoundWeek {
  id: string;
  opensAt: Date;
  resolvesAt: Date;
}

/** The next week after an instant in ms, whose round accepts commitments. */
export function getNextRoundWeek(nowMs: number): RoundWeek {
  const week = getLastDayOfWeek(toWeek(toDay(nowMs))) + 1;
  return { id: formatWeek(week), opensAt: new Date(toInstantMs(week)), resolvesAt: new Date(toInstantMs(getLastDayOfWeek(week) + 1)) };
}

export function getDecidingDay({ resolvesAt }: Pick<RoundWeek, 'resolvesAt'>): Day {
  return toDay(resolvesAt.getTime()) - 1;
}
