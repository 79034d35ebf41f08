import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Address } from 'viem';
import packageJson from '../../package.json' with { type: 'json' };
import { openSigner } from '../app/chain.ts';
import type { StartupContext } from '../app/infrastructure.ts';
import { readDemoFile } from '../dev/demo.ts';
import { getErrorMessage, OracleError, UsageError } from '../errors.ts';
import { DAY_MS, formatDay, MINUTE_MS } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import {
  type BackupContents,
  type CopyOrder,
  ensureBackupFolder,
  formatBackupName,
  listBackups,
  pruneBackups,
  readBackup,
  readBackupHeader,
  recordBackup,
  restoreDatabase,
  writeBackup,
} from '../platform/backup.ts';
import { MANIFEST_FILE } from '../platform/data-dir.ts';
import { connectMongo } from '../platform/mongo.ts';
import type { DayDoc, ForecastDoc } from '../record/forecast-doc.ts';
import type { Config } from '../settings.ts';
import { openOrAttach, openStorage, runToEnd } from './script.ts';
import { EXIT, type SvcCommand } from './svc/context.ts';
import { toErrorDocument } from './svc/errors.ts';

/** Options of `svc backup`. */
export interface BackupValues {
  /** Folder, or a file that ends with `.backup`. */
  out?: string;
  keep?: number;
  /** Minutes after 00:00 UTC. */
  at?: number[];
  /** Milliseconds. */
  every?: number;
  json?: boolean;
}

const DEFAULT_FOLDER = './backups';

const isBackupFile = (out: string): boolean => out.endsWith('.backup');

/** @throws UsageError for an unknown action, and for options that exclude each other */
export function requireBackupUsage({ keep, out, at, every }: BackupValues, action?: string, path?: string): void {
  if (action !== undefined && action !== 'verify' && action !== 'list')
    throw new UsageError('action', 'must be verify or list, or left out');
  if (action === 'verify' && path === undefined) throw new UsageError('path', 'is missing: the file to verify');
  if (at !== undefined && every !== undefined) throw new UsageError('--every', 'does not go with --at');
  const needsFolder = [keep, at, every].some((value) => value !== undefined);
  if (out !== undefined && isBackupFile(out) && needsFolder)
    throw new UsageError('--out', 'must be a folder with --keep, --at and --every');
}

/** @throws UsageError */
export function parseKeep(name: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(name, 'must be a whole number from 1 to 9999');
  return Number(text);
}

/** Times of the day in minutes after 00:00 UTC, or an interval in milliseconds. */
type BackupSchedule = { times: readonly number[] } | { everyMs: number };

const UNIT_MS = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MS } as const;
const MAX_EVERY_MS = 7 * DAY_MS;

/** @throws UsageError */
export function parseTimes(name: string, text: string): number[] {
  return text.split(',').map((time) => {
    const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? [];
    if (hours === undefined) throw new UsageError(name, 'must be times of the day in UTC, such as 21:50,00:30');
    return 60 * Number(hours) + Number(minutes);
  });
}

/** Milliseconds. @throws UsageError */
export function parseInterval(name: string, text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!(ms >= MINUTE_MS && ms <= MAX_EVERY_MS)) throw new UsageError(name, 'must be an interval from 1m to 7d, such as 24h');
  return ms;
}

/** The next instant that is due; an interval counts from the last run and is due at once without one. Milliseconds since 1970. */
export function computeNextRun(schedule: BackupSchedule, { nowMs, lastMs }: { nowMs: number; lastMs: number | null }): number {
  if ('everyMs' in schedule) return lastMs === null ? nowMs : lastMs + schedule.everyMs;
  const midnight = nowMs - (nowMs % DAY_MS);
  const due = [0, DAY_MS].flatMap((day) => schedule.times.map((minutes) => midnight + day + minutes * MINUTE_MS));
  return Math.min(...due.filter((ms) => ms > nowMs));
}

/** By the clock of the machine, also when it is set meanwhile. @throws AbortError */
async function waitUntil(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms - Date.now(); left > 0; left = ms - Date.now()) await delay(Math.min(left, MINUTE_MS), undefined, { signal });
}

/** These print text into a pipe, too. */
const JSON_OPTION = ['--json', 'print JSON'] as const;

