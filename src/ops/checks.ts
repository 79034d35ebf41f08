import type { Address } from 'viem';
import { connectChain, openSigner } from '../app/chain.ts';
import { describeRealChain, type Infrastructure, openInfrastructure } from '../app/infrastructure.ts';
import type { Chain } from '../chain/client.ts';
import type { SignerSource } from '../chain/signers.ts';
import type { WalletRole } from '../chain/wallet.ts';
import { inspectConfig } from '../config.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { createLog, type Log } from '../platform/log.ts';
import { connectMongo, type Database } from '../platform/mongo.ts';
import { createStartupProgress } from '../platform/progress.ts';
import { createShutdown, type Shutdown } from '../platform/shutdown.ts';
import { type Config, listSecretValues, type SettingName, type SettingProblem } from '../settings.ts';

interface DoctorOptions {
  environment: Readonly<Record<string, string | undefined>>;
  ntpHost: string | null;
}

/** What the checks examine, opened on demand and without a start of anything. `close` ends the connections. */
export async function openDoctor({ environment, ntpHost }: DoctorOptions): Promise<{ deps: DoctorDeps; close(): Promise<void> }> {
  const { config, problems } = inspectConfig(environment);
  const log = createLog({ level: 'silent', secrets: listSecretValues(config) });
  const shutdown = createShutdown({ log });
  const target = await findTarget(config, shutdown);
  const requireTarget = (): DoctorTarget => {
    if (typeof target !== 'string') return target;
    throw new OracleError('CONFIG_INVALID', target);
  };
  const deps: DoctorDeps = {
    config,
    problems,
    isSet: (name) => (environment[name] ?? '') !== '',
    target,
    database: once(() => openDatabase(requireTarget(), shutdown)),
    chain: once(async () => connectChain(config, requireTarget())),
    roles: once(() => readRoles(config, requireTarget())),
    ntpHost,
    log,
    now: () => new Date(),
  };
  return { deps, close: async () => void (await shutdown.stop('done')) };
}

/** Of a demonstration: the service that runs on the data folder. */
async function findTarget(config: DoctorDeps['config'], shutdown: Shutdown): Promise<DoctorTarget | string> {
  if (config.chainMode === 'real') return { ...describeRealChain(config), mongodbUri: config.MONGODB_URI ?? null };
  try {
    const attached = { ...config, chainMode: 'attached' } as const;
    return await openInfrastructure({ config: attached, shutdown, progress: createStartupProgress(), onFailure: () => undefined });
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return `no service has been started on ${config.DATA_DIR}`;
  }
}

async function openDatabase({ mongodbUri }: DoctorTarget, shutdown: Shutdown): Promise<Database> {
  if (mongodbUri === null) {
    throw new OracleError(
      'CONFIG_INVALID',
      'Setting MONGODB_URI: is not set, and the embedded database is no place for a record that counts',
      {
        field: 'MONGODB_URI',
        suggestedAction: 'Set MONGODB_URI to a replica set.',
      },
    );
  }
  const database = await connectMongo(mongodbUri, { serverSelectionTimeoutMS: 4_000 });
  shutdown.onStop('database connection', () => database.close());
  return database;
}

/** Of the roles that have a source; with a faulty setting some have none. */
async function readRoles(config: DoctorDeps['config'], { signers }: DoctorTarget): Promise<RoleWallet[]> {
  const sources = Object.entries(signers) as [WalletRole, SignerSource | null][];
  const open = async ([role, source]: [WalletRole, SignerSource | null]) =>
    source === null ? [] : [{ role, address: (await openSigner(config, role, source)).account.address }];
  return (await Promise.all(sources.map(open))).flat();
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}

export interface RoleWallet {
  role: WalletRole;
  address: Address;
}

/** Database, chain and keys of the service that is examined. */
export type DoctorTarget = Omit<Infrastructure, 'mongodbUri' | 'localChain'> & { mongodbUri: string | null };

export interface DoctorDeps {
  config: Config;
  problems: readonly SettingProblem[];
  /** Names of the settings that the environment sets. */
  isSet(name: SettingName): boolean;
  /** The reason where there is none. */
  target: DoctorTarget | string;
  /** One connection of all checks, read only. @throws OracleError */
  database(): Promise<Database>;
  /** @throws OracleError CONFIG_INVALID for another chain id, CHAIN_UNREACHABLE */
  chain(): Promise<Chain>;
  /** The wallets of the roles; a signer is asked for its address and signs nothing. @throws OracleError SIGNER_UNAVAILABLE, CONFIG_INVALID */
  roles(): Promise<RoleWallet[]>;
  /** Host of an SNTP server; null: not asked. */
  ntpHost: string | null;
  log: Log;
  now(): Date;
}

/** Read-only: no check writes to database, chain or disk. */
export interface Check {
  id: string;
  title: string;
  /** Settings without which it means nothing: it is skipped while one of them is wrong. */
  needs: readonly SettingName[];
  /** Whether it needs a service, running or described by the settings. */
  needsTarget: boolean;
  /** Connections that another check examines: it is skipped while one of them fails. */
  uses?: readonly ('database' | 'chain')[];
  /** @throws OracleError, which becomes a finding */
  run(deps: DoctorDeps, target: DoctorTarget): Promise<Finding[]>;
}

export const LEVELS = ['ok', 'warn', 'fail', 'skipped'] as const;
export type Level = (typeof LEVELS)[number];

/** One observation of a check. */
export interface Finding {
  level: Level;
  /** A sentence without a full stop. Contains no secret. */
  detail: string;
  /** What the operator does about it; null for `ok`. */
  action: string | null;
  /** Cannot be repaired once the record has begun: the first start on a real chain is refused. */
  isPermanent: boolean;
}

interface Advice {
  action?: string;
  isPermanent?: boolean;
}

export const ok = (detail: string): Finding => ({ level: 'ok', detail, action: null, isPermanent: false });
export const skipped = (detail: string): Finding => ({ level: 'skipped', detail, action: null, isPermanent: false });
export const warn = (detail: string, action: string): Finding => ({ level: 'warn', detail, action, isPermanent: false });
export const fail = (detail: string, { action, isPermanent = false }: Advice = {}): Finding => ({
  level: 'fail',
  detail,
  action: action ?? null,
  isPermanent,
});

/** A finding of an error; of an unknown one only the kind is shown, since libraries quote URLs with keys. */
export function toFinding(error: unknown, advice: Advice = {}): Finding {
  if (!(error instanceof OracleError)) return fail(`it cannot be examined: ${describeKind(error)}`, advice);
  return fail(error.message, { action: error.suggestedAction, ...advice });
}

function describeKind(error: unknown): string {
  const { name = 'Error', code, codeName = code } = Object(error) as { name?: string; code?: unknown; codeName?: unknown };
  return codeName === undefined ? name : `${name} ${String(codeName)}`;
}

/** The findings of work that fails as a whole. */
export async function orFinding(work: () => Promise<Finding | Finding[]>, advice: Advice = {}): Promise<Finding[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    return [toFinding(error, advice)];
  }
}
