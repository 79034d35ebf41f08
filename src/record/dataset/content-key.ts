import { createHash } from 'node:crypto';
import { HORIZONS } from '../../forecast/model.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { DATASET_LICENCE, DATASET_VERSION } from './data-card.ts';
import { DATASET_TABLES } from './tables.ts';

/** Equal keys, equal files: of the columns, and of the number of resolutions on chain with the newest one. Reads an index alone. */
export async function readContentKey({ forecasts }: Pick<ForecastRecord, 'forecasts'>): Promise<string> {
  const byReveal = { horizonDays: 1, 'reveal.at': -1, _id: -1 } as const;
  const resolutions = await Promise.all(
    HORIZONS.map(async (horizonDays) => {
      const filter = { horizonDays, 'reveal.at': { $gt: new Date(0) } };
      const [count, newest] = await Promise.all([
        forecasts.countDocuments(filter, { hint: byReveal }),
        forecasts.findOne(filter, { sort: byReveal, projection: { 'reveal.uid': 1 }, hint: byReveal }),
      ]);
      return [horizonDays, count, newest?.reveal?.uid ?? null];
    }),
  );
  const text = JSON.stringify([DATASET_VERSION, DATASET_LICENCE, DATASET_TABLES, resolutions]);
  return createHash('sha256').update(text).digest('hex');
}