export const backupCommand: SvcCommand<BackupValues> = {
  example: 'svc backup --out ./backups --keep 14',
  arguments: '[action] [path]',
  description: `With the settings of the service, beside it or alone. [action] is one of
  (none)           writes a backup; it has its name once all of it was read back
  verify <file>    decrypts the whole file and compares every digest; needs BACKUP_KEY alone
  list [folder]    the backups of a folder, newest first`,
  options: [
    ['--out <path>', `folder, or a file that ends with .backup (default: ${DEFAULT_FOLDER})`],
    ['--keep <count>', 'delete all but the newest backups of the folder', parseKeep],
    ['--at <times>', 'go on, with a backup at these times of each day in UTC, such as 21:50,00:30', parseTimes],
    ['--every <interval>', 'go on, with a backup now and after each interval, such as 24h', parseInterval],
    JSON_OPTION,
  ],
  footer: 'Exits with 0 once everything is written and verified, 1 on an error, 2 on a usage error.',
  async run(_context, values, positionals) {
    const [action, path] = positionals;
    requireBackupUsage(values, action, path);
    return runBackupProcess(values, (context) => {
      if (action === 'verify') return runVerify(context, values, path!);
      return action === 'list' ? runList(context, values, path ?? values.out ?? DEFAULT_FOLDER) : runBackup(context, values);
    });
  },
};

export const restoreCommand: SvcCommand<{ json?: boolean }> = {
  example: 'svc restore ./backups/<file>.backup',
  arguments: '<file>',
  description: `With the settings of the service, whose processes are all stopped. The file is checked before anything is written, and what was written is
read back. An interrupted restore keeps the service from starting until it is repeated.`,
  options: [JSON_OPTION],
  footer: 'Exits with 0 once everything is restored, 1 on an error, 2 on a usage error.',
  run: (_context, values, [file]) => runBackupProcess(values, (context) => runRestore(context, values, file!)),
};

const RETRY_MS = 5 * 60_000;

async function runBackup(context: StartupContext, values: BackupValues): Promise<void> {
  requireBackupKey(context.config);
  const target = await openBackupTarget(context);
  const { at, every } = values;
  if (at !== undefined) await runScheduled(context, target, values, { times: at });
  else if (every !== undefined) await runScheduled(context, target, values, { everyMs: every });
  else await writeOne(context, target, values);
}

/** Reads the whole file. */
async function runVerify({ config }: StartupContext, values: BackupValues, path: string): Promise<void> {
  const contents = await readBackup(path, requireBackupKey(config));
  writeOutcome(values, { path, ...toContentsDocument(contents) }, `${path}: ${formatContents(contents)}\n`);
}

async function runList({ config }: StartupContext, values: BackupValues, folder: string): Promise<void> {
  const key = requireBackupKey(config);
  const backups = [];
  let text = '';
  for (const { name, path, bytes } of await listBackups(folder)) {
    const described = await readBackupHeader(path, key).then(
      ({ lastDay = null, version }) => ({ lastDay, version, error: null }),
      (error: unknown) => ({ lastDay: null, version: null, error: getErrorMessage(error) }),
    );
    backups.push({ name, bytes, ...described });
    const { lastDay, version, error } = described;
    text += `${name}  ${formatMegabytes(bytes)}  ${error ?? `record to ${lastDay ?? 'no day yet'}, version ${version}`}\n`;
  }
  writeOutcome(values, { folder, backups }, text);
}

/** Until a signal. A backup that fails is tried again in five minutes. */
async function runScheduled(context: StartupContext, target: BackupTarget, values: BackupValues, schedule: BackupSchedule): Promise<never> {
  const { log, shutdown } = context;
  let lastMs: number | null = null;
  for (;;) {
    const dueMs = computeNextRun(schedule, { nowMs: Date.now(), lastMs });
    log.info({ dueAt: new Date(dueMs).toISOString() }, 'waiting for the next backup');
    await waitUntil(dueMs, shutdown.signal);
    for (let isDone = false; !isDone; ) {
      isDone = await writeOne(context, target, values).then(
        () => true,
        (error: unknown) => {
          shutdown.signal.throwIfAborted();
          log.error({ err: error }, 'backup failed');
          return false;
        },
      );
      if (!isDone) await waitUntil(Date.now() + RETRY_MS, shutdown.signal);
    }
    lastMs = dueMs;
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
    const { path, fileBytes, documents, header } = written;
    const { sequence } = header as unknown as BackupDescription;
    await recordBackup(database.db, { finishedAt: new Date(), bytes: fileBytes, documents, sequence });
    const text = `Written and verified: ${path}, ${formatMegabytes(fileBytes)}, ${formatContents(written)}\n`;
    writeOutcome(values, { path, fileBytes, ...toContentsDocument(written) }, text);
  } finally {
    await database.close();
  }
  if (keep !== undefined && !isFile) await prune(out, { chainId, keep, json: values.json });
}

