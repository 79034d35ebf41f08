import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type ChainAddresses, EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../chain/addresses.ts';
import type { SignerSource } from '../chain/signers.ts';
import type { WalletRole } from '../chain/wallet.ts';
import {
  buildDemoFile,
  type DemoFile,
  deriveDemoWallets,
  generateLocalKeys,
  type LocalKeys,
  parseDemoFile,
  parseLocalKeys,
} from '../dev/demo.ts';
import { startEmbeddedMongo } from '../dev/embedded-mongo.ts';
import { deployContracts, fundDemoWallets, fundGas, type LocalAddresses } from '../dev/local-chain/contracts.ts';
import { type LocalChain, startLocalChain } from '../dev/local-chain/local-chain.ts';
import { getErrorMessage, isOracleError, OracleError, orElse } from '../errors.ts';
import { type DataDir, damagedDataDirError, inDataDir, openDataDir } from '../platform/data-dir.ts';
import type { Log, LogCounts } from '../platform/log.ts';
import { connectMongo } from '../platform/mongo.ts';
import type { StartupProgress } from '../platform/progress.ts';
import { retryWhileUnavailable } from '../platform/retry.ts';
import type { Shutdown } from '../platform/shutdown.ts';
import { type Config, LOCAL_CHAIN_ID, type SignerSettingRole } from '../settings.ts';

export interface Infrastructure {
  mongodbUri: string;
  rpcUrl: string;
  contracts: ChainAddresses;
  signers: SignerSources;
  saltSecret: string;
  encryptionSecret: string;
  /** Demo wallets and contracts of a local chain; null on a real one. */
  demo: DemoFile | null;
  /** The chain of this process, whose clock can be set; null if another process or network runs it. */
  localChain: LocalChain | null;
  /**
   * Discards the chain and begins a new one with the same keys and contracts; the caller then empties the database. Null except for a
   * demonstration whose chain and database are both in `DATA_DIR`, and whose wagers are on paper.
   */
  beginAnew: (() => Promise<Infrastructure>) | null;
}

interface InfrastructureOptions {
  config: Config;
  shutdown: Shutdown;
  progress: StartupProgress;
  /** Time of block 0 of a new local chain, Unix milliseconds; default: now. */
  genesisMs?: number;
  onFailure(error: OracleError): void;
}

/** Runs database and chain in `DATA_DIR` unless another process or network does. @throws OracleError as `openDataDir` and its parts */
export function openInfrastructure(options: InfrastructureOptions): Promise<Infrastructure> {
  return inDataDir(options.config.DATA_DIR, () => openParts(options));
}

async function openParts(options: InfrastructureOptions): Promise<Infrastructure> {
  const { config } = options;
  if (config.chainMode === 'attached') return attachToDataDir(config);
  const embedded = config.MONGODB_URI === undefined;
  if (config.chainMode === 'real')
    return { ...describeRealChain(config), mongodbUri: embedded ? await openDatabaseOnly(options) : config.MONGODB_URI! };
  return openOwnChain(options);
}

