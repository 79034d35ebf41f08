import { type Db, MongoServerError } from 'mongodb';
import { readDatabaseTime } from '../../../platform/mongo.ts';
import { MAX_CLOCK_SKEW_MS } from '../../../platform/time/trusted-time.ts';
import { ALL_INDEXES } from '../../indexes.ts';
import type { Check, DoctorDeps } from '../check.ts';
import { type Finding, fail, ok, orFinding, skipped, warn } from '../finding.ts';

const MIN_MAJOR_VERSION = 7;
const LOW_BYTES = 10 * 2 ** 30;
const EMPTY_BYTES = 2 ** 30;
/** Of a privilege, by the names of MongoDB. */
const ACTIONS = ['find', 'insert', 'update', 'remove', 'createIndex', 'createCollection'];

/** Version, replication, clock, rights, indexes and space. */
export const databaseCheck: Check = {
  id: 'database',
  title: 'Database',
  needs: ['MONGODB_URI'],
  needsTarget: true,
  async run(deps) {
    const { client, db } = await deps.database();
    const admin = client.db('admin');
    const isReal = deps.config.chainMode === 'real';
    const checks = [
      orFinding(() => checkVersion(admin)),
      orFinding(() => checkReplication(admin, isReal)),
      orFinding(() => checkClock(deps, db)),
      orFinding(() => checkRights(admin, db, isReal)),
      orFinding(() => checkIndexes(db)),
      orFinding(() => checkSpace(db)),
    ];
    return (await Promise.all(checks)).flat();
  },
};

async function checkVersion(admin: Db): Promise<Finding> {
  const { version } = (await admin.command({ buildInfo: 1 })) as { version: string };
  if (Number.parseInt(version, 10) >= MIN_MAJOR_VERSION) return ok(`MongoDB ${version}`);
  return warn(`MongoDB ${version} is older than ${MIN_MAJOR_VERSION}, with which the service is tested`, 'Upgrade the database.');
}

async function checkReplication(admin: Db, isReal: boolean): Promise<Finding[]> {
  const { setName, hosts, msg } = (await admin.command({ hello: 1 })) as { setName?: string; hosts?: string[]; msg?: string };
  if (msg === 'isdbgrid') return [ok('a router of a sharded cluster; writes wait for the majority and the journal')];
  if (setName === undefined) {
    if (!isReal) return [ok('a single server; writes wait for its journal')];
    const action = 'Use a replica set of three: what is attested and not in the database cannot be made up.';
    return [warn('a single server: a lost disk is a lost record', action)];
  }
  const members = hosts?.length ?? 0;
  const detail = `replica set ${setName} with ${members} members; writes wait for the majority and the journal`;
  return [members >= 3 ? ok(detail) : warn(detail, 'Add members until there are three.')];
}

async function checkClock({ now }: DoctorDeps, db: Db): Promise<Finding> {
  const before = now().getTime();
  const at = (await readDatabaseTime(db)).getTime();
  const skewMs = Math.round(at - (before + now().getTime()) / 2);
  if (Math.abs(skewMs) <= MAX_CLOCK_SKEW_MS) return ok(`its clock is ${skewMs} ms from the one of this machine`);
  return fail(`its clock is ${Math.round(skewMs / 1_000)} s from the one of this machine`, {
    action: 'Repair NTP where it is wrong: until then nothing is forecast.',
    isPermanent: true,
  });
}

interface Privilege {
  resource: { db?: string; collection?: string; anyResource?: boolean };
  actions: string[];
}

/** By the rights that the server lists: nothing is written to try them. */
async function checkRights(admin: Db, db: Db, isReal: boolean): Promise<Finding> {
  const status = await admin.command({ connectionStatus: 1, showPrivileges: true }).catch((error: unknown) => {
    if (error instanceof MongoServerError && error.codeName === 'CommandNotFound') return null;
    throw error;
  });
  if (status === null) return skipped('the embedded engine has no users');
  const { authInfo } = status;
  const users = (authInfo?.authenticatedUsers ?? []) as { user: string }[];
  if (users.length === 0) {
    if (!isReal) return ok('without users');
    return warn('the connection has no user: everybody who reaches the server may write', 'Create a user, and name it in MONGODB_URI.');
  }
  const granted = ((authInfo.authenticatedUserPrivileges ?? []) as Privilege[])
    .filter(
      ({ resource }) => resource.anyResource || ((resource.db === db.databaseName || resource.db === '') && resource.collection === ''),
    )
    .flatMap(({ actions }) => actions);
  const missing = ACTIONS.filter((action) => !granted.includes(action) && !granted.includes('anyAction'));
  const who = `user ${users[0]!.user} on database ${db.databaseName}`;
  if (missing.length === 0) return ok(`${who} may read, write and make indexes`);
  return fail(`${who} may not ${missing.join(', ')}`, { action: `Grant it readWrite on ${db.databaseName}.`, isPermanent: true });
}

async function checkIndexes(db: Db): Promise<Finding> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const existing = new Set(collections.map(({ name }) => name));
  const missing: string[] = [];
  for (const { collection, indexes } of ALL_INDEXES) {
    if (!existing.has(collection)) continue;
    const keys = new Set((await db.collection(collection).indexes()).map(({ key }) => JSON.stringify(key)));
    if (indexes.some(({ key }) => !keys.has(JSON.stringify(key)))) missing.push(collection);
  }
  if (missing.length === 0) return ok(`${existing.size} collections, no index is missing`);
  return warn(`indexes are missing in ${missing.join(', ')}`, 'The next start makes them; requests before are slow.');
}

async function checkSpace(db: Db): Promise<Finding> {
  const { fsTotalSize, fsUsedSize, storageSize, indexSize } = (await db.command({ dbStats: 1 })) as Record<string, number | undefined>;
  const used = `${Math.ceil(((storageSize ?? 0) + (indexSize ?? 0)) / 1e6)} MB in use`;
  if (fsTotalSize === undefined || fsUsedSize === undefined || fsTotalSize === 0)
    return ok(`${used}; the server does not say what is free`);
  const freeBytes = fsTotalSize - fsUsedSize;
  const detail = `${used}, ${(freeBytes / 1e9).toFixed(1)} GB free`;
  const action = 'Make room on the disk of the database.';
  if (freeBytes < EMPTY_BYTES) return fail(detail, { action, isPermanent: true });
  return freeBytes < LOW_BYTES ? warn(detail, action) : ok(detail);
}
