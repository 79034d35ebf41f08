import type { Hex } from 'viem';
import { Misuse } from '../../audit/misuse.ts';
import { type Day, formatDay, parseDay } from '../../forecast/day.ts';
import type { HorizonName } from '../../forecast/model.ts';
import { HORIZON_NAMES } from '../../horizon-input.ts';

/** Which forecast is to be checked: an attestation of it, its day and horizon, or the newest of a horizon. */
export type Asked = { uid: Hex } | { day: Day; horizonDays: number } | { newestOf: number };

const ID = /^(\d{4}-\d{2}-\d{2}):(\d)d$/;

/** @param id a uid, `2026-11-14:7d` or `latest` @param horizon of `latest` @throws Misuse */
export function askedBy(id: string, horizon: HorizonName): Asked {
  if (id === 'latest') return { newestOf: Number(horizon.slice(0, -1)) };
  if (/^0x[0-9a-fA-F]{64}$/.test(id)) return { uid: id.toLowerCase() as Hex };
  const [, date, days] = ID.exec(id) ?? [];
  if (date === undefined || !HORIZON_NAMES.some((one) => one === `${days}d`)) {
    throw new Misuse('id', 'must be a uid (0x and 64 hex characters), a prediction id such as 2026-11-14:7d, or latest');
  }
  try {
    return { day: parseDay(date), horizonDays: Number(days) };
  } catch {
    throw new Misuse('id', `${date} is not a day`);
  }
}

/** What was asked for, in words. */
export function nameOfAsked(asked: Asked): string {
  if ('uid' in asked) return `forecast ${asked.uid}`;
  if ('newestOf' in asked) return `forecast over ${asked.newestOf} days in its last days`;
  return `forecast ${formatDay(asked.day)}:${asked.horizonDays}d`;
}
