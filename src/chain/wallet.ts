import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import PQueue from 'p-queue';
import {
  type Address,
  type Hex,
  HttpRequestError,
  isAddressEqual,
  keccak256,
  type LocalAccount,
  numberToHex,
  type PublicClient,
  parseAbi,
  TimeoutError,
  type Transaction,
  type TransactionReceipt,
} from 'viem';
import { isOracleError, OracleError, orElse } from '../errors.ts';
import { inSpan } from '../platform/tracing.ts';
import { type Chain, REORG_MARGIN_BLOCKS, readConfirmedBlockNumber, readFinalBlockNumber } from './client.ts';
import {
  bumpFees,
  capFees,
  createFeeSource,
  type FeeQuote,
  type FeeSource,
  type Fees,
  type InclusionStatus,
  type Journal,
  type JournalRow,
  type JournalState,
  type MinedRow,
  readInclusion,
  type SignedAttempt,
  type StoredReceipt,
} from './journal.ts';
import { chainCall, findFirstBlockWhere, getNodeMessage, toChainError, withChainTimeout } from './rpc.ts';

export type WalletRole = 'attester' | 'reporter' | 'facilitator' | 'provider';

/** By default unmined transactions are replaced after 30 s, a `send` ends after 120 s, and gas costs at most 100 gwei. */
export interface WalletOptions
  extends Pick<WalletContext, 'chain' | 'journal' | 'account' | 'signal' | 'allowForeignTransactions'>,
    Partial<Pick<WalletContext, 'stuckAfterMs' | 'timeoutMs'>> {
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
  /** The data follow from earlier transactions: what a reorganisation took off the chain is sent with these, also if it reverted since. */
  followsOthers?: boolean;
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
  /** One step for a transaction that a reorganisation took off the chain, without a wait. @throws as `send` */
  resume(row: JournalRow): Promise<void>;
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
    async resume(row) {
      await pollRow(context, row);
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
  } else if (request.followsOthers === true && isToAmend(row, request)) {
    const [nonceOnChain, call] = await prepared;
    // Under its nonce, of whose signatures one is mined at most; under the next one where the nonce is used.
    const isNonceUsed = nonceOnChain > row.nonce;
    const amended = isNonceUsed ? await moveToNextNonce(context, row, nonceOnChain, call) : await replaceCall(context, row, call);
    row = amended ?? (await reloadRow(context, row));
  }
  return toConfirmedTransaction(isFinalRow(row) ? row : await waitForConfirmation(context, row, fresh));
}

