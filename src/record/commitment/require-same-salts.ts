import { dirname } from 'node:path';
import { formatResetCommand } from '../../platform/data-dir/entries.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { computeForecastCommitment } from './commitment.ts';

/** Resolutions would attest wrong salts, irrevocably. @throws OracleError CONFIG_INVALID, or DATA_DIR_DAMAGED naming `keysFile` */
export async function requireSameSalts(record: Pick<ForecastRecord, 'forecasts'>, saltSecret: string, keysFile?: string): Promise<void> {
  for await (const doc of iterateCommitted(record)) {
    if (computeForecastCommitment(saltSecret, doc._id, doc.values) !== doc.commitment) throw secretMismatchError(doc._id, keysFile);
  }
}

type CommittedForecast = Pick<ForecastDoc, '_id' | 'values' | 'commitment'>;

async function* iterateCommitted({ forecasts }: Pick<ForecastRecord, 'forecasts'>): AsyncGenerator<CommittedForecast> {
  const projection = { values: 1, commitment: 1 };
  const open = { state: { $in: ['DRAFT', 'PENDING', 'VOID'] as ForecastDoc['state'][] }, reveal: null, values: { $ne: null } };
  yield* forecasts.find(open, { hint: { state: 1, resolvesAt: 1 }, projection });
  const newest = await forecasts.findOne({ values: { $ne: null } }, { sort: { day: -1 }, hint: { day: 1 }, projection });
  if (newest !== null) yield newest;
}

function secretMismatchError(id: string, keysFile: string | undefined): OracleError {
  if (keysFile === undefined) {
    return new OracleError('CONFIG_INVALID', `Setting SALT_SECRET: does not open what the record has committed to (${id})`, {
      field: 'SALT_SECRET',
      suggestedAction: 'Set SALT_SECRET to its original value. It cannot change while the record continues.',
    });
  }
  return new OracleError('DATA_DIR_DAMAGED', `saltSecret in ${keysFile} does not open what the record has committed to (${id})`, {
    field: 'DATA_DIR',
    suggestedAction: `Restore the original ${keysFile}, or begin a new record: ${formatResetCommand(dirname(keysFile))}`,
  });
}
