import { type Address, formatEther, formatGwei, isAddressEqual, parseAbi, zeroAddress } from 'viem';
import { REGISTRATION_PATH } from '../../agent-card/documents.ts';
import { connectChain, openSigner } from '../app/chain.ts';
import { getSettlementPricing } from '../app/commerce.ts';
import { requireKnownAttestations, requireOwnDatabase } from '../app/history.ts';
import { describeRealChain, type Infrastructure, openInfrastructure } from '../app/infrastructure.ts';
import type { Chain } from '../chain/client.ts';
import { type ContractReading, readContractStates, type TokenMetadata } from '../chain/contracts.ts';
import { readAttestedLogs } from '../chain/eas/schemas.ts';
import { findRegisteredAgent } from '../chain/erc8004.ts';
import { createJournal } from '../chain/journal.ts';
import { type BlockRange, chainCall, readBlockNumber, readLogRanges } from '../chain/rpc.ts';
import type { SignerSource } from '../chain/signers.ts';
import { readStablecoin } from '../chain/stablecoin.ts';
import type { WalletRole } from '../chain/wallet.ts';
import { readSettlementCost } from '../commerce/commerce.ts';
import { formatAmount, usdFromMicros } from '../commerce/offerings.ts';
import { requireDeploymentContracts } from '../commerce/x402/local-facilitator.ts';
import { inspectConfig, isLocalHost } from '../config.ts';
import { type ErrorCode, isOracleError, OracleError, orElse } from '../errors.ts';
import { HORIZONS } from '../forecast/model.ts';
import { describeNewestBlock } from '../pipeline/status.ts';
import { createLog, type Log } from '../platform/log.ts';
import { connectMongo, type Database } from '../platform/mongo.ts';
import { createEvmReader } from '../platform/outbound/evm.ts';
import { createStartupProgress } from '../platform/progress.ts';
import { joinUrl } from '../platform/service-client.ts';
import { createShutdown, type Shutdown } from '../platform/shutdown.ts';
import { ForecastRecord, requireSameSalts } from '../record/forecasts.ts';
import { type Config, LOCAL_CHAIN_ID, listSecretValues, type SettingName, type SettingProblem } from '../settings.ts';