/** It was on chain, is not any more, and what it says is no longer right. */
function isToAmend({ lost, state, data }: JournalRow, request: SendRequest): boolean {
  return lost !== undefined && (state === 'REVERTED' || (state === 'SENT' && data.toLowerCase() !== request.data.toLowerCase()));
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

/** Cost limits of a transaction whose code or data a client chose. */
export interface GasBounds {
  maxGas: bigint;
  /** Maximum cost in wei at the current fees, a rollup's data fee included; null: unlimited. */
  maxCostWei: bigint | null;
  /** The client chose the code: the simulation also runs with exactly the gas limit that is sent. */
  runsForeignCode: boolean;
}

export type SimulationRejection = 'reverts' | 'needs too much gas' | 'costs too much';

type SimulatedCall = Required<Pick<SendRequest, 'to' | 'data' | 'value'>>;
type Simulation = { gas: bigint; quote: FeeQuote } | { rejected: SimulationRejection };

const SIMULATION_TIMEOUT_MS = 5_000;
/** Messages of nodes that do not report a failure of the called code as a revert. */
const OUT_OF_GAS_MESSAGE = /out of ?gas|exceeds allowance|intrinsic gas too low|gas floor/;
const CODE_FAILURE_MESSAGE = /invalid ?(fe)?opcode|invalid jump|opcode not found|stack ?(under|over)flow|evm ?error|execution reverted/;

/** On the pending block, with a quarter more gas for later changes. @throws CHAIN_UNREACHABLE after 5 s, or without funds for `maxGas` */
async function simulate(context: WalletContext, call: SimulatedCall, bounds: GasBounds): Promise<Simulation> {
  const { chain, fees, feeCap } = context;
  const quote = await fees.quote();
  const offered = capFees(quote, feeCap);
  return withChainTimeout(SIMULATION_TIMEOUT_MS, 'Simulating a transaction', async () => {
    const { maxGas, maxCostWei, runsForeignCode } = bounds;
    const [estimate, dataFee] = await Promise.all([
      runSimulation(context, { offered, gas: maxGas }, (options) => chain.client.estimateGas({ ...call, ...options })),
      maxCostWei === null ? 0n : readL1DataFee(chain.client, call.data),
    ]);
    if (typeof estimate === 'string') return { rejected: estimate };
    const gas = estimate + estimate / 4n;
    if (gas > maxGas) return { rejected: 'needs too much gas' };
    if (maxCostWei !== null && gas * estimateGasPrice(quote) + dataFee > maxCostWei) return { rejected: 'costs too much' };
    if (!runsForeignCode) return { gas, quote };
    const outcome = await runSimulation(context, { offered, gas }, (options) => chain.client.call({ ...call, ...options }));
    return typeof outcome === 'string' ? { rejected: outcome } : { gas, quote };
  });
}

async function runSimulation<T extends object | bigint>(
  context: WalletContext,
  { offered, gas }: { offered: Fees; gas: bigint },
  request: (options: Fees & { account: Address; gas: bigint; blockTag: 'pending' }) => Promise<T>,
): Promise<T | SimulationRejection> {
  try {
    return await request({ account: context.account.address, gas, ...offered, blockTag: 'pending' });
  } catch (error) {
    const wrapped = toChainError('Simulating a transaction', error);
    const message = getNodeMessage(error);
    if (OUT_OF_GAS_MESSAGE.test(message)) {
      await requireGasFunds(context, gas * offered.maxFeePerGas);
      return 'needs too much gas';
    }
    if (isOracleError(wrapped, 'CHAIN_REVERTED') || CODE_FAILURE_MESSAGE.test(message)) return 'reverts';
    throw wrapped;
  }
}

/** Nodes lower the gas of a simulation to what its sender can pay: out of gas is then the wallet's fault, not the call's. */
async function requireGasFunds({ chain, account }: WalletContext, wei: bigint): Promise<void> {
  const balance = await chainCall('Reading a balance', () => chain.client.getBalance({ address: account.address }));
  if (balance >= wei) return;
  throw new OracleError('CHAIN_UNREACHABLE', `The wallet ${account.address} has too little for gas`);
}

/** Wei per gas after one rise of the base fee, at most an eighth, before the transaction is mined. */
function estimateGasPrice({ baseFeePerGas, maxPriorityFeePerGas }: FeeQuote): bigint {
  return baseFeePerGas + baseFeePerGas / 8n + maxPriorityFeePerGas;
}

/** Predeploy of OP Stack rollups such as Base. */
const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000F';
const gasPriceOracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)']);

/** Data fee of a rollup in wei; 0 on a chain without one. */
export async function readL1DataFee(client: PublicClient, data: Hex): Promise<bigint> {
  const call = { address: GAS_PRICE_ORACLE, abi: gasPriceOracleAbi, functionName: 'getL1Fee', args: [data] } as const;
  return chainCall('Reading the data fee', () => client.readContract(call)).catch(orElse('CHAIN_REVERTED', 0n));
}

const MAX_CONSECUTIVE_FAILURES = 3;
/** The first poll comes after an eighth of the interval, for chains that mine instantly. */
const FIRST_POLL_DIVISOR = 8;

