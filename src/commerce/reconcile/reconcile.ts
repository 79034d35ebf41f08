import type { Address, Hash } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { CHANNELS, type Channel } from '../channels.ts';
import type { Ledger, PaymentDoc } from '../ledger/ledger.ts';
import type { MerchantConfig } from '../merchant-config.ts';
import { type BookedPayment, CHANNEL_BY_CAUSE, matchLedger, toBookedPayment } from './match-ledger.ts';
import { findReceipt, type Movement, readMovements } from './movements.ts';
import type { PaymentTraces } from './payment-traces.ts';

/** `NOT_ON_CHAIN`: booked, and not there. `AMOUNT_DIFFERS`: both, by another amount. `NOT_BOOKED`: paid for something, not in the ledger. */
export type DifferenceKind = 'NOT_ON_CHAIN' | 'AMOUNT_DIFFERS' | 'NOT_BOOKED';

export interface LedgerDifference {
  kind: DifferenceKind;
  channel: Channel;
  txHash: Hash;
  /** What the ledger knows the payment by. */
  payment: string;
  /** Null where that side has none. */
  bookedMicros: bigint | null;
  chainMicros: bigint | null;
  reason: string;
}

/** Money that nobody has asked for anything with. */
export type UnclaimedTransfer = Pick<Movement, 'txHash' | 'blockNumber' | 'asset' | 'from' | 'to' | 'amountMicros'>;

export interface ChannelSums {
  channel: Channel;
  payments: number;
  bookedMicros: bigint;
  /** What the chain says of the same payments, and of those of this channel that are not booked. */
  chainMicros: bigint;
}

export interface Reconciliation {
  chainId: number;
  fromBlock: bigint;
  toBlock: bigint;
  /** Time of the last block. */
  through: Date;
  /** Wallets that were looked at. */
  recipients: Address[];
  channels: ChannelSums[];
  /** All that has arrived, claimed or not. */
  receivedMicros: bigint;
  /** What is wrong. */
  differences: LedgerDifference[];
  /** Not booked yet, and so young that somebody is still at it. */
  underWay: LedgerDifference[];
  unclaimed: UnclaimedTransfer[];
}

export interface ReconcileDeps {
  chain: Chain;
  ledger: Pick<Ledger, 'payments'>;
  merchant: Pick<MerchantConfig, 'asset' | 'payee'>;
  /** Wallet that jobs pay. */
  provider: Address;
  traces: PaymentTraces;
  now(): Date;
  /** For how long after its block a payment may be missing from the ledger. */
  graceMs?: number;
}

const GRACE_MS = 10 * 60_000;

/**
 * Compares the ledger with the chain from a block to the newest one at the confirmation depth, payment by payment. Writes nothing.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function reconcile(deps: ReconcileDeps, fromBlock: bigint): Promise<Reconciliation> {
  const { chain } = deps;
  const head = await chainCall('Reading the block number', () => chain.client.getBlockNumber());
  const confirmedNumber = head - BigInt(chain.confirmations) + 1n;
  const toBlock = confirmedNumber > fromBlock ? confirmedNumber : fromBlock;
  const times = {
    since: fromBlock === 0n ? new Date(0) : await readBlockTime(chain, fromBlock),
    through: await readBlockTime(chain, toBlock),
  };
  const scope = await readScope(deps);
  const movements = await readMovements(chain, { ...scope, fromBlock, toBlock });
  // The ledger last: what was on its way to it while the chain was read is there by now.
  const booked = (await readEntries(deps, times)).map(toBookedPayment);
  const found = await findDifferences(deps, { booked, movements, fromBlock, toBlock });
  return {
    ...{ chainId: chain.chainId, fromBlock, toBlock, through: times.through, recipients: scope.recipients },
    receivedMicros: sumMicros(movements),
    ...found,
  };
}

/** Settings change: what was booked under others is looked for where it went. */
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
  return [...new Set(addresses.map((address) => address.toLowerCase() as Address))];
}

function readEntries({ ledger }: ReconcileDeps, { since, through }: { since: Date; through: Date }): Promise<PaymentDoc[]> {
  return ledger.payments.find({ settledAt: { $gte: since, $lte: through } }).toArray();
}

interface LedgerAndChain {
  booked: BookedPayment[];
  movements: Movement[];
  fromBlock: bigint;
  toBlock: bigint;
}

async function findDifferences(deps: ReconcileDeps, { booked, movements, ...range }: LedgerAndChain) {
  const { pairs, bookedOnly, chainOnly } = matchLedger(booked, movements);
  const missing = await Promise.all(bookedOnly.map((entry) => findMissingOnChain(deps, entry, range)));
  const outside = new Set(bookedOnly.filter((_, index) => missing[index] === null));
  const counted = booked.filter((entry) => !outside.has(entry));
  const unbooked: { movement: Movement; difference: LedgerDifference; isYoung: boolean }[] = [];
  const unclaimed: Movement[] = [];
  for (const movement of chainOnly) {
    const reason = await deps.traces.findReason(movement);
    if (reason === null) unclaimed.push(movement);
    else
      unbooked.push({ movement, difference: toUnbookedDifference(movement, reason), isYoung: await isWithinGracePeriod(deps, movement) });
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
    underWay: unbooked.filter((one) => one.isYoung).map(({ difference }) => difference),
    unclaimed: unclaimed.map(({ txHash, blockNumber, asset, from, to, amountMicros }) => ({
      ...{ txHash, blockNumber, asset, from, to, amountMicros },
    })),
  };
}

function sumChannel(channel: Channel, booked: BookedPayment[], claimed: { channel: Channel; movement: Movement }[]): ChannelSums {
  const own = booked.filter((entry) => entry.channel === channel);
  const moved = claimed.filter((one) => one.channel === channel).map(({ movement }) => movement);
  return { channel, payments: own.length, bookedMicros: sumMicros(own), chainMicros: sumMicros(moved) };
}

function sumMicros(amounts: readonly { amountMicros: bigint }[]): bigint {
  return amounts.reduce((total, { amountMicros }) => total + amountMicros, 0n);
}

/** Why an entry has nothing to stand on; null where it lies outside the blocks that were read. */
async function findMissingOnChain(
  { chain }: ReconcileDeps,
  booked: BookedPayment,
  range: Pick<LedgerAndChain, 'fromBlock' | 'toBlock'>,
): Promise<LedgerDifference | null> {
  const receipt = await findReceipt(chain, booked.txHash);
  // Blocks of one second share its time.
  if (receipt !== null && (receipt.blockNumber < range.fromBlock || receipt.blockNumber > range.toBlock)) return null;
  const { key, channel, txHash, payer, amountMicros } = booked;
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

function toUnbookedDifference({ cause, txHash, key, amountMicros }: Movement, reason: string): LedgerDifference {
  const sides = { bookedMicros: null, chainMicros: amountMicros };
  return { kind: 'NOT_BOOKED', channel: CHANNEL_BY_CAUSE[cause.kind], txHash, payment: key, ...sides, reason };
}

async function isWithinGracePeriod({ chain, now, graceMs = GRACE_MS }: ReconcileDeps, { blockNumber }: Movement): Promise<boolean> {
  return now().getTime() - (await readBlockTime(chain, blockNumber)).getTime() < graceMs;
}

async function readBlockTime({ client }: Chain, blockNumber: bigint): Promise<Date> {
  const { timestamp } = await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber }));
  return new Date(Number(timestamp) * 1_000);
}
