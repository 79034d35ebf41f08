import type { Address, Hex, LocalAccount } from 'viem';
import { OracleError } from '../errors.ts';
import type { Chain } from './client.ts';
import type { Journal, JournalRow, StoredLog } from './journal.ts';
import { chainCall } from './rpc-error.ts';
import { confirm, isFinal } from './tx/confirm.ts';
import { createExclusive, type WalletContext } from './tx/context.ts';
import { createFees } from './tx/fees.ts';
import { nextNonceOnChain, type PreparedCall, reserve, rowId } from './tx/reserve.ts';
import { type GasBounds, type Rejection, simulate } from './tx/simulate.ts';

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
  allowAfterOthers?(afterBlock?: number): Promise<void>;
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

export type BoundedRequest = SendRequest & { bounds: GasBounds };

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
  findRejection(request: BoundedRequest): Promise<Rejection | null>;
  /** Whether a transaction of this key was signed, in whichever process, and may still be mined. */
  isUnderWay(key: string): Promise<boolean>;
}

const HEAL_AFTER_POLLS = 4;
const LEAST_HEAL_MS = 250;

/**
 * The only signer of a role: any number of processes may hold the same wallet on the same database. A transaction is written to
 * the journal, signature included, before it is broadcast; so whatever crashes, only that transaction can be repeated.
 */
export function createWallet(options: WalletOptions): Wallet {
  const { chain, role, account } = options;
  const context: WalletContext = {
    ...options,
    fees: createFees(chain.client),
    stuckAfterMs: options.stuckAfterMs ?? 30_000,
    timeoutMs: options.timeoutMs ?? 120_000,
    healEveryMs: Math.max(LEAST_HEAL_MS, HEAL_AFTER_POLLS * chain.pollingIntervalMs),
    feeCap: options.feeCapWei ?? 100n * 10n ** 9n,
    exclusive: createExclusive(),
    holes: new Map(),
    refusals: new Map(),
  };
  return {
    role,
    address: account.address,
    send: (request) => send(context, request),
    async findRejection({ to, data, value = 0n, bounds }) {
      const simulation = await simulate(context, { to, data, value }, bounds);
      return 'rejected' in simulation ? simulation.rejected : null;
    },
    async isUnderWay(key) {
      const row = await context.journal.find(rowId(context, key));
      return row !== null && !isFinal(row);
    },
  };
}

async function send(context: WalletContext, request: SendRequest): Promise<ConfirmedTransaction> {
  const known = await context.journal.find(rowId(context, request.key));
  if (known) return outcome(isFinal(known) ? known : await confirm(context, known, false));
  const [nonceOnChain, call] = await Promise.all([nextNonceOnChain(context), prepare(context, request)]);
  const { row, fresh } = await reserve(context, call, nonceOnChain);
  return outcome(isFinal(row) ? row : await confirm(context, row, fresh));
}

/** Estimates gas, so that what would revert is refused before a nonce is spent on it. A quarter is added for a state that moves on. */
async function prepare(context: WalletContext, { key, to, data, value = 0n, bounds }: SendRequest): Promise<PreparedCall> {
  const { chain, account, fees } = context;
  const call = { key, to, data, value: String(value) };
  if (bounds !== undefined) {
    const simulation = await simulate(context, { to, data, value }, bounds);
    if ('rejected' in simulation) throw rejected(key, simulation.rejected);
    return { ...call, gas: String(simulation.gas), quote: simulation.quote };
  }
  const [gas, quote] = await Promise.all([
    chainCall(`Transaction ${key}`, () => chain.client.estimateGas({ account: account.address, to, data, value })),
    fees.quote(),
  ]);
  return { ...call, gas: String(gas + gas / 4n), quote };
}

function rejected(key: string, rejection: Rejection): OracleError {
  return new OracleError('CHAIN_REVERTED', `Transaction ${key} is not sent: it ${rejection}`, { details: { rejection } });
}

function outcome({ key, address, to, nonce, state, receipt }: JournalRow): ConfirmedTransaction {
  const { effectiveGasPrice, l1FeeWei = '0', ...mined } = receipt!;
  if (state === 'REVERTED') throw new OracleError('CHAIN_REVERTED', `Transaction ${mined.hash} (${key}) reverted on chain`);
  return { key, from: address, to, nonce, ...mined, effectiveGasPrice: BigInt(effectiveGasPrice), l1Fee: BigInt(l1FeeWei) };
}