/** @param fresh the row has not been broadcast yet @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, SHUTTING_DOWN */
async function waitForConfirmation(context: WalletContext, row: JournalRow, fresh: boolean): Promise<JournalRow> {
  const { pollingIntervalMs } = context.chain;
  const deadline = performance.now() + context.timeoutMs;
  let current = row;
  let nextRecoveryAt = 0;
  if (fresh && (await broadcast(context, getLastAttempt(row))) === 'sent') nextRecoveryAt = performance.now() + context.recoveryIntervalMs;
  let lastFailure: unknown;
  let pauseMs = pollingIntervalMs / FIRST_POLL_DIVISOR;
  for (let failures = 0; ; ) {
    try {
      current = await pollRow(context, current, nextRecoveryAt);
      failures = 0;
    } catch (error) {
      failures += 1;
      lastFailure = error;
      // Without its signer a transaction is not replaced, but what was broadcast may still be mined.
      const mayPass = isOracleError(error, 'CHAIN_UNREACHABLE') || isOracleError(error, 'SIGNER_UNAVAILABLE');
      if (!mayPass || failures >= MAX_CONSECUTIVE_FAILURES) throw error;
    }
    if (isFinalRow(current)) {
      for (const { hash } of current.attempts) context.nodeRejections.delete(hash);
      return current;
    }
    if (performance.now() > deadline) throw unconfirmedError(context, current, lastFailure);
    if (performance.now() >= nextRecoveryAt) nextRecoveryAt = performance.now() + context.recoveryIntervalMs;
    await waitForNextPoll(context, pauseMs);
    pauseMs = Math.min(2 * pauseMs, pollingIntervalMs);
  }
}

function isFinalRow(row: JournalRow): boolean {
  return row.state === 'CONFIRMED' || row.state === 'REVERTED';
}

/** One look at a transaction that is not final: confirms it at its depth, and from `nextRecoveryAt` on brings it on its way again. */
async function pollRow(context: WalletContext, row: JournalRow, nextRecoveryAt = 0): Promise<JournalRow> {
  const inclusion = await readPollStatus(context, row);
  if (inclusion.at === 'depth') {
    const { state, receipt } = inclusion;
    return (await context.journal.update(row, { state, receipt, isWatched: true })) ?? reloadRow(context, row);
  }
  if (inclusion.at === 'shallow' || performance.now() < nextRecoveryAt) return row;
  await recoverStuckTransaction(context, row);
  return reloadRow(context, row);
}

/** One request, however often a transaction was signed: while its nonce is unused, none of the signatures can have a receipt. */
async function readPollStatus(context: WalletContext, row: JournalRow): Promise<InclusionStatus> {
  const isMany = row.attempts.length > 1 && row.address === context.account.address;
  if (isMany && (await readNextNonce(context)) <= row.nonce) return { at: 'unseen' };
  return readInclusion(context.chain, row);
}

/** Another worker may have replaced, moved or confirmed the row. */
async function reloadRow({ journal }: WalletContext, row: JournalRow): Promise<JournalRow> {
  return (await journal.find(row._id)) ?? row;
}

async function waitForNextPoll({ signal }: WalletContext, ms: number): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping; the transaction is followed up at the next start', { cause });
  }
}

function unconfirmedError({ timeoutMs, nodeRejections }: WalletContext, row: JournalRow, cause: unknown): OracleError {
  const { hash } = getLastAttempt(row);
  const rejection = nodeRejections.get(hash);
  const transaction = `Transaction ${hash} (${row.key}, nonce ${row.nonce})`;
  return new OracleError(
    'TRANSACTION_UNCONFIRMED',
    `${transaction} is not confirmed after ${timeoutMs / 1000} s${rejection ? `; the node says: ${rejection}` : ''}`,
    { suggestedAction: 'Retry with the same key: it continues the same transaction.', cause },
  );
}

/** A block that something was in. */
export interface MinedBlock {
  number: number;
  hash: Hex;
}

/** Of a receipt. */
export function toMinedBlock({ blockNumber, blockHash }: Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>): MinedBlock {
  return { number: Number(blockNumber), hash: blockHash };
}

/**
 * `lost`: in blocks that the chain replaced by others. Every watched block up to `finalThrough`, -1 for none, is canonical and final. A block names the hash of the one before, so that one request is enough where nothing was lost.
 * Ends without a finding at a block that the endpoint does not have: a node that is behind proves nothing. @param watched highest block first
 */
