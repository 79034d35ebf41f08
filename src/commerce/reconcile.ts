import { type Address, getAbiItem, type Hash, isAddressEqual, type Log, parseEventLogs, type TransactionReceipt } from 'viem';
import { toLowerCaseAddress } from '../chain/addresses.ts';
import { type Chain, readConfirmedBlockNumber } from '../chain/client.ts';
import { agentCommerceAbi } from '../chain/erc8183.ts';
import { type ChainReader, findReceipt, findTransaction, readBlockTime, readLogs } from '../chain/rpc.ts';
import { parseStablecoinTransfers, stablecoinAbi } from '../chain/stablecoin.ts';
import { OracleError } from '../errors.ts';
import { buildCauseKey, type Ledger, type PaymentCause, type PaymentDoc, parseCauseKey, type SettledPayment } from './ledger.ts';
import { CHANNELS, type Channel, formatAmount, type MerchantConfig, usdFromMicros } from './offerings.ts';
import type { PurchaseStore } from './purchases.ts';
import { buildClaimId, type PaymentClaimStore } from './x402/claims.ts';

/** `NOT_ON_CHAIN`: only in the ledger. `AMOUNT_DIFFERS`: in both. `NOT_BOOKED`: a payment that is missing in the ledger. */
interface LedgerDifference {
  kind: 'NOT_ON_CHAIN' | 'AMOUNT_DIFFERS' | 'NOT_BOOKED';
  channel: Channel;
  txHash: Hash;
  payment: string;
  /** Null when it is missing on that side. */
  bookedMicros: bigint | null;
  chainMicros: bigint | null;
  reason: string;
}

/** A transfer that no request, purchase or job names. */
type UnclaimedTransfer = Pick<Movement, 'txHash' | 'blockNumber' | 'asset' | 'from' | 'to' | 'amountMicros'>;

type Reconciliation = Awaited<ReturnType<typeof reconcile>>;

export interface ReconcileDeps {
  chain: Chain;
  ledger: Pick<Ledger, 'payments'>;
  merchant: Pick<MerchantConfig, 'asset' | 'payee'>;
  provider: Address;
  traces: PaymentTraces;
  now(): Date;
  /** Time after its block in which a payment may be missing in the ledger. */
  graceMs?: number;
}

const GRACE_MS = 10 * 60_000;

/** Compares payment by payment, from a block to the confirmation depth. Read-only. @throws OracleError CHAIN_UNREACHABLE */
export async function reconcile(deps: ReconcileDeps, fromBlock: bigint) {
  const { chain } = deps;
  const confirmedNumber = await readConfirmedBlockNumber(chain);
  const toBlock = confirmedNumber > fromBlock ? confirmedNumber : fromBlock;
  const times = {
    since: fromBlock === 0n ? new Date(0) : await readBlockTime(chain, fromBlock),
    through: await readBlockTime(chain, toBlock),
  };
  const query = { ...(await readScope(deps)), fromBlock, toBlock };
  const movements = await readMovements(chain, query);
  // The ledger is read last, to include payments recorded while the chain was read.
  const entries = await deps.ledger.payments.find({ settledAt: { $gte: times.since, $lte: times.through } }).toArray();
  const booked = entries.map(toBookedPayment);
  const found = await findDifferences(deps, { booked, movements, query });
  return {
    chainId: chain.chainId,
    fromBlock,
    toBlock,
    through: times.through,
    recipients: query.recipients,
    receivedMicros: sumMicros(movements),
    ...found,
  };
}

/** Includes payees, tokens and contracts of earlier settings, from the ledger. */
async function readScope({ ledger: { payments }, merchant, provider, chain }: ReconcileDeps) {
  const [payees, assets, keys] = await Promise.all([
    payments.distinct('payee'),
    payments.distinct('asset'),
    payments.distinct('_id', { channel: 'agent-commerce' }),
  ]);
  const contracts = keys.map((key) => key.split(':')[1] as Address);
  const { agentCommerce } = chain.addresses;
  return {
    recipients: uniqueAddresses([merchant.payee, provider, ...payees]),
    assets: uniqueAddresses([merchant.asset, ...assets]),
    contracts: uniqueAddresses([...(agentCommerce === null ? [] : [agentCommerce]), ...contracts]),
  };
}