/** Its error is that of the command. */
const ignoreResult = () => undefined;

/** Standard error with `--json`: standard output has the one document. */
async function prune(folder: string, { json, ...options }: { chainId: number; keep: number; json?: boolean }): Promise<void> {
  for (const name of await pruneBackups(folder, { ...options, now: new Date() })) {
    if (json) process.stderr.write(`${JSON.stringify({ notice: `Deleted: ${name}` })}\n`);
    else process.stdout.write(`Deleted: ${name}\n`);
  }
}

function formatContents({ header, documents, bytes }: BackupContents): string {
  const { createdAt, lastDay, consistency } = header;
  const counts = `${documents.toLocaleString('en')} documents of ${formatMegabytes(bytes)}`;
  return `${counts}, of ${createdAt.toISOString()} (${consistency}), the record to ${lastDay ?? 'no day yet'}`;
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

interface BackupTarget {
  mongodbUri: string;
  chainId: number;
  attester: Address;
}

/** The database of the settings, of a running service too. @throws OracleError CONFIG_INVALID for a data folder that was never set up */
async function openBackupTarget(context: StartupContext): Promise<BackupTarget> {
  const { config } = context;
  if (config.chainMode !== 'real') await readDemoFile(config.DATA_DIR);
  const { mongodbUri, signers } = await openOrAttach(context, openStorage);
  const attester = await openSigner(config, 'attester', signers.attester);
  return { mongodbUri, chainId: config.CHAIN_ID, attester: attester.account.address };
}

/** 32 bytes. @throws OracleError CONFIG_INVALID */
function requireBackupKey({ BACKUP_KEY }: Pick<Config, 'BACKUP_KEY'>): Buffer {
  if (BACKUP_KEY !== undefined) return Buffer.from(BACKUP_KEY, 'hex');
  throw new OracleError('CONFIG_INVALID', 'Setting BACKUP_KEY: is required to write and to read backups', {
    field: 'BACKUP_KEY',
    suggestedAction: 'Make one with openssl rand -hex 32, and keep it where the backups are not.',
  });
}

/** What was done, for people or as one JSON document in one line. */
function writeOutcome({ json = false }: { json?: boolean }, document: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : text);
}

function toContentsDocument({ header, documents, bytes }: BackupContents) {
  const { createdAt, consistency, lastDay = null } = header;
  return { createdAt, consistency, lastDay, documents, bytes };
}

/** As `runProcess`, with errors as JSON for `--json`. */
async function runBackupProcess({ json = false }: { json?: boolean }, work: (context: StartupContext) => Promise<void>): Promise<number> {
  const run = async (context: StartupContext) => {
    await work(context);
    return EXIT.ok;
  };
  await (json ? runToEnd(run, 1, (error) => `${JSON.stringify(toErrorDocument(error))}\n`) : runToEnd(run));
  return EXIT.ok;
}

async function runRestore(context: StartupContext, values: { json?: boolean }, path: string): Promise<void> {
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
  writeOutcome(values, { path, ...toContentsDocument(contents), next }, `Restored: ${formatContents(contents)}\n${next}\n`);
}

/** A data folder that has lost its embedded database is refused by every start. */
async function makeDatabaseFolder({ MONGODB_URI, DATA_DIR }: Config): Promise<void> {
  const isSetUp = existsSync(join(DATA_DIR, MANIFEST_FILE));
  if (MONGODB_URI === undefined && isSetUp) await mkdir(join(DATA_DIR, 'database'), { recursive: true, mode: 0o700 });
}

/** Which record a backup holds, and how far. In its header. */
interface BackupDescription {
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

async function describeBackup(db: Db, deployment: Deployment): Promise<BackupDescription> {
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

/** For databases without snapshots; `CopyOrder` has the argument. A collection that is not named depends on no other. */
export const COPY_ORDER: CopyOrder = {
  // Commitment, receipt, outbox and wager of a day refer to each other.
  stable: ['record_meta', 'days', 'forecasts', 'wagers'],
  // What is delivered and passed by a cursor comes before the event and the job that it follows from.
  early: ['purchases', 'webhook_deliveries', 'webhooks', 'agent_commerce', 'client_feedback_states'],
  // A payment is booked before its claim, purchase or job is marked as paid, and booked again where the mark is missing. An event follows from the
  // outbox of a document, and is in the log before it leaves that. Each transaction is signed here before it is sent.
  late: ['agent_jobs', 'x402_payments', 'payments', 'events', 'transactions'],
};