export async function watchCanonical<Mined>(
  chain: Chain,
  watched: AsyncIterable<Mined>,
  getBlock: (mined: Mined) => MinedBlock,
): Promise<{ lost: Mined[]; finalThrough: number }> {
  const lost: Mined[] = [];
  let known: { number: number; hash: Hex | null } | undefined;
  for await (const mined of watched) {
    const block = getBlock(mined);
    if (known?.number !== block.number) known = { number: block.number, hash: await readBlockHash(chain, block.number) };
    if (known.hash === null) return { lost: [], finalThrough: -1 };
    if (known.hash === block.hash) return { lost, finalThrough: Math.min(block.number, await readFinalBlockNumber(chain)) };
    lost.push(mined);
  }
  return { lost, finalThrough: -1 };
}

/** Null on an endpoint without that block. @throws OracleError CHAIN_UNREACHABLE */
async function readBlockHash({ client }: Chain, number: number): Promise<Hex | null> {
  const newest = await chainCall('Reading the block number', () => client.getBlockNumber());
  if (newest < number) return null;
  const read = () => client.request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] });
  return (await chainCall('Reading a block', read))?.hash ?? null;
}

interface FollowMinedDeps extends Pick<WalletContext, 'chain' | 'journal'> {
  now(): Date;
  /** Takes back what follows from a receipt that is no longer true; may be repeated. */
  onLost(row: JournalRow, receipt: StoredReceipt): Promise<void>;
}

/**
 * Looks after mined transactions until their blocks are final. Those that a reorganisation took off the chain are open again in the journal, or
 * have the receipt of their new block, and `onLost` is called. @throws OracleError CHAIN_UNREACHABLE
 */
export async function followMined({ chain, journal, now, onLost }: FollowMinedDeps): Promise<void> {
  const { chainId } = chain;
  const takeBack = async () => {
    for (const row of await journal.listUnhandled(chainId)) {
      await onLost(row, row.lost!.receipt);
      await journal.markHandled(row);
    }
  };
  // First what an earlier look left behind, before a row may be lost another time.
  await takeBack();
  const { lost, finalThrough } = await watchCanonical(chain, journal.listWatched(chainId), ({ receipt }: MinedRow) => ({
    number: receipt.blockNumber,
    hash: receipt.blockHash,
  }));
  for (const row of lost.toReversed()) await reopen({ chain, journal, now }, row);
  if (lost.length > 0) await takeBack();
  if (finalThrough >= 0) await journal.settle(chainId, finalThrough);
}

async function reopen({ chain, journal, now }: Omit<FollowMinedDeps, 'onLost'>, row: MinedRow): Promise<void> {
  const found = await readInclusion(chain, row);
  const lost = { at: now(), receipt: row.receipt, isHandled: false };
  if (found.at !== 'depth') {
    await journal.update(row, { state: 'SENT', receipt: null, isWatched: false, lost });
    return;
  }
  const { state, receipt } = found;
  // Another node answers that does not know the new blocks yet.
  if (receipt.blockHash === row.receipt.blockHash) return;
  const isSame = isDeepStrictEqual({ ...receipt, blockHash: row.receipt.blockHash }, row.receipt);
  await journal.update(row, { state, receipt, isWatched: true, ...(isSame ? {} : { lost }) });
}

/** Rebroadcasts, and unblocks the wallet's lowest open nonce, which blocks all higher ones. Safe to run concurrently in several processes. */
async function recoverStuckTransaction(context: WalletContext, row: JournalRow): Promise<void> {
  if (row.address !== context.account.address) {
    // Signed with a previous key of the role: it can be rebroadcast, but not replaced.
    await broadcast(context, getLastAttempt(row));
    return;
  }
  const next = await readNextNonce(context);
  if (next > row.nonce) return recoverUsedNonce(context, row, next);
  await unblockNonce(context, next);
  if (next < row.nonce) await broadcast(context, getLastAttempt(row));
}

/** Used by the row's own attempt: wait; by the same call under a lost signature: adopt it; by a foreign transaction: take a new nonce. */
async function recoverUsedNonce(context: WalletContext, row: JournalRow, next: number): Promise<void> {
  if ((await readInclusion(context.chain, row)).at !== 'unseen') return;
  const other = await findDisplacingTransaction(context, row);
  if (other === null) return;
  if (isSameCall(other, row)) {
    // Prepended, since the last attempt is the one that is rebroadcast and replaced.
    await context.journal.update(row, { attempts: [toMinedAttempt(other), ...row.attempts] });
    return;
  }
  const moved = await moveToNextNonce(context, row, next);
  if (moved) await broadcast(context, getLastAttempt(moved));
}

