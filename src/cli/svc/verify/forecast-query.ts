import type { Hex } from 'viem';
import type { ForecastQuery } from '../../../audit/collect-forecast-evidence.ts';
import { formatDay, parseDay } from '../../../forecast/day.ts';
import { HORIZON_NAMES } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { UsageError } from '../../../platform/usage-error.ts';

const PREDICTION_ID = /^(\d{4}-\d{2}-\d{2}):(\d)d$/;

/** @param id a uid, `2026-11-14:7d` or `latest` @param horizon of `latest` @throws UsageError */
export function parseForecastQuery(id: string, horizon: HorizonName): ForecastQuery {
  if (id === 'latest') return { newestOf: Number(horizon.slice(0, -1)) };
  if (/^0x[0-9a-fA-F]{64}$/.test(id)) return { uid: id.toLowerCase() as Hex };
  const [, date, days] = PREDICTION_ID.exec(id) ?? [];
  if (date === undefined || !HORIZON_NAMES.some((one) => one === `${days}d`)) {
    throw new UsageError('id', 'must be a uid (0x and 64 hex characters), a prediction id such as 2026-11-14:7d, latest or all');
  }
  try {
    return { day: parseDay(date), horizonDays: Number(days) };
  } catch {
    throw new UsageError('id', `${date} is not a day`);
  }
}

export function describeQuery(query: ForecastQuery): string {
  if ('uid' in query) return `forecast ${query.uid}`;
  if ('newestOf' in query) return `forecast over ${query.newestOf} days in its last days`;
  return `forecast ${formatDay(query.day)}:${query.horizonDays}d`;
}