function uniqueAddresses(addresses: readonly Address[]): Address[] {
  return [...new Set(addresses.map(toLowerCaseAddress))];
}

async function findDifferences(
  deps: ReconcileDeps,
  { booked, movements, query }: { booked: BookedPayment[]; movements: Movement[]; query: MovementQuery },
) {
  const { pairs, bookedOnly, chainOnly } = matchLedger(booked, movements);
  const missing = await Promise.all(bookedOnly.map((entry) => findMissingOnChain(deps, entry, query)));
  const outside = new Set(bookedOnly.filter((_, index) => missing[index] === null));
  const counted = booked.filter((entry) => !outside.has(entry));
  const unbooked: { movement: Movement; difference: LedgerDifference; isYoung: boolean }[] = [];
  const unclaimed: Movement[] = [];
  for (const movement of chainOnly) {
    const reason = await deps.traces.findReason(movement);
    if (reason === null) {
      unclaimed.push(movement);
      continue;
    }
    const { cause, txHash, key: payment, amountMicros: chainMicros, blockNumber } = movement;
    const channel = CHANNEL_BY_CAUSE[cause.kind];
    const difference: LedgerDifference = { kind: 'NOT_BOOKED', channel, txHash, payment, bookedMicros: null, chainMicros, reason };
    const ageMs = deps.now().getTime() - (await readBlockTime(deps.chain, blockNumber)).getTime();
    unbooked.push({ movement, difference, isYoung: ageMs < (deps.graceMs ?? GRACE_MS) });
  }
  const claimed = [
    ...pairs.map(({ booked: { channel }, movement }) => ({ channel, movement })),
    ...unbooked.map(({ movement, difference: { channel } }) => ({ channel, movement })),
  ];
  return {
    channels: CHANNELS.map((channel) => sumChannel(channel, counted, claimed)),
    differences: [
      ...missing.filter((difference) => difference !== null),
      ...pairs.filter(({ booked: entry, movement }) => entry.amountMicros !== movement.amountMicros).map(toAmountDifference),
      ...unbooked.filter((one) => !one.isYoung).map(({ difference }) => difference),
    ],
    /** Unbooked payments within the grace period, still being recorded. */
    underWay: unbooked.filter((one) => one.isYoung).map(({ difference }) => difference),
    unclaimed: unclaimed.map(({ key: _, cause: __, ...transfer }) => transfer),
  };
}

/** `chainMicros`: of the booked payments and of unbooked ones of this channel. */
function sumChannel(channel: Channel, booked: BookedPayment[], claimed: { channel: Channel; movement: Movement }[]) {
  const own = booked.filter((entry) => entry.channel === channel);
  const moved = claimed.filter((one) => one.channel === channel).map(({ movement }) => movement);
  return { channel, payments: own.length, bookedMicros: sumMicros(own), chainMicros: sumMicros(moved) };
}

function sumMicros(amounts: readonly { amountMicros: bigint }[]): bigint {
  return amounts.reduce((total, { amountMicros }) => total + amountMicros, 0n);
}

/**
 * Why an entry is not on chain; null when its transaction is outside the block range. Events that are missing are no proof: the transaction is
 * asked for by its hash. @throws OracleError CHAIN_UNREACHABLE when the endpoint contradicts itself
 */
async function findMissingOnChain({ chain }: ReconcileDeps, booked: BookedPayment, query: MovementQuery): Promise<LedgerDifference | null> {
  const { key, channel, txHash, payer, asset, amountMicros } = booked;
  const receipt = await findReceipt(chain, txHash);
  // Blocks of the same second share a timestamp, so the time filter of the ledger may include neighbours.
  if (receipt !== null && (receipt.blockNumber < query.fromBlock || receipt.blockNumber > query.toBlock)) return null;
  const isPaid = receipt?.status === 'success' && matchLedger([booked], parseMovements(receipt, asset, query)).pairs.length > 0;
  const transaction = isPaid || receipt !== null ? null : await findTransaction(chain, txHash, 'Reading a transaction');
  if (isPaid || (transaction !== null && transaction.blockNumber !== null)) {
    const lacks = isPaid ? 'events' : 'receipt';
    throw new OracleError('CHAIN_UNREACHABLE', `The endpoint has transaction ${txHash}, and does not return its ${lacks}`);
  }
  const reason =
    receipt === null
      ? 'there is no such transaction'
      : receipt.status === 'reverted'
        ? 'the transaction has failed'
        : `the transaction brings no such payment of ${payer}`;
  return { kind: 'NOT_ON_CHAIN', channel, txHash, payment: key, bookedMicros: amountMicros, chainMicros: null, reason };
}