/** An attempt without its signature, which only the chain has. */
function toMinedAttempt({ hash, blockNumber, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: Transaction): SignedAttempt {
  return {
    hash,
    raw: '0x',
    maxFeePerGas: String(maxFeePerGas),
    maxPriorityFeePerGas: String(maxPriorityFeePerGas),
    signedAt: new Date(),
    atBlock: Number(blockNumber ?? 0n),
  };
}

async function unblockNonce(context: WalletContext, nonce: number): Promise<void> {
  const { chain, account, journal } = context;
  const row = await journal.findByNonce(chain.chainId, account.address, nonce);
  const attempt = row ? await getOrReplaceAttempt(context, row) : await fillStaleGap(context, nonce);
  if (attempt) await broadcast(context, attempt);
}

/** Blocks that a transaction is not in, from the one of its signature on, after which more is offered for it. */
const MISSED_BLOCKS = 2;

/**
 * The last attempt, or a replacement when the base fee exceeds its offer, or time and blocks have passed without it: while no block comes, a higher
 * offer brings it no nearer. The journal stores a replacement before its broadcast.
 */
async function getOrReplaceAttempt(context: WalletContext, row: JournalRow): Promise<SignedAttempt> {
  const last = getLastAttempt(row);
  const quote = await context.fees.quoteFresh();
  // A signing time far ahead comes from a clock that has been set back since.
  const isOld = Math.abs(Date.now() - last.signedAt.getTime()) > context.stuckAfterMs;
  const isPassedOver = isOld && quote.blockNumber >= (last.atBlock ?? row.signedFromBlock) + MISSED_BLOCKS;
  if (!isPassedOver && BigInt(last.maxFeePerGas) >= quote.baseFeePerGas) return last;
  const fees = bumpFees(parseFees(last), quote, context.feeCap);
  const isPending = row.state === 'SENT' || row.state === 'FILLER';
  if (fees === null || !isPending) return last;
  const replacement = await signAttempt(context, row, fees, quote);
  const changed = await context.journal.update(row, { attempts: [...row.attempts, replacement] });
  return changed ? replacement : last;
}

/** Signs another call under the nonce of a row, at fees that replace its last attempt. Null when another worker changed the row, or above the cap. */
async function replaceCall(context: WalletContext, row: JournalRow, { data, gas, quote }: PreparedCall): Promise<JournalRow | null> {
  const fees = bumpFees(parseFees(getLastAttempt(row)), quote, context.feeCap);
  if (fees === null) return null;
  const replacement = await signAttempt(context, { ...row, data, gas }, fees, quote);
  const replaced = await context.journal.update(row, { data, gas, attempts: [...row.attempts, replacement] });
  if (replaced !== null) await broadcast(context, replacement);
  return replaced;
}

function parseFees({ maxFeePerGas, maxPriorityFeePerGas }: SignedAttempt): Fees {
  return { maxFeePerGas: BigInt(maxFeePerGas), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) };
}

/** Fills a nonce gap that persists: its transaction was dropped in a reorganisation, and no row can take its nonce. */
async function fillStaleGap(context: WalletContext, nonce: number): Promise<SignedAttempt | null> {
  const since = context.nonceGaps.get(nonce) ?? performance.now();
  context.nonceGaps.set(nonce, since);
  if (performance.now() - since < context.stuckAfterMs) return null;
  context.nonceGaps.delete(nonce);
  return fillNonce(context, nonce);
}

function getLastAttempt(row: JournalRow): SignedAttempt {
  return row.attempts.at(-1)!;
}

const ALREADY_KNOWN_MESSAGE = /already known|already imported|known transaction|already exists|already in/;
const INSUFFICIENT_FUNDS_MESSAGE = /insufficient funds|insufficient balance/;

/**
 * Idempotent. `sent`: perhaps earlier. `rejected`: nonce used, fee too low, or too early; only the chain decides which.
 * @throws OracleError CHAIN_UNREACHABLE when the node does not answer, or the wallet has no funds for gas
 */
