const MAX_DATE_MS = 8.64e15;

/** ISO 8601 of an instant. A number that is no time on this earth may stand on chain: it is told as such, never thrown. */
export function formatInstant(time: Date | number): string {
  const ms = Number(time);
  return Math.abs(ms) <= MAX_DATE_MS ? new Date(ms).toISOString() : 'a time that does not exist';
}