/** Attaches to the local chain of another process, and to its database unless MONGODB_URI is set. */
async function attachToDataDir(config: Config): Promise<Infrastructure> {
  const demo = parseDemoFile(await readSharedFile(config, 'demo.json'));
  const keys = parseLocalKeys(await readSharedFile(config, 'keys.json'));
  const mongodbUri = config.MONGODB_URI ?? demo.mongodbUri;
  const problem = 'is required, the process that runs the local chain has a database of its own';
  if (mongodbUri === undefined) throw new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: ${problem}`, { field: 'MONGODB_URI' });
  return { ...buildLocalSecrets(config, demo, keys), mongodbUri, rpcUrl: config.CHAIN_RPC_URL ?? demo.rpcUrl, ...NOT_OWNED };
}

async function readSharedFile(config: Config, name: string): Promise<unknown> {
  const path = join(config.DATA_DIR, name);
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    const problem = `CHAIN_LOCAL=1 needs the folder of the process that runs the chain, but ${path} cannot be read`;
    throw new OracleError('CONFIG_INVALID', `Setting DATA_DIR: ${problem}`, {
      field: 'DATA_DIR',
      suggestedAction:
        'Set DATA_DIR to that folder, unset CHAIN_RPC_URL to start a local chain here, or unset CHAIN_LOCAL if it is a real one.',
      cause,
    });
  }
}

const NOT_OWNED = { localChain: null, beginAnew: null } as const;

function buildLocalSecrets({ AGENT_COMMERCE_ADDRESS }: Config, demo: DemoFile, keys: LocalKeys) {
  const contracts = { ...demo.contracts, agentCommerce: AGENT_COMMERCE_ADDRESS ?? demo.contracts.agentCommerce };
  // Encryption keys are derived per purpose and share nothing with a salt.
  return { contracts, signers: toKeySources(keys), saltSecret: keys.saltSecret, encryptionSecret: keys.saltSecret, demo };
}

/** As the settings name it: nothing is opened. */
export function describeRealChain(config: Config): Omit<Infrastructure, 'mongodbUri'> {
  return {
    rpcUrl: config.CHAIN_RPC_URL!,
    contracts: {
      eas: EAS_ADDRESS,
      schemaRegistry: SCHEMA_REGISTRY_ADDRESS,
      gateToken: config.GATE_TOKEN_ADDRESS ?? null,
      stablecoin: config.STABLECOIN_ADDRESS!,
      identityRegistry: config.IDENTITY_REGISTRY_ADDRESS!,
      reputationRegistry: config.REPUTATION_REGISTRY_ADDRESS!,
      agentCommerce: config.AGENT_COMMERCE_ADDRESS ?? null,
    },
    signers: readSignerSources(config),
    saltSecret: config.SALT_SECRET!,
    encryptionSecret: config.ENCRYPTION_SECRET!,
    demo: null,
    ...NOT_OWNED,
  };
}

/** Before anything is begun: the embedded parts make their files and sockets there. @throws OracleError CONFIG_INVALID */
async function requireTemporaryFolder({ forChain }: { forChain: boolean }): Promise<void> {
  let folder: string | undefined;
  try {
    // As long as the name of the chain's folder, and the longest of its sockets: their paths are limited to 104 bytes.
    folder = await mkdtemp(join(tmpdir(), 'probe-'));
    if (forChain) await requireSocket(join(folder, 'empty'));
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `The temporary folder ${tmpdir()} cannot be used: ${getErrorMessage(cause)}`, {
      field: 'TMPDIR',
      suggestedAction:
        'Let this user write it (in a read-only container: mount a tmpfs), or set TMPDIR to another folder with a short path.',
      cause,
    });
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function requireSocket(path: string): Promise<void> {
  const server = createServer().listen(path);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`a socket in it fails: ${getErrorMessage(error)}`, { cause: error });
  } finally {
    server.close();
  }
}

async function openDatabaseOnly(options: InfrastructureOptions): Promise<string> {
  options.progress.startStep('starting the database');
  await requireTemporaryFolder({ forChain: false });
  const folder = await openDataFolder(options, ['database']).catch(adviseBackup);
  const uri = await startDatabase(options, folder).catch(adviseBackup);
  await folder.markReady();
  return uri;
}

/** A record on a real chain cannot be begun again: a reset would lose what its forecasts have committed to. */
function adviseBackup(error: unknown): never {
  if (!isOracleError(error, 'DATA_DIR_DAMAGED')) throw error;
  const suggestedAction = 'Put back a copy of the folder, or restore a backup into an empty one ("Backup and restore" in docs/OPERATE.md).';
  throw new OracleError(error.code, error.message, { field: error.field, suggestedAction, cause: error });
}

async function openOwnChain(options: InfrastructureOptions): Promise<Infrastructure> {
  const { config, progress } = options;
  const embedded = config.MONGODB_URI === undefined;
  progress.startStep(embedded ? 'starting the database and the chain' : 'starting the chain');
  await requireTemporaryFolder({ forChain: true });
  const folder = await openDataFolder(options, ['keys.json', 'chain', ...(embedded ? ['database'] : [])]);
  // Derived from the keys: a damaged one is written again.
  const known = await folder.readJson('demo.json').then(parseDemoFile).catch(orElse('DATA_DIR_DAMAGED', null));
  if (known !== null) requireLocalChainId(folder.path, known);
  const keys = folder.isNew ? generateLocalKeys() : parseLocalKeys(await folder.readJson('keys.json'));
  if (folder.isNew) await folder.writeJson('keys.json', keys);
  const startOwnChain = async (discard: boolean) => {
    const localChain = await startChain(options, folder, discard);
    if (!localChain.restored) progress.startStep('deploying contracts');
    return { localChain, contracts: await deployAndFund(localChain, keys) };
  };
  const [started, ownUri] = await Promise.all([
    progress.runStage('Chain', () => startOwnChain(folder.isNew), describeChain),
    embedded ? startDatabase(options, folder) : undefined,
  ]);
  const isReplaceable = embedded && config.WAGERS !== 'polymarket';
  const describe = async ({ localChain, contracts }: typeof started): Promise<Infrastructure> => {
    const { rpcUrl, publicRpcUrl, chainId } = localChain;
    const demo = buildDemoFile({ rpcUrl: publicRpcUrl, chainId, mongodbUri: ownUri, contracts, keys });
    await folder.writeJson('demo.json', demo);
    const beginAnew = async () => {
      await localChain.stop();
      return describe(await progress.runStage('Chain', () => startOwnChain(true), describeChain));
    };
    const mongodbUri = ownUri ?? config.MONGODB_URI!;
    return { ...buildLocalSecrets(config, demo, keys), mongodbUri, rpcUrl, localChain, beginAnew: isReplaceable ? beginAnew : null };
  };
  const infrastructure = await describe(started);
  await folder.markReady();
  return infrastructure;
}

const describeChain = ({ localChain }: { localChain: LocalChain }) => (localChain.restored ? 'ready' : 'ready, contracts deployed');

/** Everything signed for a chain names its id, so a chain of another id cannot be continued. */
function requireLocalChainId(path: string, { chainId }: DemoFile): void {
  if (chainId === LOCAL_CHAIN_ID) return;
  throw damagedDataDirError(
    path,
    `its local chain has the id ${chainId}, that of an earlier version, and this version's has ${LOCAL_CHAIN_ID}`,
  );
}

