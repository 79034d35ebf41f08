import type { Address, Hash } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { CHANNELS, type Channel } from '../channel.ts';
import type { Ledger, PaymentDoc } from '../ledger.ts';
import type { Till } from '../till.ts';
import { type Booked, bookedOf, CHANNEL_OF, compare } from './compare.ts';
import { findReceipt, type Movement, readMovements } from './movements.ts';
import type { PaymentTraces } from './traces.ts';

/** `NOT_ON_CHAIN`: booked, and not there. `AMOUNT_DIFFERS`: both, by another amount. `NOT_BOOKED`: paid for something, not in the ledger. */
export type DifferenceKind = 'NOT_ON_CHAIN' | 'AMOUNT_DIFFERS' | 'NOT_BOOKED';

export interface Difference {
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
export type Unclaimed = Pick<Movement, 'txHash' | 'blockNumber' | 'asset' | 'from' | 'to' | 'amountMicros'>;

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
  differences: Difference[];
  /** Not booked yet, and so young that somebody is still at it. */
  underWay: Difference[];
  unclaimed: Unclaimed[];
}

export interface ReconcileParts {
  chain: Chain;
  ledger: Pick<Ledger, 'payments'>;
  till: Pick<Till, 'asset' | 'payee'>;
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
export async function reconcile(parts: ReconcileParts, fromBlock: bigint): Promise<Reconciliation> {
  const { chain } = parts;
  const head = await chainCall('Reading the block number', () => chain.client.getBlockNumber());
  const deep = head - BigInt(chain.confirmations) + 1n;
  const toBlock = deep > fromBlock ? deep : fromBlock;
  const times = { since: fromBlock === 0n ? new Date(0) : await timeOf(chain, fromBlock), through: await timeOf(chain, toBlock) };
  const scope = await scopeOf(parts);
  const movements = await readMovements(chain, { ...scope, fromBlock, toBlock });
  // The ledger last: what was on its way to it while the chain was read is there by now.
  const booked = (await entries(parts, times)).map(bookedOf);
  const found = await judge(parts, { booked, movements, fromBlock, toBlock });
  return {
    ...{ chainId: chain.chainId, fromBlock, toBlock, through: times.through, recipients: scope.recipients },
    receivedMicros: sum(movements),
    ...found,
  };
}

/** Settings change: what was booked under others is looked for where it went. */
async function scopeOf({ ledger: { payments }, till, provider, chain }: ReconcileParts) {
  const [payees, assets, keys] = await Promise.all([
    payments.distinct('payee'),
    payments.distinct('asset'),
    payments.distinct('_id', { channel: 'agent-commerce' }),
  ]);
  const contracts = keys.map((key) => key.split(':')[1] as Address);
  const { agentCommerce } = chain.addresses;
  return {
    recipients: unique([till.payee, provider, ...payees]),
    assets: unique([till.asset, ...assets]),
    contracts: unique([...(agentCommerce === null ? [] : [agentCommerce]), ...contracts]),
  };
}

function unique(addresses: readonly Address[]): Address[] {
  return [...new Set(addresses.map((address) => address.toLowerCase() as Address))];
}

function entries({ ledger }: ReconcileParts, { since, through }: { since: Date; through: Date }): Promise<PaymentDoc[]> {
  return ledger.payments.find({ settledAt: { $gte: since, $lte: through } }).toArray();
}

interface BothSides {
  booked: Booked[];
  movements: Movement[];
  fromBlock: bigint;
  toBlock: bigint;
}

async function judge(parts: ReconcileParts, { booked, movements, ...range }: BothSides) {
  const { pairs, bookedOnly, chainOnly } = compare(booked, movements);
  const missing = await Promise.all(bookedOnly.map((entry) => notOnChain(parts, entry, range)));
  const outside = new Set(bookedOnly.filter((_, index) => missing[index] === null));
  const counted = booked.filter((entry) => !outside.has(entry));
  const unbooked: { movement: Movement; difference: Difference; isYoung: boolean }[] = [];
  const unclaimed: Movement[] = [];
  for (const movement of chainOnly) {
    const reason = await parts.traces.of(movement);
    if (reason === null) unclaimed.push(movement);
    else unbooked.push({ movement, difference: notBooked(movement, reason), isYoung: await isYoung(parts, movement) });
  }
  const claimed = [
    ...pairs.map(({ booked: { channel }, movement }) => ({ channel, movement })),
    ...unbooked.map(({ movement, difference: { channel } }) => ({ channel, movement })),
  ];
  return {
    channels: CHANNELS.map((channel) => sumsOf(channel, counted, claimed)),
    differences: [
      ...missing.filter((difference) => difference !== null),
      ...pairs.filter(({ booked: entry, movement }) => entry.amountMicros !== movement.amountMicros).map(amountDiffers),
      ...unbooked.filter((one) => !one.isYoung).map(({ difference }) => difference),
    ],
    underWay: unbooked.filter((one) => one.isYoung).map(({ difference }) => difference),
    unclaimed: unclaimed.map(({ txHash, blockNumber, asset, from, to, amountMicros }) => ({
      ...{ txHash, blockNumber, asset, from, to, amountMicros },
    })),
  };
}

function sumsOf(channel: Channel, booked: Booked[], claimed: { channel: Channel; movement: Movement }[]): ChannelSums {
  const own = booked.filter((entry) => entry.channel === channel);
  const moved = claimed.filter((one) => one.channel === channel).map(({ movement }) => movement);
  return { channel, payments: own.length, bookedMicros: sum(own), chainMicros: sum(moved) };
}

function sum(amounts: readonly { amountMicros: bigint }[]): bigint {
  return amounts.reduce((total, { amountMicros }) => total + amountMicros, 0n);
}

/** Why an entry has nothing to stand on; null where it lies outside the blocks that were read. */
async function notOnChain(
  { chain }: ReconcileParts,
  booked: Booked,
  range: Pick<BothSides, 'fromBlock' | 'toBlock'>,
): Promise<Difference | null> {
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

function amountDiffers({ booked, movement }: { booked: Booked; movement: Movement }): Difference {
  const { channel, txHash, key, amountMicros } = booked;
  const sides = { bookedMicros: amountMicros, chainMicros: movement.amountMicros };
  return { kind: 'AMOUNT_DIFFERS', channel, txHash, payment: key, ...sides, reason: 'another amount arrived than was booked' };
}

function notBooked({ cause, txHash, key, amountMicros }: Movement, reason: string): Difference {
  const sides = { bookedMicros: null, chainMicros: amountMicros };
  return { kind: 'NOT_BOOKED', channel: CHANNEL_OF[cause.kind], txHash, payment: key, ...sides, reason };
}

async function isYoung({ chain, now, graceMs = GRACE_MS }: ReconcileParts, { blockNumber }: Movement): Promise<boolean> {
  return now().getTime() - (await timeOf(chain, blockNumber)).getTime() < graceMs;
}

async function timeOf({ client }: Chain, blockNumber: bigint): Promise<Date> {
  const { timestamp } = await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber }));
  return new Date(Number(timestamp) * 1_000);
}
