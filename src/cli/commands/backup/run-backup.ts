import { join } from 'node:path';
import packageJson from '../../../../package.json' with { type: 'json' };
import { COPY_ORDER } from '../../../app/backup/copy-order.ts';
import { type BackupDescription, describeBackup } from '../../../app/backup/describe-backup.ts';
import type { StartupContext } from '../../../app/process-context.ts';
import { ensureBackupFolder, formatBackupName, listBackups, pruneBackups } from '../../../platform/backup/backup-folder.ts';
import { recordBackup } from '../../../platform/backup/backup-log.ts';
import { readBackup, readBackupHeader } from '../../../platform/backup/read-backup.ts';
import { type WrittenBackup, writeBackup } from '../../../platform/backup/write-backup.ts';
import { getErrorMessage } from '../../../platform/errors.ts';
import { connectMongo } from '../../../platform/mongo.ts';
import { formatContents, formatMegabytes } from './format.ts';
import { type BackupTarget, openBackupTarget, requireBackupKey } from './open-database.ts';
import { type BackupValues, DEFAULT_FOLDER, isBackupFile } from './options.ts';
import { runBackupProcess, toContentsDocument, writeOutcome } from './output.ts';
import { type BackupSchedule, computeNextRun, waitUntil } from './schedule.ts';

const RETRY_MS = 5 * 60_000;

export async function runBackup(values: BackupValues): Promise<void> {
  await runBackupProcess(values, async (context) => {
    requireBackupKey(context.config);
    const target = await openBackupTarget(context);
    const { at, every } = values;
    if (at !== undefined) await runScheduled(context, target, values, { times: at });
    else if (every !== undefined) await runScheduled(context, target, values, { everyMs: every });
    else await writeOne(context, target, values);
    await context.shutdown.stop('done');
    process.exit(0);
  });
}

/** Reads the whole file. */
export async function runVerify(path: string, options: BackupValues): Promise<void> {
  await runBackupProcess(options, async ({ config }) => {
    const contents = await readBackup(path, requireBackupKey(config));
    writeOutcome(options, { path, ...toContentsDocument(contents) }, `${path}: ${formatContents(contents)}\n`);
    process.exit(0);
  });
}

export async function runList(folder: string, options: BackupValues): Promise<void> {
  await runBackupProcess(options, async ({ config }) => {
    const key = requireBackupKey(config);
    const backups = [];
    for (const { name, path, bytes } of await listBackups(folder)) {
      const described = await readBackupHeader(path, key).then(
        ({ lastDay = null, version }) => ({ lastDay, version, error: null }),
        (error: unknown) => ({ lastDay: null, version: null, error: getErrorMessage(error) }),
      );
      backups.push({ name, bytes, ...described });
    }
    writeOutcome(options, { folder, backups }, backups.map(formatListed).join(''));
    process.exit(0);
  });
}

function formatListed(backup: {
  name: string;
  bytes: number;
  lastDay: string | null;
  version: string | null;
  error: string | null;
}): string {
  const { name, bytes, lastDay, version, error } = backup;
  return `${name}  ${formatMegabytes(bytes)}  ${error ?? `record to ${lastDay ?? 'no day yet'}, version ${version}`}\n`;
}

/** Until a signal. A backup that fails is tried again in five minutes. */
async function runScheduled(context: StartupContext, target: BackupTarget, values: BackupValues, schedule: BackupSchedule): Promise<never> {
  const { log, shutdown } = context;
  let lastMs: number | null = null;
  for (;;) {
    const dueMs = computeNextRun(schedule, { nowMs: Date.now(), lastMs });
    log.info({ dueAt: new Date(dueMs).toISOString() }, 'waiting for the next backup');
    await waitUntil(dueMs, shutdown.signal);
    while (!(await tryOne(context, target, values))) await waitUntil(Date.now() + RETRY_MS, shutdown.signal);
    lastMs = dueMs;
  }
}

async function tryOne(context: StartupContext, target: BackupTarget, values: BackupValues): Promise<boolean> {
  try {
    await writeOne(context, target, values);
    return true;
  } catch (error) {
    context.shutdown.signal.throwIfAborted();
    context.log.error({ err: error }, 'backup failed');
    return false;
  }
}

async function writeOne({ config, shutdown }: StartupContext, target: BackupTarget, values: BackupValues): Promise<void> {
  const { out = DEFAULT_FOLDER, keep } = values;
  const { chainId, attester } = target;
  const isFile = isBackupFile(out);
  if (!isFile) await ensureBackupFolder(out);
  const database = await connectMongo(target.mongodbUri);
  const writing = writeBackup({
    database,
    key: requireBackupKey(config),
    path: isFile ? out : join(out, formatBackupName(chainId, new Date())),
    order: COPY_ORDER,
    describe: () => describeBackup(database.db, { version: packageJson.version, chainId, attester }),
    signal: shutdown.signal,
  });
  // A stop removes the temporary file before the process ends.
  shutdown.onStop('backup under way', () => writing.then(ignoreResult, ignoreResult));
  try {
    const written = await writing;
    await recordBackup(database.db, toLogEntry(written));
    const { path, fileBytes } = written;
    const text = `Written and verified: ${path}, ${formatMegabytes(fileBytes)}, ${formatContents(written)}\n`;
    writeOutcome(values, { path, fileBytes, ...toContentsDocument(written) }, text);
  } finally {
    await database.close();
  }
  if (keep !== undefined && !isFile) await prune(out, { chainId, keep, json: values.json });
}

/** Its error is that of the command. */
const ignoreResult = () => undefined;

function toLogEntry({ header, fileBytes, documents }: WrittenBackup) {
  const { sequence } = header as unknown as BackupDescription;
  return { finishedAt: new Date(), bytes: fileBytes, documents, sequence };
}

/** Standard error with `--json`: standard output has the one document. */
async function prune(folder: string, { json, ...options }: { chainId: number; keep: number; json?: boolean }): Promise<void> {
  for (const name of await pruneBackups(folder, { ...options, now: new Date() })) {
    if (json) process.stderr.write(`${JSON.stringify({ notice: `Deleted: ${name}` })}\n`);
    else process.stdout.write(`Deleted: ${name}\n`);
  }
}
