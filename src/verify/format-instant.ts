const MAX_DATE_MS = 8.64e15;

/** Formats as ISO 8601 without throwing: the chain may hold a number beyond the range of dates. */
export function formatInstant(time: Date | number): string {
  const ms = Number(time);
  return Math.abs(ms) <= MAX_DATE_MS ? new Date(ms).toISOString() : 'a time that does not exist';
}