async function openDataFolder({ config, shutdown }: InfrastructureOptions, required: string[]): Promise<DataDir> {
  const folder = await openDataDir(config.DATA_DIR, { required });
  shutdown.onStop('data folder', () => folder.release());
  return folder;
}

async function startDatabase({ shutdown, progress, onFailure }: InfrastructureOptions, folder: DataDir): Promise<string> {
  const options = { dbPath: join(folder.path, 'database'), cacheDir: join(folder.path, 'cache') };
  const starting = progress.runStage('Database', () => startEmbeddedMongo(options), 'ready');
  const database = await stopOnShutdown(shutdown, 'embedded database', starting);
  database.onExit(onFailure);
  await limitEngineCache(database.uri);
  return database.uri;
}

async function startChain(
  { config, shutdown, genesisMs, onFailure }: InfrastructureOptions,
  folder: DataDir,
  discard: boolean,
): Promise<LocalChain> {
  const stateDir = join(folder.path, 'chain');
  const starting = startLocalChain({ stateDir, chainId: config.CHAIN_ID, genesisMs, discard });
  const chain = await stopOnShutdown(shutdown, 'local chain', starting);
  chain.onExit(onFailure);
  return chain;
}

/** Registered before the start completes: a stop during the start leaves no child process that locks the folder. */
function stopOnShutdown<Part extends { stop(): Promise<void> }>(shutdown: Shutdown, name: string, starting: Promise<Part>): Promise<Part> {
  shutdown.onStop(name, () =>
    starting.then(
      (part) => part.stop(),
      () => undefined,
    ),
  );
  return starting;
}

