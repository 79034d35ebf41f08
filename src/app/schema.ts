import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { OracleError } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import { findLastBackupAt } from '../platform/backup.ts';
import type { Log } from '../platform/log.ts';
import { ignoreDuplicate, readDatabaseTime } from '../platform/mongo.ts';

/** Brings a database from the version before to the next. May run twice, and be killed in the middle; at most one runs at a time. */
export interface Migration {
  title: string;
  run(db: Db): Promise<void>;
}

/** Of version 2 and on, in order. Version 1 is the layout of 1.0.0. */
const MIGRATIONS: readonly Migration[] = [];

interface SchemaDoc {
  _id: 'schema';
  version: number;
  /** Of the process that migrates, by the database's clock. */
  lease?: { holder: string; until: Date } | null;
}

interface SchemaOptions {
  log: Log;
  /** Of a record that counts: a backup must be newer than a day. */
  needsBackup: boolean;
  /** False for a command, which must not change what a service runs on. */
  mayMigrate: boolean;
  migrations?: readonly Migration[];
  leaseMs?: number;
}

const LEASE_MS = 60_000;
const openSchema = (db: Db) => db.collection<SchemaDoc>('schema');

/**
 * Before anything else reads the database: of the processes that start, one migrates it and the others wait. A new one has the newest version.
 * @throws OracleError CONFIG_INVALID for a newer version, an older one without a recent backup, or one that a command finds
 */
export async function migrateSchema(db: Db, options: SchemaOptions): Promise<void> {
  const { log, migrations = MIGRATIONS, leaseMs = LEASE_MS } = options;
  const newest = 1 + migrations.length;
  for (;;) {
    const { version } = (await openSchema(db).findOne({ _id: 'schema' })) ?? (await insertVersion(db, newest));
    if (version === newest) return;
    const newer = `has schema version ${version} of a newer release; this one knows versions up to ${newest}`;
    if (version > newest)
      throw schemaError(newer, 'Start the newer release, or restore a backup of before the upgrade into an empty database.');
    const older = `has schema version ${version}, which has to be migrated to ${newest}`;
    if (!options.mayMigrate) throw schemaError(older, 'Start a worker of this version first: it migrates the database.');
    const missing = options.needsBackup ? await findMissingBackup(db) : null;
    if (missing !== null) throw schemaError(older, `${missing}: stop all processes, run svc backup, then start again within a day.`);
    const held = await acquireLease(db, version, leaseMs);
    if (held === null) await delay(leaseMs / 10);
    else await migrateOnce(db, held, migrations[version - 1]!, { log, leaseMs });
  }
}

/** A database without a version is empty, or of before there were any. */
async function insertVersion(db: Db, newest: number): Promise<SchemaDoc> {
  const isEmpty = (await db.listCollections({}, { nameOnly: true }).toArray()).length === 0;
  await openSchema(db)
    .insertOne({ _id: 'schema', version: isEmpty ? newest : 1 })
    .catch(ignoreDuplicate);
  return (await openSchema(db).findOne({ _id: 'schema' })) as SchemaDoc;
}

function acquireLease(db: Db, version: number, leaseMs: number): Promise<SchemaDoc | null> {
  const isFree = { $expr: { $not: [{ $gt: ['$lease.until', '$$NOW'] }] } };
  const lease = { holder: randomUUID(), until: { $add: ['$$NOW', leaseMs] } };
  return openSchema(db).findOneAndUpdate({ _id: 'schema', version, ...isFree }, [{ $set: { lease } }], { returnDocument: 'after' });
}

/** The version is written last: a process that dies before it leaves a step that is run again. */
async function migrateOnce(db: Db, { version, lease }: SchemaDoc, migration: Migration, { log, leaseMs }: { log: Log; leaseMs: number }) {
  log.info({ from: version, to: version + 1, step: migration.title }, 'migrating the database');
  const schema = openSchema(db);
  const own = { _id: 'schema' as const, version, 'lease.holder': lease!.holder };
  const extend = () => schema.updateOne(own, [{ $set: { 'lease.until': { $add: ['$$NOW', leaseMs] } } }]).catch(() => undefined);
  const timer = setInterval(() => void extend(), leaseMs / 3);
  try {
    await migration.run(db);
    await schema.updateOne(own, { $set: { version: version + 1, lease: null } });
  } finally {
    clearInterval(timer);
  }
}

async function findMissingBackup(db: Db): Promise<string | null> {
  const [at, now] = [await findLastBackupAt(db), await readDatabaseTime(db)];
  if (at !== null && now.getTime() - at.getTime() <= DAY_MS) return null;
  return at === null ? 'There is no verified backup' : `The newest verified backup is of ${at.toISOString()}`;
}

function schemaError(problem: string, suggestedAction: string): OracleError {
  return new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: the database ${problem}`, { field: 'MONGODB_URI', suggestedAction });
}
