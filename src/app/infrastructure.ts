import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { type ChainAddresses, EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../chain/addresses.ts';
import { buildDemoFile, type DemoFile, deriveDemoWallets, parseDemoFile } from '../dev/demo/demo-file.ts';
import { generateLocalKeys, type LocalKeys, parseLocalKeys } from '../dev/demo/local-keys.ts';
import { startEmbeddedMongo } from '../dev/embedded-db/embedded-mongo.ts';
import { limitEngineCache } from '../dev/embedded-db/limit-cache.ts';
import { deployContracts } from '../dev/local-chain/contracts/deploy.ts';
import { fundDemoWallets, fundGas } from '../dev/local-chain/contracts/fund-wallets.ts';
import { type LocalChain, startLocalChain } from '../dev/local-chain/local-chain.ts';
import { LOCAL_CHAIN_ID } from '../platform/config/chain-ids.ts';
import type { Config } from '../platform/config/settings.ts';
import { type DataDir, openDataDir } from '../platform/data-dir/data-dir.ts';
import { damagedDataDirError, inDataDir } from '../platform/data-dir/entries.ts';
import { isOracleError, OracleError } from '../platform/errors.ts';
import type { Shutdown } from '../platform/shutdown.ts';
import type { StartupProgress } from '../platform/startup/startup-progress.ts';
import { readSignerSources, type SignerSources, toKeySources } from './signers/sources.ts';

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
}

export interface InfrastructureOptions {
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
  return { ...buildLocalSecrets(config, demo, keys), mongodbUri, rpcUrl: config.CHAIN_RPC_URL ?? demo.rpcUrl, localChain: null };
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

type LocalSecrets = Pick<Infrastructure, 'contracts' | 'signers' | 'saltSecret' | 'encryptionSecret' | 'demo'>;

function buildLocalSecrets({ AGENT_COMMERCE_ADDRESS }: Config, demo: DemoFile, keys: LocalKeys): LocalSecrets {
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
      gateToken: config.GATE_TOKEN_ADDRESS!,
      stablecoin: config.STABLECOIN_ADDRESS!,
      identityRegistry: config.IDENTITY_REGISTRY_ADDRESS!,
      reputationRegistry: config.REPUTATION_REGISTRY_ADDRESS!,
      agentCommerce: config.AGENT_COMMERCE_ADDRESS ?? null,
    },
    signers: readSignerSources(config),
    saltSecret: config.SALT_SECRET!,
    encryptionSecret: config.ENCRYPTION_SECRET!,
    demo: null,
    localChain: null,
  };
}

async function openDatabaseOnly(options: InfrastructureOptions): Promise<string> {
  options.progress.startStep('starting the database');
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
  const folder = await openDataFolder(options, ['keys.json', 'demo.json', 'chain', ...(embedded ? ['database'] : [])]);
  if (!folder.isNew) requireLocalChainId(folder.path, parseDemoFile(await folder.readJson('demo.json')));
  const keys = folder.isNew ? generateLocalKeys() : parseLocalKeys(await folder.readJson('keys.json'));
  if (folder.isNew) await folder.writeJson('keys.json', keys);
  const startOwnChain = async () => {
    const localChain = await startChain(options, folder);
    if (folder.isNew) progress.startStep('deploying contracts');
    return { localChain, contracts: await deployAndFund(localChain, keys, folder.isNew) };
  };
  const [{ localChain, contracts }, ownUri] = await Promise.all([
    progress.runStage('Chain', startOwnChain, folder.isNew ? 'ready, contracts deployed' : 'ready'),
    embedded ? startDatabase(options, folder) : undefined,
  ]);
  const { rpcUrl, publicRpcUrl, chainId } = localChain;
  const demo = buildDemoFile({ rpcUrl: publicRpcUrl, chainId, mongodbUri: ownUri, contracts, keys });
  await folder.writeJson('demo.json', demo);
  await folder.markReady();
  return { ...buildLocalSecrets(config, demo, keys), mongodbUri: ownUri ?? config.MONGODB_URI!, rpcUrl, localChain };
}

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

async function startChain({ config, shutdown, genesisMs, onFailure }: InfrastructureOptions, folder: DataDir): Promise<LocalChain> {
  const stateDir = join(folder.path, 'chain');
  const starting = startLocalChain({ stateDir, chainId: config.CHAIN_ID, genesisMs, discard: folder.isNew });
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

async function deployAndFund({ rpcUrl }: LocalChain, keys: LocalKeys, isNew: boolean): Promise<ChainAddresses> {
  const deployer = privateKeyToAccount(keys.deployer);
  const contracts = await deployContracts(rpcUrl, deployer);
  if (isNew) {
    await fundDemoWallets(rpcUrl, deployer, { addresses: contracts, wallets: deriveDemoWallets(keys) });
    const roles = (['attester', 'reporter', 'facilitator', 'provider'] as const).map((role) => privateKeyToAccount(keys[role]).address);
    await fundGas(rpcUrl, roles);
  }
  return contracts;
}
