import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { OracleError } from '../errors.ts';

interface MarkerDoc {
  _id: 'restore';
  owner: string;
  startedAt: Date;
}

/** Holds one document while a restore is under way; nothing else uses the database until it is gone. */
export const MARKER_COLLECTION = 'restore_state';

const openMarkers = (db: Db) => db.collection<MarkerDoc>(MARKER_COLLECTION);

export function findRestoreMarker(db: Db): Promise<MarkerDoc | null> {
  return openMarkers(db).findOne({ _id: 'restore' });
}

/** Replaces that of an interrupted restore. Returns its owner. */
export async function setRestoreMarker(db: Db): Promise<string> {
  const owner = randomUUID();
  await openMarkers(db).updateOne({ _id: 'restore' }, { $set: { owner, startedAt: new Date() } }, { upsert: true });
  return owner;
}

/** False when another restore has set its own meanwhile. */
export async function clearRestoreMarker(db: Db, owner: string): Promise<boolean> {
  const { deletedCount } = await openMarkers(db).deleteOne({ _id: 'restore', owner });
  if (deletedCount === 0) return false;
  await openMarkers(db).drop();
  return true;
}

/** For every start. @throws OracleError CONFIG_INVALID when a restore was interrupted or is under way */
export async function requireNoOpenRestore(db: Db): Promise<void> {
  const marker = await findRestoreMarker(db);
  if (marker === null) return;
  const problem = `holds a restore of ${marker.startedAt.toISOString()} that was not completed`;
  throw new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: the database ${problem}`, {
    field: 'MONGODB_URI',
    suggestedAction: 'Run svc restore again with the same file: it begins anew. If one is running, wait for its end.',
  });
}
