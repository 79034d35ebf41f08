import type { Db } from 'mongodb';
import { type Chain, createChain, readChainHealth, readPendingBlockTime } from '../chain/client.ts';
import { createReadOnlyRpc, type RpcAccess } from '../chain/rpc-proxy/read-only-rpc.ts';
import type { RoleSigner } from '../chain/signers/role-signer.ts';
import { type Journal, openJournal } from '../chain/tx/journal.ts';
import { createWallet, type Wallet, type WalletOptions } from '../chain/tx/wallet.ts';
import { PUBLIC_ROLES, readWalletFunds, type WalletFunds } from '../chain/wallet-funds.ts';
import { createCache } from '../platform/cache.ts';
import { BASE_CHAIN_ID } from '../platform/config/chain-ids.ts';
import type { Config } from '../platform/config/settings.ts';
import type { Database } from '../platform/mongo.ts';
import { joinUrl } from '../platform/service-url.ts';
import { createTrustedTime, type TrustedTime } from '../platform/time/trusted-time.ts';
import { RPC_PATH } from '../transports/http/service/rpc/routes.ts';
import type { Infrastructure } from './infrastructure.ts';
import type { ProcessContext } from './process-context.ts';
import { openSigners, type RoleSigners } from './signers/open-signers.ts';
import { requireKnownAttestations } from './startup/known-attestations.ts';

const SETTLEMENT_TIMEOUT_MS = 25_000;
const JOB_TIMEOUT_MS = 20_000;

export interface ComposedChain {
  chain: Chain;
  journal: Journal;
  signers: RoleSigners;
  wallets: {
    attester: Wallet;
    reporter: Wallet;
    provider: Wallet;
    /** Settles payments; null with a remote facilitator. */
    facilitator: Wallet | null;
  };
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
    pollingIntervalMs: isRealChain ? 1_000 : 2,
    addresses: contracts,
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

export function composeTrustedTime(
  { config, log, shutdown }: ProcessContext,
  { chain, database, now }: { chain: Chain; database: Pick<Database, 'now'>; now(): Date },
): TrustedTime {
  const isLocal = config.chainMode !== 'real';
  return createTrustedTime({
    now,
    databaseNow: () => database.now(),
    // A local chain makes blocks only for transactions; its pending block carries the time of the chain's own clock.
    newestBlockAt: async () => (isLocal ? readPendingBlockTime(chain) : (await readChainHealth(chain)).at),
    signal: shutdown.signal,
    onChange: (reason) => {
      if (reason === null) log.info('the clocks of process and database agree again');
      else log.error({ reason }, 'the clocks of process and database disagree');
    },
  });
}

export function composeWalletFunds(deps: Pick<ComposedChain, 'chain' | 'wallets'> & { db: Db; now(): Date }): () => Promise<WalletFunds[]> {
  const { db, chain, wallets, now } = deps;
  const roles = PUBLIC_ROLES.map((role) => ({ role, address: wallets[role].address }));
  const cache = createCache<WalletFunds[]>('wallet-funds', 1);
  return () => cache.get(Math.floor(now().getTime() / 60_000), () => readWalletFunds({ db, chain }, roles, now()));
}

const BASE_RPC_URL = 'https://mainnet.base.org';

/** Chain endpoint for verifiers. `CHAIN_RPC_URL` is never published: it may contain an API key. */
export function composePublicRpc(options: {
  config: Pick<Config, 'chainMode' | 'CHAIN_ID' | 'PUBLIC_RPC_URL'>;
  rpcUrl: string;
  contracts: Infrastructure['contracts'];
  publicUrl: string;
}): RpcAccess {
  const { config, rpcUrl, publicUrl } = options;
  const contracts = Object.values(options.contracts).filter((address) => address !== null);
  if (config.chainMode !== 'real') return { rpc: createReadOnlyRpc({ rpcUrl, contracts }), rpcUrl: joinUrl(publicUrl, RPC_PATH) };
  return { rpc: null, rpcUrl: config.PUBLIC_RPC_URL ?? (config.CHAIN_ID === BASE_CHAIN_ID ? BASE_RPC_URL : null) };
}
