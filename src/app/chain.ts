import { createRequire } from 'node:module';
import type { Db } from 'mongodb';
import { isAddressEqual } from 'viem';
import { setGate } from '../auth/tiers.ts';
import { type Chain, createChain } from '../chain/client.ts';
import { openJournal } from '../chain/journal.ts';
import {
  checkSigner,
  createKeySigner,
  createRoleSigner,
  createWeb3SignerBackend,
  createWeb3SignerRpc,
  getArnRegion,
  type KmsSdk,
  openKmsBackend,
  openKmsKey,
  type RoleSigner,
  SignerRefusal,
  type SignerSource,
  signerCall,
} from '../chain/signers.ts';
import { createWallet, type WalletOptions, type WalletRole } from '../chain/wallet.ts';
import type { Context } from '../context.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { createCache } from '../platform/concurrency.ts';
import { withTimeout } from '../platform/time.ts';
import type { Config } from '../settings.ts';
import { requireKnownAttestations } from './history.ts';
import { type Infrastructure, type ProcessContext, type SignerSources, toSettingRole } from './infrastructure.ts';

const SETTLEMENT_TIMEOUT_MS = 25_000;
const JOB_TIMEOUT_MS = 20_000;

export interface ComposedChain extends Pick<Context, 'chain' | 'journal' | 'wallets'> {
  signers: RoleSigners;
}

type ChainEndpoint = Pick<Infrastructure, 'rpcUrl' | 'contracts'> & Partial<Pick<Infrastructure, 'localChain'>>;

/** @throws OracleError CONFIG_INVALID if the endpoint reports another chain id, CHAIN_UNREACHABLE */
export function connectChain(config: Config, { rpcUrl, contracts, localChain }: ChainEndpoint): Promise<Chain> {
  const isRealChain = config.chainMode === 'real';
  return createChain({
    rpcUrl,
    ...(localChain && { fetch: localChain.fetch }),
    chainId: config.CHAIN_ID,
    confirmations: config.CONFIRMATIONS ?? (isRealChain ? 5 : 1),
    finalityBlocks: config.FINALITY_BLOCKS,
    pollingIntervalMs: isRealChain ? 1_000 : 2,
    addresses: config.GATE_WALLETS === undefined ? contracts : { ...contracts, gateToken: null },
    gateWallets: config.GATE_WALLETS,
  });
}

/** @throws OracleError as `connectChain` and `openSigners` */
export async function composeChain(
  { config, shutdown }: Pick<ProcessContext, 'config' | 'shutdown'>,
  db: Db,
  infrastructure: ChainEndpoint & Pick<Infrastructure, 'signers'>,
): Promise<ComposedChain> {
  const { rpcUrl, contracts, localChain } = infrastructure;
  const isRealChain = config.chainMode === 'real';
  const chain = await connectChain(config, { rpcUrl, contracts, localChain });
  setGate(chain.gateWallets === undefined ? 'token' : 'list');
  const journal = await openJournal(db);
  const signers = await openSigners(config, infrastructure.signers);
  const wallet = ({ role, account }: RoleSigner, options: Pick<WalletOptions, 'timeoutMs' | 'allowForeignTransactions'> = {}) =>
    createWallet({ chain, journal, role, account, ...options, signal: shutdown.signal });
  const attester = signers.attester.account.address;
  const allowForeignTransactions = (afterBlock?: number) =>
    requireKnownAttestations({ chain, journal, attester, isLocalChain: !isRealChain, afterBlock });
  return {
    chain,
    journal,
    signers,
    wallets: {
      attester: wallet(signers.attester, { allowForeignTransactions }),
      reporter: wallet(signers.reporter),
      provider: wallet(signers.provider, { timeoutMs: JOB_TIMEOUT_MS }),
      // The payer's request waits for the settlement, and the payer retries.
      facilitator: signers.facilitator === null ? null : wallet(signers.facilitator, { timeoutMs: SETTLEMENT_TIMEOUT_MS }),
    },
  };
}

export type SignerConfig = Pick<
  Config,
  'CHAIN_ID' | 'AWS_REGION' | 'AWS_ENDPOINT_URL_KMS' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN'
>;

type RoleSigners = Record<Exclude<WalletRole, 'facilitator'>, RoleSigner> & { facilitator: RoleSigner | null };

/**
 * Opens the signers of all roles and has each sign what its role needs. @throws OracleError CONFIG_INVALID for a signer that refuses, one of
 * another address or one in two roles; SIGNER_UNAVAILABLE for one that does not answer
 */
export async function openSigners(config: SignerConfig, sources: SignerSources): Promise<RoleSigners> {
  const open = async (role: WalletRole, source: SignerSource) => {
    const signer = await openSigner(config, role, source);
    await explainRefusal(role, () => checkSigner(signer, config.CHAIN_ID));
    return signer;
  };
  const [attester, reporter, provider, facilitator] = await Promise.all([
    open('attester', sources.attester),
    open('reporter', sources.reporter),
    open('provider', sources.provider),
    sources.facilitator === null ? null : open('facilitator', sources.facilitator),
  ]);
  requireDistinct([attester, reporter, facilitator, provider].filter((signer) => signer !== null));
  return { attester, reporter, provider, facilitator };
}

