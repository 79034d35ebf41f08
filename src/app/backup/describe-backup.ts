import type { Db } from 'mongodb';
import type { Address } from 'viem';
import { formatDay } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import { OracleError } from '../../platform/errors.ts';
import type { DayDoc } from '../../record/day-doc.ts';
import type { ForecastDoc } from '../../record/forecast-doc.ts';

/** Which record a backup holds, and how far. In its header. */
export interface BackupDescription {
  /** Of the service that wrote it. */
  version: string;
  chainId: number;
  attester: Address;
  /** Last day of the record, `YYYY-MM-DD`; null before the first. */
  lastDay: string | null;
  /** Last sequence by horizon. */
  sequence: Record<string, number>;
}

type Deployment = Pick<BackupDescription, 'version' | 'chainId' | 'attester'>;

export async function describeBackup(db: Db, deployment: Deployment): Promise<BackupDescription> {
  const last = await db.collection<DayDoc>('days').findOne({}, { sort: { day: -1 }, projection: { day: 1 } });
  const forecasts = db.collection<ForecastDoc>('forecasts');
  const sequences = HORIZONS.map(async (horizonDays) => {
    const newest = await forecasts.findOne({ horizonDays }, { sort: { sequence: -1 }, projection: { sequence: 1 } });
    return [`${horizonDays}d`, newest?.sequence ?? 0] as const;
  });
  const sequence = Object.fromEntries(await Promise.all(sequences));
  return { ...deployment, lastDay: last === null ? null : formatDay(last.day), sequence };
}

/** @throws OracleError CONFIG_INVALID for the backup of another record */
export function requireOwnBackup(
  found: Pick<BackupDescription, 'chainId' | 'attester'>,
  own: Pick<Deployment, 'chainId' | 'attester'>,
): void {
  const isOwn = found.chainId === own.chainId && found.attester.toLowerCase() === own.attester.toLowerCase();
  if (isOwn) return;
  const names = `of ${found.attester} on chain ${found.chainId}, and these settings are of ${own.attester} on chain ${own.chainId}`;
  throw new OracleError('CONFIG_INVALID', `The backup holds the record ${names}`, {
    field: found.chainId === own.chainId ? 'ATTESTER_PRIVATE_KEY' : 'CHAIN_ID',
    suggestedAction: 'Nothing was written. Set the settings of that record, or take a backup of this one.',
  });
}
