import type { Address, Hex, LocalAccount } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { Chain } from '../client.ts';
import { chainCall } from '../rpc/chain-call.ts';
import { createMutex, type WalletContext } from './context.ts';
import { createFeeSource } from './fees.ts';
import type { Journal, JournalRow, StoredLog } from './journal.ts';
import { buildRowId, type PreparedCall, readNextNonce, reserveNonce } from './reserve-nonce.ts';
import { type GasBounds, type SimulationRejection, simulate } from './simulate.ts';
import { isFinalRow, waitForConfirmation } from './wait-for-confirmation.ts';

export type WalletRole = 'attester' | 'reporter' | 'facilitator' | 'provider';

export interface WalletOptions {
  chain: Chain;
  journal: Journal;
  role: WalletRole;
  account: LocalAccount;
  /** Age of an unmined transaction at which it is replaced by a dearer one. Default 30 s. */
  stuckAfterMs?: number;
  /** How long one call of `send` waits for confirmation. Default 120 s. */
  timeoutMs?: number;
  /** Wei per gas that no transaction exceeds. Default 100 gwei. */
  feeCapWei?: bigint;
  /** Ends waiting with SHUTTING_DOWN. */
  signal?: AbortSignal;
  /**
   * Asked before anything new is signed behind a transaction of the wallet that the journal does not have; may refuse. The transaction
   * stands, but for a reorganisation, above `afterBlock`; unset: somewhere after what the journal has.
   */
  allowForeignTransactions?(afterBlock?: number): Promise<void>;
}

export interface SendRequest {
  /** Names the effect within the role, such as `attest:2026-08-20`: it happens once, however often it is sent. */
  key: string;
  to: Address;
  data: Hex;
  /** Wei. */
  value?: bigint;
  /** Beyond them it is rejected before anything is signed. Unset: any gas at any cost. */
  bounds?: GasBounds;
}

export type BoundedSendRequest = SendRequest & { bounds: GasBounds };

/** A transaction that succeeded, at the confirmation depth. */
export interface ConfirmedTransaction {
  key: string;
  hash: Hex;
  from: Address;
  to: Address;
  nonce: number;
  blockNumber: number;
  blockHash: Hex;
  /** Time of the block. */
  at: Date;
  gasUsed: number;
  /** Wei. */
  effectiveGasPrice: bigint;
  /** What a rollup took for data on its parent chain beside the gas, in wei; 0 where it takes none. */
  l1Fee: bigint;
  logs: StoredLog[];
}

export interface Wallet {
  readonly role: WalletRole;
  readonly address: Address;
  /**
   * Sends a transaction and waits for its confirmation. The same key again continues or returns the first transaction, also in
   * another process, after a crash, and when `to` and `data` differ.
   * @throws OracleError CHAIN_REVERTED (for good once mined; beyond `bounds` with the `rejection` in its details),
   * TRANSACTION_UNCONFIRMED and CHAIN_UNREACHABLE (call again).
   */
  send(request: SendRequest): Promise<ConfirmedTransaction>;
  /** Why a transaction would not be sent now; null when it would. Nothing is signed. @throws OracleError CHAIN_UNREACHABLE */
  findRejection(request: BoundedSendRequest): Promise<SimulationRejection | null>;
  /** Whether a transaction of this key was signed, in whichever process, and may still be mined. */
  isPending(key: string): Promise<boolean>;
}

const RECOVERY_AFTER_POLLS = 4;
const MIN_RECOVERY_INTERVAL_MS = 250;

/**
 * The only signer of a role: any number of processes may hold the same wallet on the same database. A transaction is written to
 * the journal, signature included, before it is broadcast; so whatever crashes, only that transaction can be repeated.
 */
export function createWallet(options: WalletOptions): Wallet {
  const { chain, role, account } = options;
  const context: WalletContext = {
    ...options,
    fees: createFeeSource(chain.client),
    stuckAfterMs: options.stuckAfterMs ?? 30_000,
    timeoutMs: options.timeoutMs ?? 120_000,
    recoveryIntervalMs: Math.max(MIN_RECOVERY_INTERVAL_MS, RECOVERY_AFTER_POLLS * chain.pollingIntervalMs),
    feeCap: options.feeCapWei ?? 100n * 10n ** 9n,
    runExclusive: createMutex(),
    nonceGaps: new Map(),
    nodeRejections: new Map(),
  };
  return {
    role,
    address: account.address,
    send: (request) => sendTransaction(context, request),
    async findRejection({ to, data, value = 0n, bounds }) {
      const simulation = await simulate(context, { to, data, value }, bounds);
      return 'rejected' in simulation ? simulation.rejected : null;
    },
    async isPending(key) {
      const row = await context.journal.find(buildRowId(context, key));
      return row !== null && !isFinalRow(row);
    },
  };
}

async function sendTransaction(context: WalletContext, request: SendRequest): Promise<ConfirmedTransaction> {
  const known = await context.journal.find(buildRowId(context, request.key));
  if (known) return toConfirmedTransaction(isFinalRow(known) ? known : await waitForConfirmation(context, known, false));
  const [nonceOnChain, call] = await Promise.all([readNextNonce(context), prepareCall(context, request)]);
  const { row, fresh } = await reserveNonce(context, call, nonceOnChain);
  return toConfirmedTransaction(isFinalRow(row) ? row : await waitForConfirmation(context, row, fresh));
}

/** Estimates gas, so that what would revert is refused before a nonce is spent on it. A quarter is added for a state that moves on. */
async function prepareCall(context: WalletContext, { key, to, data, value = 0n, bounds }: SendRequest): Promise<PreparedCall> {
  const { chain, account, fees } = context;
  const call = { key, to, data, value: String(value) };
  if (bounds !== undefined) {
    const simulation = await simulate(context, { to, data, value }, bounds);
    if ('rejected' in simulation) throw rejectedError(key, simulation.rejected);
    return { ...call, gas: String(simulation.gas), quote: simulation.quote };
  }
  const [gas, quote] = await Promise.all([
    chainCall(`Transaction ${key}`, () => chain.client.estimateGas({ account: account.address, to, data, value })),
    fees.quote(),
  ]);
  return { ...call, gas: String(gas + gas / 4n), quote };
}

function rejectedError(key: string, rejection: SimulationRejection): OracleError {
  return new OracleError('CHAIN_REVERTED', `Transaction ${key} is not sent: it ${rejection}`, { details: { rejection } });
}

function toConfirmedTransaction({ key, address, to, nonce, state, receipt }: JournalRow): ConfirmedTransaction {
  const { effectiveGasPrice, l1FeeWei = '0', ...mined } = receipt!;
  if (state === 'REVERTED') throw new OracleError('CHAIN_REVERTED', `Transaction ${mined.hash} (${key}) reverted on chain`);
  return { key, from: address, to, nonce, ...mined, effectiveGasPrice: BigInt(effectiveGasPrice), l1Fee: BigInt(l1FeeWei) };
}
