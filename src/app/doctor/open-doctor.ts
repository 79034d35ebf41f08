import type { SignerSource } from '../../chain/signers/signer-source.ts';
import type { WalletRole } from '../../chain/tx/wallet.ts';
import { inspectConfig } from '../../platform/config/config.ts';
import { listSecretValues } from '../../platform/config/settings.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { connectMongo, type Database } from '../../platform/mongo.ts';
import { createShutdown, type Shutdown } from '../../platform/shutdown.ts';
import { createStartupProgress } from '../../platform/startup/startup-progress.ts';
import { connectChain } from '../chain.ts';
import { describeRealChain, openInfrastructure } from '../infrastructure.ts';
import { openSigner } from '../signers/open-signers.ts';
import type { DoctorDeps, DoctorTarget, RoleWallet } from './check.ts';

export interface DoctorOptions {
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