/** What the checks examine, opened on demand and without a start of anything. `close` ends the connections. */
export async function openDoctor(
  environment: Readonly<Record<string, string | undefined>>,
  ntpHost: string | null,
): Promise<{ deps: DoctorDeps; close(): Promise<void> }> {
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
    const problem = 'is not set, and the embedded database is no place for a record that counts';
    const suggestedAction = 'Set MONGODB_URI to a replica set.';
    throw new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: ${problem}`, { field: 'MONGODB_URI', suggestedAction });
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
  /** Ids of checks whose failure explains this: it is then reported with that one. */
  because?: readonly string[];
  /** Of what is asked over the network: whether it can be reached. */
  reached?: boolean | undefined;
}

type Advice = Partial<Pick<Finding, 'action' | 'isPermanent' | 'because' | 'reached'>>;

export const ok = (detail: string): Finding => ({ level: 'ok', detail, action: null, isPermanent: false });
export const skipped = (detail: string, advice: Advice = {}): Finding => ({ ...ok(detail), ...advice, level: 'skipped' });
export const warn = (detail: string, action: string): Finding => ({ level: 'warn', detail, action, isPermanent: false });
export const fail = (detail: string, advice: Advice = {}): Finding => ({ ...ok(detail), ...advice, level: 'fail' });

/** A finding of an error; of an unknown one only the kind is shown, since libraries quote URLs with keys. */
export function toFinding(error: unknown, advice: Advice = {}): Finding {
  const reached = isUnreachable(error) ? false : undefined;
  if (!(error instanceof OracleError)) return fail(`it cannot be examined: ${describeKind(error)}`, { reached, ...advice });
  const because = CONNECTION_CHECKS[error.code];
  return fail(error.message, { reached, ...(because && { because: [because] }), action: error.suggestedAction ?? null, ...advice });
}

const CONNECTION_CHECKS: { [code in ErrorCode]?: string } = {
  CHAIN_UNREACHABLE: 'rpc',
  CHAIN_REVERTED: 'contracts',
  DATABASE_UNAVAILABLE: 'database',
};
const NETWORK_FAULT =
  /\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ENETDOWN|ETIMEDOUT|timed out|no answer within \d+ m?s|ECONNREFUSED|ECONNRESET)\b/;

/** Why no connection was made, in an error or its causes; libraries keep the code of the system in the message. */
export function findNetworkFault(error: unknown): string | null {
  const { code, message, cause } = Object(error) as { code?: unknown; message?: unknown; cause?: unknown };
  const found = NETWORK_FAULT.exec(`${String(code)} ${String(message)}`)?.[1];
  return found ?? (cause === undefined ? null : findNetworkFault(cause));
}

/** A machine that refuses a connection has been reached. */
export const isUnreachable = (error: unknown) => !['ECONNREFUSED', 'ECONNRESET', null].includes(findNetworkFault(error));

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

const registryAbi = parseAbi(['function getIdentityRegistry() view returns (address)']);

/** What each address has on this chain, and whether that is what the service needs. */
export const contractsCheck: Check = {
  id: 'contracts',
  title: 'Contracts',
  needs: [
    'CHAIN_RPC_URL',
    'CHAIN_ID',
    'GATE_TOKEN_ADDRESS',
    'GATE_WALLETS',
    'STABLECOIN_ADDRESS',
    'IDENTITY_REGISTRY_ADDRESS',
    'REPUTATION_REGISTRY_ADDRESS',
  ],
  needsTarget: true,
  uses: ['chain'],
  async run({ chain, roles, config: { X402_WALLET_FACTORIES: factories = [] } }) {
    const connected = await chain();
    const { addresses } = connected;
    const reporter = (await roles().catch(() => [])).find(({ role }) => role === 'reporter')?.address ?? addresses.eas;
    const states = await readContractStates(connected, { agentId: 0, reporter });
    return [
      toContractFinding({ name: 'EAS', address: addresses.eas, isPermanent: true }, states.eas, ({ version }) => `version ${version}`),
      ...checkSchemas(states.schemaRegistry, addresses.schemaRegistry),
      ...(await orFinding(() => checkRegistries(connected), { isPermanent: true })),
      checkGate(connected, states.gateToken),
      ...(await orFinding(async () => {
        const { name, version } = await readStablecoin(connected, addresses.stablecoin);
        return ok(`stablecoin ${addresses.stablecoin}: ${name}, version ${version}, 6 decimals`);
      })),
      ...(await orFinding(async () => {
        if (factories.length === 0) return [];
        await requireDeploymentContracts(connected, factories);
        return ok(`wallet factories ${factories.join(', ')} and Multicall3 have code`);
      })),
      ...checkCommerce(addresses.agentCommerce, states.agentCommerce, addresses.stablecoin),
    ];
  },
};

interface ContractName {
  name: string;
  address: Address;
  setting?: string;
  isPermanent?: boolean;
}

function toContractFinding<T>(
  { name, address, setting, isPermanent = false }: ContractName,
  { state, reason, value }: ContractReading<T>,
  describe: (value: T) => string,
): Finding {
  if (value !== null) return ok(`${name} ${address}: ${describe(value)}`);
  const action =
    setting === undefined ? 'Set CHAIN_RPC_URL and CHAIN_ID to a chain that has it.' : `Set ${setting} to its address on this chain.`;
  return fail(`${name} ${address} is ${state}: ${reason}`, { action, isPermanent });
}

function checkGate({ addresses, gateWallets = new Map() }: Chain, reading: ContractReading<TokenMetadata> | null): Finding {
  if (addresses.gateToken === null || reading === null)
    return ok(`no gate token: GATE_WALLETS lists ${gateWallets.size} wallets with a tier, all others pay per call`);
  const name = { name: 'gate token', address: addresses.gateToken, setting: 'GATE_TOKEN_ADDRESS' };
  return toContractFinding(name, reading, ({ symbol, decimals }) => `${symbol}, ${decimals} decimals; its balance grants the tiers`);
}

function checkSchemas(reading: Awaited<ReturnType<typeof readContractStates>>['schemaRegistry'], address: Address): Finding[] {
  if (reading.value === null) return [toContractFinding({ name: 'schema registry', address, isPermanent: true }, reading, () => '')];
  return reading.value.schemas.map(({ name, uid, registered }) =>
    ok(`schema ${name} ${uid} is ${registered ? 'registered' : 'not registered yet: the first attestation does it'}`),
  );
}

async function checkRegistries({ client, chainId, addresses }: Chain): Promise<Finding> {
  const { identityRegistry, reputationRegistry } = addresses;
  const call = { address: reputationRegistry, abi: registryAbi, functionName: 'getIdentityRegistry' } as const;
  const code = await chainCall('Reading the identity registry', () => client.getCode({ address: identityRegistry }));
  const where = `identity registry ${identityRegistry}`;
  if (code === undefined)
    return fail(`${where} has no code`, { action: `Set IDENTITY_REGISTRY_ADDRESS to its address on chain ${chainId}.`, isPermanent: true });
  const named = await chainCall('Reading the reputation registry', () => client.readContract(call)).catch(orElse('CHAIN_REVERTED', 'none'));
  if (named.toLowerCase() === identityRegistry.toLowerCase()) return ok(`${where}, reputation registry ${reputationRegistry}`);
  return fail(`reputation registry ${reputationRegistry} belongs to the identity registry ${named}, not to ${identityRegistry}`, {
    action: 'Set IDENTITY_REGISTRY_ADDRESS and REPUTATION_REGISTRY_ADDRESS to a pair.',
    isPermanent: true,
  });
}

function checkCommerce(
  address: Address | null,
  reading: ContractReading<{ paymentToken: Address }> | null,
  stablecoin: Address,
): Finding[] {
  if (address === null || reading === null) return [];
  const contract = { name: 'agent commerce', address, setting: 'AGENT_COMMERCE_ADDRESS' };
  const paymentToken = reading.value?.paymentToken;
  if (paymentToken !== undefined && paymentToken.toLowerCase() !== stablecoin.toLowerCase())
    return [warn(`agent commerce ${address} is paid in ${paymentToken}, not in the stablecoin`, 'Jobs are refused there.')];
  return [toContractFinding(contract, reading, () => 'paid in the stablecoin')];
}

/** As the service asks for them first. */
const LOG_BLOCKS = 10_000;
/** States of the last hours are read to find a nonce that another program has used: two hours of Base. */
const STATE_BLOCKS = 3_600n;
const OTHER_ENDPOINT = 'Set CHAIN_RPC_URL to another endpoint of the chain.';

/** Chain id, age of the newest block, and everything that the service asks an endpoint for. */
export const rpcCheck: Check = {
  id: 'rpc',
  title: 'Chain endpoint',
  needs: ['CHAIN_RPC_URL', 'CHAIN_ID'],
  needsTarget: true,
  async run(deps, target) {
    const connected = await deps.chain().catch((error: unknown) => [toFinding(error, { isPermanent: true })]);
    if (Array.isArray(connected)) return connected;
    const chain = connected;
    const isLocal = deps.config.chainMode !== 'real';
    const reached = isLocalHost(new URL(target.rpcUrl).hostname) ? undefined : true;
    const checks = [
      orFinding(async () => ({ ...ok(`chain ${chain.chainId}, ${await describeNewestBlock(chain, isLocal, deps.now())}`), reached }), {
        action: OTHER_ENDPOINT,
        isPermanent: true,
        because: ['clock'],
      }),
      orFinding(() => checkFees(chain)),
      ...(isLocal ? [] : [orFinding(() => checkFinality(chain)), orFinding(() => checkLogs(chain)), orFinding(() => checkStates(chain))]),
      orFinding(() => checkPublicEndpoint(deps, chain)),
    ];
    return (await Promise.all(checks)).flat();
  },
};

async function checkFees({ client }: Chain): Promise<Finding> {
  const { maxFeePerGas } = await chainCall('Reading the fees', () => client.estimateFeesPerGas());
  return ok(`fee data: at most ${Number(maxFeePerGas) / 1e9} gwei now`);
}

async function checkFinality(chain: Chain): Promise<Finding> {
  const [head, final] = await Promise.all([
    readBlockNumber(chain),
    chainCall('Reading the finalized block', () => chain.client.getBlock({ blockTag: 'finalized' })),
  ]);
  return ok(`finalized up to ${head - final.number!} blocks before the newest; ${chain.confirmations} confirmations count`);
}

/** The first range that the endpoint takes, as the readers of the service find it. */
async function checkLogs(chain: Chain): Promise<Finding> {
  const head = Number(await readBlockNumber(chain));
  // As the readers filter them: all events of the contract could be too many at once.
  const query = { schema: 'prediction', attester: zeroAddress } as const;
  const read = (range: BlockRange) => readAttestedLogs(chain, query, range);
  const ranges = readLogRanges(chain.client, { from: Math.max(0, head - LOG_BLOCKS + 1), to: head, read });
  const { value } = await ranges.next();
  const blocks = value === undefined ? 0 : value.to - value.from + 1;
  const text = `eth_getLogs answers over ${blocks} blocks at once`;
  return blocks < Math.min(LOG_BLOCKS, head + 1) ? ok(`${text}: after a pause, the service reads more ranges to catch up`) : ok(text);
}

async function checkStates(chain: Chain): Promise<Finding> {
  const head = await readBlockNumber(chain);
  const blockNumber = head > STATE_BLOCKS ? head - STATE_BLOCKS : 0n;
  try {
    await chain.client.getBalance({ address: chain.addresses.eas, blockNumber });
    return ok(`states of ${head - blockNumber} blocks ago are there; no archive is needed`);
  } catch {
    return warn(
      `states of ${head - blockNumber} blocks ago are gone: a nonce that another program has used cannot be found`,
      OTHER_ENDPOINT,
    );
  }
}

/** The endpoint that verifiers are given. */
async function checkPublicEndpoint({ config }: DoctorDeps, { chainId }: Chain): Promise<Finding[]> {
  const rpcUrl = config.PUBLIC_RPC_URL;
  if (config.chainMode !== 'real' || rpcUrl === undefined) return [];
  const reader = createEvmReader({ rpcUrl, timeoutMs: 5_000, retryCount: 0, retryDelayMs: 0 });
  const found = await chainCall('Asking PUBLIC_RPC_URL for its chain id', () => reader.getChainId());
  if (found === chainId) return [ok(`PUBLIC_RPC_URL serves chain ${found} too`)];
  return [
    fail(`PUBLIC_RPC_URL serves chain ${found}, the record is on ${chainId}`, {
      action: 'Set PUBLIC_RPC_URL to an endpoint of the chain.',
    }),
  ];
}

interface Duty {
  /** Gas units of one unit of work, by docs/OPERATE.md. */
  gas: bigint;
  work: string;
  /** Below this many units of work the operator is warned. */
  enough: bigint;
}

/** `npm run bench -- running-costs` measures the first. */
const DUTIES: Record<WalletRole, Duty> = {
  attester: { gas: 2_900_000n, work: 'days', enough: 100n },
  reporter: { gas: 181_000n, work: 'settled wagers', enough: 100n },
  facilitator: { gas: 86_000n, work: 'payments', enough: 100n },
  provider: { gas: 88_000n, work: 'jobs', enough: 20n },
};

/** Roles, funds, how long they last at the fee of now, and whether the prices cover a settlement. */
export const walletsCheck: Check = {
  id: 'wallets',
  title: 'Wallets',
  needs: ['CHAIN_RPC_URL', 'CHAIN_ID'],
  needsTarget: true,
  uses: ['chain'],
  async run({ config, chain, roles: readRoles }) {
    const connected = await chain();
    const roles = await readRoles();
    // A local chain asks for no fee worth counting.
    const gasPrice = config.chainMode === 'real' ? await chainCall('Reading the gas price', () => connected.client.getGasPrice()) : 0n;
    const funds = await Promise.all(roles.map((wallet) => checkFunds(connected, wallet, gasPrice)));
    const empty = funds.filter(({ level }) => level === 'fail');
    const advice = { action: formatFunding(connected, 'each'), isPermanent: empty.some((one) => one.isPermanent) };
    return [
      ...(empty.length === 0 ? [] : [fail(`too little ether: ${empty.map((one) => one.detail).join('; ')}`, advice)]),
      ...funds.filter(({ level }) => level !== 'fail'),
      ...checkPayee(config.PAYEE_ADDRESS, roles),
      await checkMargins(connected, config),
    ];
  },
};

const formatFunding = ({ chainId }: Chain, wallet: string) =>
  `Send ether on chain ${chainId} to ${wallet}${chainId === LOCAL_CHAIN_ID ? ', from a faucet' : ''}.`;

async function checkFunds(chain: Chain, { role, address }: RoleWallet, gasPrice: bigint): Promise<Finding> {
  const { gas, work, enough } = DUTIES[role];
  const balance = await chainCall('Reading a balance', () => chain.client.getBalance({ address }));
  const units = gasPrice === 0n ? null : balance / (gas * gasPrice);
  const lasts =
    units === null || balance === 0n ? '' : `: ${units} ${work} at ${formatGwei(gasPrice)} gwei, the fee for data on Ethereum not counted`;
  const detail = `${role} ${address} has ${formatEther(balance)} ether${lasts}`;
  if (units === 0n || balance === 0n) return fail(detail, { isPermanent: role === 'attester' });
  return units !== null && units < enough ? warn(detail, formatFunding(chain, address)) : ok(detail);
}

function checkPayee(payee: Address | undefined, roles: readonly RoleWallet[]): Finding[] {
  if (payee === undefined) return [];
  const hot = roles.find(({ address }) => isAddressEqual(address, payee));
  if (hot === undefined) return [ok(`payee ${payee} is none of the wallets whose keys are here`)];
  return [warn(`payee ${payee} is also the ${hot.role}`, 'Set PAYEE_ADDRESS to a wallet whose key is kept elsewhere.')];
}

async function checkMargins(chain: Chain, config: Config): Promise<Finding> {
  const { costMicros, detail, margins } = await readSettlementCost(chain, getSettlementPricing(config));
  if (costMicros === null) return ok(`what a settlement costs is not known: ${detail}`);
  const prices = margins.map(
    ({ offering, priceMicros, marginMicros }) => `${offering} ${formatMicroUsd(priceMicros)} USD, margin ${formatMicroUsd(marginMicros!)}`,
  );
  const summary = `a settlement costs about ${formatMicroUsd(costMicros)} USD now (${detail}): ${prices.join('; ')}`;
  const isLoss = margins.some(({ marginMicros }) => marginMicros! < 0);
  return isLoss ? warn(summary, 'Use a hosted facilitator (X402_FACILITATOR_URL) that charges less, or wait for lower fees.') : ok(summary);
}

function formatMicroUsd(micros: number): string {
  return `${micros < 0 ? '-' : ''}${formatAmount(usdFromMicros(BigInt(Math.abs(micros))), 0)}`;
}

/** Whether chain, database and secrets belong to one record, and whose agent it is. */
export const identityCheck: Check = {
  id: 'identity',
  title: 'Record and identity',
  needs: [
    'CHAIN_RPC_URL',
    'CHAIN_ID',
    'MONGODB_URI',
    'SALT_SECRET',
    'ATTESTER_PRIVATE_KEY',
    'ATTESTER_SIGNER',
    'IDENTITY_REGISTRY_ADDRESS',
  ],
  needsTarget: true,
  uses: ['database', 'chain'],
  async run({ config, database, roles, chain: connect }, target) {
    const [{ db }, chain] = await Promise.all([database(), connect()]);
    const attester = (await roles()).find(({ role }) => role === 'attester')!.address;
    const journal = createJournal(db);
    const isLocalChain = config.chainMode !== 'real';
    const record = new ForecastRecord({ db, saltSecret: target.saltSecret, horizons: HORIZONS });
    const permanent = { isPermanent: true };
    const checks = [
      orFinding(async () => {
        await requireOwnDatabase(chain, journal, attester);
        await requireKnownAttestations({ chain, journal, attester, isLocalChain });
        return ok('the database knows everything that the attester has attested');
      }, permanent),
      orFinding(async () => {
        await requireSameSalts(record, target.saltSecret);
        return ok('the salt secret opens what the record has committed to');
      }, permanent),
      orFinding(async () => {
        const agent = await findRegisteredAgent(chain, journal);
        if (agent === null) return ok('no agent is registered yet: the first start does it');
        const named = `agent ${agent.agentId} of ${agent.owner}`;
        if (agent.owner !== attester)
          return fail(`${named} does not belong to the attester`, { action: 'Use the key that registered the agent.', isPermanent: true });
        const uri = config.PUBLIC_URL === undefined ? agent.agentUri : joinUrl(config.PUBLIC_URL, REGISTRATION_PATH);
        if (agent.agentUri === uri) return ok(`${named}, at ${agent.agentUri}`);
        return warn(`${named} points to ${agent.agentUri}`, `The next start points it to ${uri}, by a transaction of the attester.`);
      }),
    ];
    return (await Promise.all(checks)).flat();
  },
};