async function broadcast({ chain, account, nodeRejections }: WalletContext, attempt: SignedAttempt): Promise<'sent' | 'rejected'> {
  try {
    await chain.client.request({ method: 'eth_sendRawTransaction', params: [attempt.raw] });
    return 'sent';
  } catch (error) {
    const message = getNodeMessage(error);
    if (ALREADY_KNOWN_MESSAGE.test(message)) return 'sent';
    const what = `Broadcasting from ${account.address}`;
    if (INSUFFICIENT_FUNDS_MESSAGE.test(message)) {
      throw new OracleError('CHAIN_UNREACHABLE', `${what} failed: insufficient funds for gas`, {
        cause: toChainError(what, error).cause,
        suggestedAction: "Send the wallet some of the chain's own currency.",
      });
    }
    if (error instanceof HttpRequestError || error instanceof TimeoutError) throw toChainError(what, error);
    nodeRejections.set(attempt.hash, message.trim());
    return 'rejected';
  }
}

interface WalletContext {
  chain: Chain;
  journal: Journal;
  role: string;
  account: LocalAccount;
  fees: FeeSource;
  /** Age of a signature after which an unmined transaction is replaced at higher fees. */
  stuckAfterMs: number;
  timeoutMs: number;
  recoveryIntervalMs: number;
  feeCap: bigint;
  signal?: AbortSignal;
  /** Called before the wallet signs after a transaction, above `afterBlock`, that the journal does not have; throws to forbid it. */
  allowForeignTransactions?(afterBlock?: number): Promise<void>;
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Nonces without a journal row, and when each was first seen. */
  nonceGaps: Map<number, number>;
  nodeRejections: Map<Hex, string>;
}

/**
 * Null without proof: only the other transaction itself is one, in the block that the nonce counts lead to. A missing receipt is not, since
 * an endpoint may lag; nor a count, since a mining node may attribute a transaction to the previous block. @throws CHAIN_UNREACHABLE
 */
async function findDisplacingTransaction(context: WalletContext, row: JournalRow): Promise<Transaction | null> {
  const { client } = context.chain;
  const deepest = await readConfirmedBlockNumber(context.chain);
  if (deepest < 0n || !(await isNonceUsedAt(context, row, deepest))) return null;
  const earliest = BigInt(Math.max(0, row.signedFromBlock - REORG_MARGIN_BLOCKS));
  const low = earliest < deepest ? earliest : deepest;
  const blockNumber = await findFirstBlockWhere((number) => isNonceUsedAt(context, row, number), low, deepest);
  const { transactions } = await chainCall('Reading a block', () => client.getBlock({ blockNumber, includeTransactions: true }));
  const spender = transactions.find(({ from, nonce }) => isAddressEqual(from, context.account.address) && nonce === row.nonce);
  return spender === undefined || row.attempts.some(({ hash }) => hash === spender.hash) ? null : spender;
}

/** Whether a transaction is a row's call under another signature: made after the backup that the database was restored from. */
function isSameCall({ to, input, value }: Transaction, row: JournalRow): boolean {
  // Client input such as a signature may be in upper case.
  const sameData = input.toLowerCase() === row.data.toLowerCase();
  return to !== null && isAddressEqual(to, row.to) && sameData && value === BigInt(row.value);
}

async function isNonceUsedAt({ chain, account }: WalletContext, { nonce }: JournalRow, blockNumber: bigint): Promise<boolean> {
  const query = { address: account.address, blockNumber };
  return (await chainCall('Reading an earlier nonce', () => chain.client.getTransactionCount(query))) > nonce;
}

/** A call ready to sign, except for its nonce. Wei and gas as decimal text. */
interface PreparedCall extends Pick<JournalRow, 'key' | 'to' | 'data' | 'value' | 'gas'> {
  quote: FeeQuote;
}

function readNextNonce({ chain, account }: WalletContext): Promise<number> {
  return chainCall('Reading the next nonce', () => chain.client.getTransactionCount({ address: account.address, blockTag: 'latest' }));
}