function toAmountDifference({ booked, movement }: { booked: BookedPayment; movement: Movement }): LedgerDifference {
  const { channel, txHash, key, amountMicros } = booked;
  const sides = { bookedMicros: amountMicros, chainMicros: movement.amountMicros };
  return { kind: 'AMOUNT_DIFFERS', channel, txHash, payment: key, ...sides, reason: 'another amount arrived than was booked' };
}

interface BookedPayment extends Omit<SettledPayment, 'resource' | 'ref'> {
  key: string;
}

const CHANNEL_BY_CAUSE = { transfer: 'purchase', authorization: 'x402', job: 'agent-commerce' } as const satisfies Record<
  PaymentCause['kind'],
  Channel
>;

function toBookedPayment(doc: PaymentDoc): BookedPayment {
  const { _id: key, channel, offering, amountMicros, asset, payer, payee, txHash, settledAt } = doc;
  const amount = BigInt(amountMicros.toString());
  return { key, cause: parseCauseKey(key), channel, offering, amountMicros: amount, asset, payer, payee, txHash, settledAt };
}

function matchLedger(booked: readonly BookedPayment[], movements: readonly Movement[]) {
  const unmatched = new Set(movements);
  const byKey = Map.groupBy(movements, ({ key }) => key);
  const pairs: { booked: BookedPayment; movement: Movement }[] = [];
  const bookedOnly: BookedPayment[] = [];
  for (const entry of booked) {
    const movement = byKey.get(entry.key)?.find((one) => unmatched.has(one) && isMovementOf(one, entry));
    if (movement === undefined) {
      bookedOnly.push(entry);
      continue;
    }
    unmatched.delete(movement);
    pairs.push({ booked: entry, movement });
  }
  return { pairs, bookedOnly, chainOnly: [...unmatched] };
}

function isMovementOf({ cause, txHash, asset, from, to }: Movement, { payer, payee, ...entry }: BookedPayment): boolean {
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  // A job's payment comes from its contract; the ledger names the client as payer.
  const samePayer = cause.kind === 'job' || same(from, payer);
  return samePayer && same(txHash, entry.txHash) && same(asset, entry.asset) && same(to, payee);
}

/** Money received in one transaction by one cause: the counterpart of one ledger entry. */
interface Movement extends Pick<SettledPayment, 'cause' | 'txHash' | 'asset' | 'amountMicros'> {
  key: string;
  blockNumber: bigint;
  /** For a job, its contract. */
  from: Address;
  to: Address;
}

/** Tokens, receiving wallets and job contracts to read. Addresses case-insensitive. */
interface MovementQuery {
  assets: readonly Address[];
  recipients: readonly Address[];
  contracts: readonly Address[];
  fromBlock: bigint;
  toBlock: bigint;
}

const RECEIPT_BATCH_SIZE = 8;
const TRANSFER_EVENT = getAbiItem({ abi: stablecoinAbi, name: 'Transfer' });

/** All received money in a block range, in chain order, from logs alone. @throws OracleError CHAIN_UNREACHABLE */
async function readMovements(chain: ChainReader, query: MovementQuery): Promise<Movement[]> {
  const { assets, recipients, fromBlock, toBlock } = query;
  const movements: Movement[] = [];
  for (const asset of assets) {
    const logs = await readLogs(chain, { address: asset, event: TRANSFER_EVENT, args: { to: recipients }, fromBlock, toBlock });
    for (const receipt of await readReceipts(chain, logs)) movements.push(...parseMovements(receipt, asset, query));
  }
  return movements.sort((one, other) => Number(one.blockNumber - other.blockNumber));
}

