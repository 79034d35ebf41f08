import type { Db } from 'mongodb';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Chain, createChain } from '../../chain/client.ts';
import { type Journal, openJournal } from '../../chain/tx/journal.ts';
import { createWallet, type Wallet, type WalletOptions, type WalletRole } from '../../chain/tx/wallet.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { ProcessContext } from '../process-context.ts';
import { requireKnownAttestations } from '../startup/known-attestations.ts';

/** How long one request waits for its payment to be confirmed. */
const SETTLEMENT_TIMEOUT_MS = 25_000;
/** How long one look at a job waits for its transaction: the next one goes on. */
const JOB_TIMEOUT_MS = 20_000;

/** The chain, and the only signer of each role. */
export interface ComposedChain {
  chain: Chain;
  /** What the wallets have sent. */
  journal: Journal;
  wallets: {
    attester: Wallet;
    reporter: Wallet;
    provider: Wallet;
    /** Settles payments; null where somebody else does. */
    facilitator: Wallet | null;
  };
}

/** Connects to the chain. @throws OracleError CONFIG_INVALID where it is another one than the settings say, CHAIN_UNREACHABLE */
export async function composeChain(
  { config, shutdown }: Pick<ProcessContext, 'config' | 'shutdown'>,
  db: Db,
  {
    rpcUrl,
    contracts,
    keys,
    localChain,
  }: Pick<Infrastructure, 'rpcUrl' | 'contracts' | 'keys'> & Partial<Pick<Infrastructure, 'localChain'>>,
): Promise<ComposedChain> {
  const isRealChain = config.chainMode === 'real';
  const chain = await createChain({
    rpcUrl,
    ...(localChain && { fetch: localChain.fetch }),
    chainId: config.CHAIN_ID,
    confirmations: config.CONFIRMATIONS ?? (isRealChain ? 5 : 1),
    pollingIntervalMs: isRealChain ? 1_000 : 2,
    addresses: contracts,
  });
  const journal = await openJournal(db);
  const wallet = (role: WalletRole, key: Hex, options: Pick<WalletOptions, 'timeoutMs' | 'allowForeignTransactions'> = {}) =>
    createWallet({ chain, journal, role, account: privateKeyToAccount(key), ...options, signal: shutdown.signal });
  const attester = privateKeyToAccount(keys.attester).address;
  const allowAfterOthers = (afterBlock?: number) =>
    requireKnownAttestations({ chain, journal, attester, isLocalChain: !isRealChain, afterBlock });
  return {
    chain,
    journal,
    wallets: {
      attester: wallet('attester', keys.attester, { allowForeignTransactions: allowAfterOthers }),
      reporter: wallet('reporter', keys.reporter),
      provider: wallet('provider', keys.provider, { timeoutMs: JOB_TIMEOUT_MS }),
      // Whoever pays waits for it, and asks again.
      facilitator: keys.facilitator === null ? null : wallet('facilitator', keys.facilitator, { timeoutMs: SETTLEMENT_TIMEOUT_MS }),
    },
  };
}