/** Writes the signed transaction to the journal. `fresh` is false when another worker reserved the key first; the row is then that worker's. */
async function reserveNonce(context: WalletContext, call: PreparedCall, nonceOnChain: number) {
  return context.runExclusive(async () => {
    for (let nonce = await findFreeNonce(context, nonceOnChain); ; nonce += 1) {
      const row = await createRow(context, call, { nonce, state: 'SENT' });
      if (await context.journal.insert(row)) return { row, fresh: true };
      const existing = await context.journal.find(row._id);
      if (existing) return { row: existing, fresh: false };
    }
  });
}

/** For a row whose nonce another transaction used, or its own, which reverted. Null when another worker changed the row first. */
async function moveToNextNonce(context: WalletContext, row: JournalRow, next: number, { data, gas }: JournalRow | PreparedCall = row) {
  return context.runExclusive(async () => {
    await context.allowForeignTransactions?.(row.signedFromBlock);
    const quote = await context.fees.quoteFresh();
    const lost = { nonce: row.nonce, hashes: row.attempts.map((attempt) => attempt.hash) };
    for (let nonce = await findFreeNonce(context, next); ; nonce += 1) {
      const attempts = [await signAttempt(context, { ...row, data, gas, nonce }, capFees(quote, context.feeCap), quote)];
      const change = {
        ...{ data, gas, state: 'SENT' as const, receipt: null, isWatched: false },
        ...{ nonce, attempts, signedFromBlock: quote.blockNumber, displaced: [...row.displaced, lost] },
      };
      const moved = await context.journal.update(row, change);
      if (moved) return moved;
      const current = await context.journal.find(row._id);
      if (current?.version !== row.version) return null;
    }
  });
}

/** Closes a nonce gap by a zero-value transfer to self; see `FILLER`. */
async function fillNonce(context: WalletContext, nonce: number): Promise<SignedAttempt | null> {
  const to = context.account.address;
  const quote = await context.fees.quoteFresh();
  const call: PreparedCall = { key: `fill:${nonce}`, to, data: '0x', value: '0', gas: '21000', quote };
  const row = await createRow(context, call, { nonce, state: 'FILLER' });
  return (await context.journal.insert(row)) ? row.attempts[0] : null;
}

function buildRowId({ chain, role }: WalletContext, key: string): string {
  return `${chain.chainId}:${role}:${key}`;
}

/** The chain is read before the journal, because another worker writes to the journal before it broadcasts. */
async function findFreeNonce({ chain, account, journal, allowForeignTransactions }: WalletContext, nonceOnChain: number): Promise<number> {
  const known = ((await journal.findHighestNonce(chain.chainId, account.address)) ?? -1) + 1;
  if (nonceOnChain > known) await allowForeignTransactions?.();
  return Math.max(nonceOnChain, known);
}

async function createRow(
  context: WalletContext,
  { quote, ...call }: PreparedCall,
  { nonce, state }: { nonce: number; state: JournalState },
): Promise<JournalRow> {
  const { chain, account, role } = context;
  const at = new Date();
  return {
    _id: buildRowId(context, call.key),
    role,
    chainId: chain.chainId,
    address: account.address,
    nonce,
    ...call,
    attempts: [await signAttempt(context, { ...call, nonce }, capFees(quote, context.feeCap), quote)],
    displaced: [],
    receipt: null,
    signedFromBlock: quote.blockNumber,
    state,
    version: 0,
    createdAt: at,
    updatedAt: at,
  };
}

/** Signs a row's call (EIP-1559) without broadcasting it. @param quote the present fees, at whose block it is signed */
async function signAttempt(
  { account, chain }: WalletContext,
  { nonce, to, data, value, gas }: Pick<JournalRow, 'to' | 'data' | 'value' | 'gas' | 'nonce'>,
  { maxFeePerGas, maxPriorityFeePerGas }: Fees,
  { blockNumber: atBlock }: Pick<FeeQuote, 'blockNumber'>,
): Promise<SignedAttempt> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    to,
    data,
    value: BigInt(value),
    gas: BigInt(gas),
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  return {
    hash: keccak256(raw),
    raw,
    maxFeePerGas: String(maxFeePerGas),
    maxPriorityFeePerGas: String(maxPriorityFeePerGas),
    signedAt: new Date(),
    atBlock,
  };
}
