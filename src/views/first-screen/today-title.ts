import type { CallData } from './first-screen-data.ts';

const DAY_MS = 86_400_000;

/** "Today's call" until the next one is made; a call of an earlier day, as during a replay, is titled by its date. */
export function formatCallTitle(call: Pick<CallData, 'predictionId'> | null, nowMs: number): string {
  const date = call?.predictionId.slice(0, 10);
  if (date === undefined || date >= new Date(nowMs - DAY_MS).toISOString().slice(0, 10)) return "Today's call";
  const day = new Date(`${date}T00:00:00Z`);
  return `Call of ${day.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })}`;
}