/** Wallets get their funds with a new chain alone. Gas first, since a state is saved with its next block. */
async function deployAndFund({ rpcUrl, restored }: LocalChain, keys: LocalKeys): Promise<LocalAddresses> {
  const deployer = privateKeyToAccount(keys.deployer);
  const contracts = await deployContracts(rpcUrl, deployer);
  if (!restored) {
    const roles = (['attester', 'reporter', 'facilitator', 'provider'] as const).map((role) => privateKeyToAccount(keys[role]).address);
    await fundGas(rpcUrl, roles);
    await fundDemoWallets(rpcUrl, deployer, { addresses: contracts, wallets: deriveDemoWallets(keys) });
  }
  return contracts;
}

/** Null for the facilitator when a remote one settles. With faulty settings others are null too. */
export type SignerSources = Record<Exclude<WalletRole, 'facilitator'>, SignerSource> & { facilitator: SignerSource | null };

function readSignerSources(config: Config): SignerSources {
  const [attester, reporter, provider] = (['attester', 'reporter', 'provider'] as const).map((role) => readSignerSource(config, role)!);
  return { attester, reporter, provider, facilitator: readSignerSource(config, 'facilitator') };
}

/** Throw-away keys of a local chain. */
function toKeySources(keys: Record<WalletRole, Hex>): Record<WalletRole, SignerSource> {
  const roles = ['attester', 'reporter', 'provider', 'facilitator'] as const;
  return Object.fromEntries(roles.map((role) => [role, { kind: 'key', privateKey: keys[role] }])) as Record<WalletRole, SignerSource>;
}

export const toSettingRole = (role: WalletRole) => role.toUpperCase() as SignerSettingRole;

/** The rules of the settings hold: one source a role, and an address with a URL. */
function readSignerSource(config: Config, role: WalletRole): SignerSource | null {
  const prefix = toSettingRole(role);
  const {
    [`${prefix}_PRIVATE_KEY` as const]: privateKey,
    [`${prefix}_SIGNER` as const]: signer,
    [`${prefix}_ADDRESS` as const]: address,
  } = config;
  if (privateKey !== undefined) return { kind: 'key', privateKey, address };
  if (signer === undefined) return null;
  return signer.startsWith('kms:')
    ? { kind: 'kms', keyId: signer.slice('kms:'.length), address }
    : { kind: 'web3signer', url: signer, address: address! };
}

export type RetryPart = <T>(work: () => Promise<T>) => Promise<T>;

/** An election of a replica set takes about 12 seconds. */
const MAX_WAIT_MS = 30_000;

/** Runs an idempotent part of a start, which waits for database and chain for a bounded time. @param isService false for a command, which does not wait */
export function createStartRetry({ log, shutdown }: Pick<ProcessContext, 'log' | 'shutdown'>, isService = true): RetryPart {
  const onWait = (err: Error) => log.warn({ err }, `the start waits, for ${MAX_WAIT_MS / 1_000} s at most`);
  return (work) => retryWhileUnavailable(work, { forMs: isService ? MAX_WAIT_MS : 0, signal: shutdown.signal, onWait });
}

/** Outlives every part of a process. */
export interface ProcessContext {
  config: Config;
  log: Log;
  shutdown: Shutdown;
}

export interface StartupContext extends ProcessContext {
  progress: StartupProgress;
  logCounts: LogCounts;
}

/** A record of ten years has some 200 MB, of which the service reads the newest. */
const CACHE_MB = 64;

/** The engine has no settings of its own, and would take up to half of the machine's memory. Lasts until it is closed. */
async function limitEngineCache(uri: string): Promise<void> {
  const { client, close } = await connectMongo(uri);
  try {
    await client.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${CACHE_MB}M` });
  } finally {
    await close();
  }
}
