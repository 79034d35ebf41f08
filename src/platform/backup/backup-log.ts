import { type Db, ObjectId } from 'mongodb';

/** A backup that was written and read back. */
export interface BackupLogDoc {
  _id: ObjectId;
  finishedAt: Date;
  /** Always true: a backup that does not verify gets no entry. */
  verified: true;
  /** Of the file. */
  bytes: number;
  documents: number;
  /** Last sequence of the record in it, by horizon. */
  sequence: Record<string, number>;
}

const COLLECTION = 'backups';

export const BACKUP_LOG_INDEXES = [{ collection: COLLECTION, indexes: [{ key: { finishedAt: -1 } }] }];

export async function recordBackup(db: Db, entry: Omit<BackupLogDoc, '_id' | 'verified'>): Promise<void> {
  await db.collection<BackupLogDoc>(COLLECTION).insertOne({ _id: new ObjectId(), ...entry, verified: true });
}

/** When the newest backup was finished; null without one. */
export async function findLastBackupAt(db: Db): Promise<Date | null> {
  const last = await db.collection<BackupLogDoc>(COLLECTION).findOne({ verified: true }, { sort: { finishedAt: -1 } });
  return last?.finishedAt ?? null;
}