/** One receipt per transaction. @throws OracleError CHAIN_UNREACHABLE for one that the node lists and does not have: a later reading decides */
async function readReceipts(chain: ChainReader, logs: readonly { transactionHash: Hash }[]): Promise<TransactionReceipt[]> {
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  const receipts: TransactionReceipt[] = [];
  const read = async (hash: Hash) => {
    const receipt = await findReceipt(chain, hash);
    if (receipt !== null) return receipt;
    throw new OracleError('CHAIN_UNREACHABLE', `The endpoint lists transfers of transaction ${hash}, and does not return its receipt`);
  };
  for (let at = 0; at < hashes.length; at += RECEIPT_BATCH_SIZE) {
    receipts.push(...(await Promise.all(hashes.slice(at, at + RECEIPT_BATCH_SIZE).map(read))));
  }
  return receipts;
}

export function parseMovements(
  { logs, transactionHash: txHash, blockNumber }: Pick<TransactionReceipt, 'logs' | 'transactionHash' | 'blockNumber'>,
  asset: Address,
  { recipients, contracts }: Pick<MovementQuery, 'recipients' | 'contracts'>,
): Movement[] {
  const transfers = parseIncomingTransfers(logs, asset, recipients);
  const paidByJobs = parseJobPayments(logs, transfers, contracts);
  const jobContracts = new Set(paidByJobs.map(({ from }) => from));
  const others = transfers.filter(({ from }) => !jobContracts.has(from));
  const rows = [...paidByJobs, ...sumBySender(others)].filter(({ amountMicros }) => amountMicros !== 0n);
  return rows.map((row) => ({ ...row, key: buildCauseKey({ cause: row.cause, payer: row.from, txHash }), txHash, blockNumber, asset }));
}

type IncomingTransfer = Pick<Movement, 'from' | 'to' | 'amountMicros' | 'cause'>;

function parseIncomingTransfers(logs: readonly Log[], asset: Address, recipients: readonly Address[]): IncomingTransfer[] {
  const incoming = parseStablecoinTransfers(logs, asset).filter(({ to }) => recipients.some((recipient) => isAddressEqual(recipient, to)));
  return incoming.map(({ from, to, value, nonce }) => {
    const cause: PaymentCause = nonce === null ? { kind: 'transfer' } : { kind: 'authorization', nonce };
    return { from: toLowerCaseAddress(from), to: toLowerCaseAddress(to), amountMicros: value, cause };
  });
}

/** A job's payment is what its contract moved; of several jobs in one transaction, their events' amounts, with the rest for the last. */
function parseJobPayments(logs: readonly Log[], transfers: readonly IncomingTransfer[], contracts: readonly Address[]): IncomingTransfer[] {
  const released = parseEventLogs({ abi: agentCommerceAbi, eventName: 'PaymentReleased', logs: logs as Log[] });
  return contracts.flatMap((contract) => {
    const jobs = released.filter(({ address }) => isAddressEqual(address, contract));
    const moved = transfers.filter(({ from }) => isAddressEqual(from, contract));
    const to = moved[0]?.to;
    const ownJobs = jobs.filter(({ args }) => to !== undefined && isAddressEqual(args.provider, to));
    let rest = moved.reduce((sum, { amountMicros }) => sum + amountMicros, 0n);
    return ownJobs.map(({ args }, index) => {
      const amountMicros = index === ownJobs.length - 1 ? rest : args.amount;
      rest -= amountMicros;
      const cause = { kind: 'job', contract: toLowerCaseAddress(contract), jobId: args.jobId } as const;
      return { from: toLowerCaseAddress(contract), to: to!, amountMicros, cause };
    });
  });
}

