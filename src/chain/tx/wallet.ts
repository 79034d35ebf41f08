import PQueue from 'p-queue';
import type { Address, Hex } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import { inSpan } from '../../platform/tracing/span.ts';
import { chainCall } from '../rpc/chain-call.ts';
import type { WalletContext } from './context.ts';
import { createFeeSource } from './fees.ts';
import type { JournalRow, StoredReceipt } from './journal.ts';
import { buildRowId, type PreparedCall, readNextNonce, reserveNonce } from './reserve-nonce.ts';
import { type GasBounds, type SimulationRejection, simulate } from './simulate.ts';
import { isFinalRow, waitForConfirmation } from './wait-for-confirmation.ts';

export type WalletRole = 'attester' | 'reporter' | 'facilitator' | 'provider';

type ContextOption = 'chain' | 'journal' | 'account' | 'signal' | 'allowForeignTransactions';

/** By default unmined transactions are replaced after 30 s, a `send` ends after 120 s, and gas costs at most 100 gwei. */
export interface WalletOptions extends Pick<WalletContext, ContextOption>, Partial<Pick<WalletContext, 'stuckAfterMs' | 'timeoutMs'>> {
  role: WalletRole;
  /** Maximum fee in wei per gas. */
  feeCapWei?: bigint;
}

export interface SendRequest {
  /** Idempotency key: names the effect within the role, such as `attest:2026-08-20`. */
  key: string;
  to: Address;
  data: Hex;
  /** Wei. */
  value?: bigint;
  /** Limits beyond which the request is rejected before it is signed. Unset: unlimited. */
  bounds?: GasBounds;
}

export type BoundedSendRequest = SendRequest & { bounds: GasBounds };

/** A successful transaction at the confirmation depth. */
export interface ConfirmedTransaction
  extends Omit<StoredReceipt, 'effectiveGasPrice' | 'l1FeeWei'>,
    Pick<JournalRow, 'key' | 'to' | 'nonce'> {
  from: Address;
  /** Wei. */
  effectiveGasPrice: bigint;
  /** Data fee of a rollup on its parent chain, in wei; 0 on a chain without one. */
  l1Fee: bigint;
}

export interface Wallet {
  readonly role: WalletRole;
  readonly address: Address;
  /**
   * A repeated key continues or returns the first transaction, also after a crash, and when `to` and `data` differ. @throws OracleError
   * CHAIN_REVERTED (beyond `bounds` with the `rejection` in its details), TRANSACTION_UNCONFIRMED and CHAIN_UNREACHABLE (retry).
   */
  send(request: SendRequest): Promise<ConfirmedTransaction>;
  /** Why a transaction would be rejected now, or null. Signs nothing. @throws OracleError CHAIN_UNREACHABLE */
  findRejection(request: BoundedSendRequest): Promise<SimulationRejection | null>;
  isPending(key: string): Promise<boolean>;
}

const RECOVERY_AFTER_POLLS = 4;
const MIN_RECOVERY_INTERVAL_MS = 250;

/** The only signer of a role, in any number of processes: a signature is stored before the broadcast, and only that one is sent again. */
export function createWallet(options: WalletOptions): Wallet {
  const { chain, role, account } = options;
  const mutex = new PQueue({ concurrency: 1 });
  const context: WalletContext = {
    ...options,
    fees: createFeeSource(chain.client),
    stuckAfterMs: options.stuckAfterMs ?? 30_000,
    timeoutMs: options.timeoutMs ?? 120_000,
    recoveryIntervalMs: Math.max(MIN_RECOVERY_INTERVAL_MS, RECOVERY_AFTER_POLLS * chain.pollingIntervalMs),
    feeCap: options.feeCapWei ?? 100n * 10n ** 9n,
    runExclusive: (work) => mutex.add(work),
    nonceGaps: new Map(),
    nodeRejections: new Map(),
  };
  return {
    role,
    address: account.address,
    // The key is not an attribute: that of a payment names its payer.
    send: (request) => inSpan({ name: `transaction ${role}`, fields: { txKey: request.key } }, () => sendTransaction(context, request)),
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
  // Most keys are new: the chain is asked what a new one needs while the journal is asked for an earlier transaction.
  const prepared = Promise.all([readNextNonce(context), prepareCall(context, request)]);
  prepared.catch(() => undefined);
  let row = await context.journal.find(buildRowId(context, request.key));
  let fresh = false;
  if (row === null) {
    const [nonceOnChain, call] = await prepared;
    ({ row, fresh } = await reserveNonce(context, call, nonceOnChain));
  }
  return toConfirmedTransaction(isFinalRow(row) ? row : await waitForConfirmation(context, row, fresh));
}

/** Estimates gas, so that a reverting call is rejected before it uses a nonce. Adds a quarter for later state changes. */
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