/** Without having it sign anything. @throws OracleError as `openSigners` */
export async function openSigner(config: SignerConfig, role: WalletRole, source: SignerSource): Promise<RoleSigner> {
  const signer = await explainRefusal(role, () => createSigner(config, role, source));
  const { address } = signer.account;
  if (source.address !== undefined && !isAddressEqual(address, source.address))
    throw settingError(role, 'ADDRESS', `is ${source.address}, but the wallet of the ${role} is ${address}`);
  return signer;
}

async function createSigner(config: SignerConfig, role: WalletRole, source: SignerSource): Promise<RoleSigner> {
  if (source.kind === 'key') return createKeySigner(role, source.privateKey);
  if (source.kind === 'web3signer') return createRoleSigner(role, createWeb3SignerBackend(createWeb3SignerRpc(source.url), source.address));
  const sdk = loadKmsSdk(`${toSettingRole(role)}_SIGNER`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = config;
  const key = openKmsKey(sdk, {
    keyId: source.keyId,
    region: getArnRegion(source.keyId) ?? config.AWS_REGION!,
    endpoint: config.AWS_ENDPOINT_URL_KMS,
    ...(accessKeyId !== undefined && secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey, sessionToken } }),
  });
  return createRoleSigner(role, await signerCall(role, () => openKmsBackend(key)));
}

/** At the start an answer that is an error is a wrong setting: waiting does not change it. */
async function explainRefusal<T>(role: WalletRole, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOracleError(error, 'SIGNER_UNAVAILABLE') || !(error.cause instanceof SignerRefusal)) throw error;
    throw settingError(role, 'SIGNER', `cannot sign for the ${role}: ${error.cause.message}`, error.cause);
  }
}

/** Two names may lead to one key of KMS. Each wallet has one nonce queue. */
function requireDistinct(signers: readonly RoleSigner[]): void {
  signers.forEach(({ role, account }, index) => {
    const other = signers.slice(0, index).find((before) => isAddressEqual(before.account.address, account.address));
    if (other !== undefined)
      throw settingError(role, 'SIGNER', `has the wallet of the ${other.role}, ${account.address}: each role has a wallet of its own`);
  });
}

function settingError(role: WalletRole, kind: 'SIGNER' | 'ADDRESS', problem: string, cause?: Error): OracleError {
  const field = `${toSettingRole(role)}_${kind}`;
  return new OracleError('CONFIG_INVALID', `Setting ${field}: ${problem}`, {
    field,
    suggestedAction: `Correct ${field}; docs/OPERATE.md, "Keys", says what a signer needs.`,
    cause,
  });
}

export const KMS_PACKAGE = '@aws-sdk/client-kms';

/** Loads the optional package. @param setting the one that names a KMS key @throws OracleError CONFIG_INVALID with the command that installs it */
export function loadKmsSdk(setting: string, load: (name: string) => unknown = createRequire(import.meta.url)): KmsSdk {
  try {
    return load(KMS_PACKAGE) as KmsSdk;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    const problem = `names a key of AWS KMS, for which the package ${KMS_PACKAGE} is not installed`;
    throw new OracleError('CONFIG_INVALID', `Setting ${setting}: ${problem}`, {
      field: setting,
      suggestedAction: `npm install --no-save ${KMS_PACKAGE}@3`,
      cause,
    });
  }
}

type Health = { detail: string } | { error: unknown };

/** `/ready` is public: its callers cause one request a signer in this time. */
const MAX_AGE_MS = 30_000;
/** Shorter than the time that a signature may take: health probes need a prompt answer. */
const HEALTH_TIMEOUT_MS = 3_000;

/** Whether the signers outside this process answer; null without any. @throws OracleError SIGNER_UNAVAILABLE naming a role */
export function composeSignerHealth(signers: RoleSigners, now: () => Date): (() => Promise<string>) | null {
  const remote = Object.values(signers).filter((signer): signer is RoleSigner => signer !== null && signer.ping !== null);
  if (remote.length === 0) return null;
  const cache = createCache<Health>('signers', 1);
  return async () => {
    const health = await cache.get(Math.floor(now().getTime() / MAX_AGE_MS), () => readHealth(remote));
    if ('error' in health) throw health.error;
    return health.detail;
  };
}

async function readHealth(remote: readonly RoleSigner[]): Promise<Health> {
  try {
    const timeoutError = (role: string) =>
      new OracleError('SIGNER_UNAVAILABLE', `The signer of the ${role} does not answer within ${HEALTH_TIMEOUT_MS} ms`);
    await Promise.all(remote.map(({ role, ping }) => withTimeout(HEALTH_TIMEOUT_MS, ping!(), () => timeoutError(role))));
    return { detail: `answer: ${remote.map(({ role }) => role).join(', ')}` };
  } catch (error) {
    return { error };
  }
}