/** Plain transfers from one sender to one wallet count as one payment. */
function sumBySender(transfers: readonly IncomingTransfer[]): IncomingTransfer[] {
  const sums = new Map<string, IncomingTransfer>();
  for (const transfer of transfers) {
    const { cause, from, to } = transfer;
    const key = cause.kind === 'authorization' ? cause.nonce + from : `${from} ${to}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? transfer : { ...known, amountMicros: known.amountMicros + transfer.amountMicros });
  }
  return [...sums.values()];
}

type PaymentTraces = ReturnType<typeof createPaymentTraces>;

interface PaymentTraceDeps {
  chainId: number;
  claims: Pick<PaymentClaimStore, 'find'>;
  purchases: Pick<PurchaseStore, 'find'>;
}

export function createPaymentTraces({ chainId, claims, purchases }: PaymentTraceDeps) {
  return {
    /** What an unbooked movement paid for, as text; null when no request or purchase names it. */
    async findReason({ cause, asset, from, txHash }: Movement): Promise<string | null> {
      if (cause.kind === 'job') return `job ${cause.jobId} of ${cause.contract} has paid it`;
      if (cause.kind === 'transfer') {
        const found = await purchases.find(txHash.toLowerCase() as Hash);
        return found === null || found.wallet !== from ? null : `it was shown for ${found.offering}`;
      }
      const claim = await claims.find(buildClaimId({ chainId, asset }, { from, nonce: cause.nonce }));
      return claim === null ? null : `it came with a request for ${claim.offering}`;
    },
  };
}

export function isBalanced({ differences, underWay }: Pick<Reconciliation, 'differences' | 'underWay'>): boolean {
  return differences.length === 0 && underWay.length === 0;
}

export function formatReconciliation(report: Reconciliation): string {
  const { differences, underWay, unclaimed } = report;
  const { chainId, fromBlock, toBlock, through, recipients } = report;
  const range = `Ledger against chain ${chainId}, blocks ${fromBlock} to ${toBlock} (${through.toISOString()})`;
  return [
    [range, ...recipients.map((recipient) => `  payments to ${recipient}`)].join('\n'),
    formatChannelTable(report.channels),
    `${formatMicros(report.receivedMicros)} USD have arrived in all, ${formatMicros(sumMicros(unclaimed))} of them unclaimed.`,
    ...(unclaimed.length === 0 ? [] : [['Unclaimed, which is nothing wrong:', ...unclaimed.map(formatUnclaimed)].join('\n')]),
    ...(underWay.length === 0 ? [] : [['On the way into the ledger:', ...underWay.map(formatDifference)].join('\n')]),
    ...(differences.length === 0 ? [] : [['WRONG:', ...differences.map(formatDifference)].join('\n')]),
    formatVerdict(report),
  ]
    .join('\n\n')
    .concat('\n');
}

export function serializeReconciliation(report: Reconciliation): string {
  const body = { equal: isBalanced(report), ...report };
  return `${JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value), 2)}\n`;
}

const COLUMNS = ['channel', 'payments', 'booked, units', 'on chain, units', 'booked, USD'];

function formatChannelTable(channels: Reconciliation['channels']): string {
  const total = {
    channel: 'all',
    payments: channels.reduce((count, { payments }) => count + payments, 0),
    bookedMicros: channels.reduce((sum, { bookedMicros }) => sum + bookedMicros, 0n),
    chainMicros: channels.reduce((sum, { chainMicros }) => sum + chainMicros, 0n),
  };
  const rows = [...channels, total].map(({ channel, payments, bookedMicros, chainMicros }) => [
    channel,
    String(payments),
    String(bookedMicros),
    String(chainMicros),
    formatMicros(bookedMicros),
  ]);
  const widths = COLUMNS.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!))).join('  ');
  return [COLUMNS, ...rows].map(line).join('\n');
}

function formatUnclaimed({ txHash, blockNumber, from, amountMicros }: UnclaimedTransfer): string {
  return `  ${formatMicros(amountMicros)} USD from ${from} in ${txHash}, block ${blockNumber}`;
}

function formatDifference({ kind, channel, txHash, bookedMicros, chainMicros, reason }: LedgerDifference): string {
  const units = (amount: bigint | null) => (amount === null ? 'nothing' : `${amount} units`);
  return `  ${kind} ${channel} ${txHash}: booked ${units(bookedMicros)}, on chain ${units(chainMicros)}: ${reason}`;
}

function formatVerdict({ differences, underWay }: Reconciliation): string {
  if (differences.length > 0) return `NOT EQUAL: ${differences.length} of the above are wrong.`;
  if (underWay.length > 0) return `Not equal yet: ${underWay.length} on the way. Ask again in some minutes.`;
  return 'Equal to the unit.';
}

function formatMicros(amountMicros: bigint): string {
  return formatAmount(usdFromMicros(amountMicros));
}
