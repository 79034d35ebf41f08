import { OracleError } from '../../platform/errors.ts';
import { type Day, formatDay } from '../day.ts';

/** @throws OracleError INPUT_INVALID unless a day comes after the one before it. */
export function requireAscending(before: Day, day: Day): void {
  if (day > before) return;
  throw new OracleError('INPUT_INVALID', `${formatDay(day)} does not come after ${formatDay(before)}`, { field: 'day' });
}
