import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BackupDescription, requireOwnBackup } from '../../../app/backup/describe-backup.ts';
import { restoreDatabase } from '../../../platform/backup/restore-database.ts';
import type { Config } from '../../../platform/config/settings.ts';
import { MANIFEST_FILE } from '../../../platform/data-dir/entries.ts';
import { connectMongo } from '../../../platform/mongo.ts';
import { formatContents } from './format.ts';
import { openBackupTarget, requireBackupKey } from './open-database.ts';
import { runBackupProcess, toContentsDocument, writeOutcome } from './output.ts';

export async function runRestore(path: string, options: { json?: boolean }): Promise<void> {
  await runBackupProcess(options, async (context) => {
    const { config, shutdown } = context;
    const key = requireBackupKey(config);
    await makeDatabaseFolder(config);
    const target = await openBackupTarget(context);
    const { db, close } = await connectMongo(target.mongodbUri);
    shutdown.onStop('database connection', close);
    const requireOwn = (header: object) => requireOwnBackup(header as BackupDescription, target);
    const contents = await restoreDatabase({ db, path, key, requireOwn });
    const next =
      'Start the service: it compares the record with the chain, and reads back outcomes that have come since. Then run npm run audit.';
    writeOutcome(options, { path, ...toContentsDocument(contents), next }, `Restored: ${formatContents(contents)}\n${next}\n`);
    await shutdown.stop('done');
    process.exit(0);
  });
}

/** A data folder that has lost its embedded database is refused by every start. */
async function makeDatabaseFolder({ MONGODB_URI, DATA_DIR }: Config): Promise<void> {
  const isSetUp = await access(join(DATA_DIR, MANIFEST_FILE)).then(
    () => true,
    () => false,
  );
  if (MONGODB_URI === undefined && isSetUp) await mkdir(join(DATA_DIR, 'database'), { recursive: true, mode: 0o700 });
}
