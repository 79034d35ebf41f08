import { OracleError } from '../errors.ts';
import { commitmentFor } from './commit.ts';
import type { ForecastRecord } from './record.ts';

/**
 * Refuses a master secret that does not open what the record has committed to: resolutions would attest salts that do not fit, for good.
 * @throws OracleError CONFIG_INVALID naming SALT_SECRET
 */
export async function requireSameSalts({ forecasts }: Pick<ForecastRecord, 'forecasts'>, saltSecret: string): Promise<void> {
  const newest = await forecasts.findOne({ values: { $ne: null } }, { sort: { day: -1 }, hint: { day: 1 } });
  if (newest === null || commitmentFor(saltSecret, newest._id, newest.values) === newest.commitment) return;
  throw new OracleError('CONFIG_INVALID', `Setting SALT_SECRET: does not open what the record has committed to (${newest._id})`, {
    field: 'SALT_SECRET',
    suggestedAction: 'Set SALT_SECRET to what it was when the record was begun. It cannot be changed as long as the record goes on.',
  });
}
