import type { Address, Hash } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import type { Chain } from '../../chain/client.ts';
import { readConfirmedBlockNumber } from '../../chain/rpc/block-depth.ts';
import { readBlockTime } from '../../chain/rpc/blocks.ts';
import { findReceipt } from '../../chain/rpc/receipts.ts';
import { CHANNELS, type Channel } from '../channels.ts';
import type { Ledger, PaymentDoc } from '../ledger/ledger.ts';
import type { MerchantConfig } from '../merchant-config.ts';
import { type BookedPayment, CHANNEL_BY_CAUSE, matchLedger, toBookedPayment } from './match-ledger.ts';
import { type Movement, readMovements } from './movements.ts';
import type { PaymentTraces } from './payment-traces.ts';

/** `NOT_ON_CHAIN`: only in the ledger. `AMOUNT_DIFFERS`: in both. `NOT_BOOKED`: a payment that is missing in the ledger. */
export type DifferenceKind = 'NOT_ON_CHAIN' | 'AMOUNT_DIFFERS' | 'NOT_BOOKED';

export interface LedgerDifference {
  kind: DifferenceKind;
  channel: Channel;
  txHash: Hash;
  payment: string;
  /** Null when it is missing on that side. */
  bookedMicros: bigint | null;
  chainMicros: bigint | null;
  reason: string;
}

/** A transfer that no request, purchase or job names. */
export type UnclaimedTransfer = Pick<Movement, 'txHash' | 'blockNumber' | 'asset' | 'from' | 'to' | 'amountMicros'>;

export interface ChannelSums {
  channel: Channel;
  payments: number;
  bookedMicros: bigint;
  /** Sum on chain of the same payments and of unbooked ones of this channel. */
  chainMicros: bigint;
}

export interface Reconciliation {
  chainId: number;
  fromBlock: bigint;
  toBlock: bigint;
  through: Date;
  recipients: Address[];
  channels: ChannelSums[];
  receivedMicros: bigint;
  differences: LedgerDifference[];
  /** Unbooked payments within the grace period, still being recorded. */
  underWay: LedgerDifference[];
  unclaimed: UnclaimedTransfer[];
}

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
export async function reconcile(deps: ReconcileDeps, fromBlock: bigint): Promise<Reconciliation> {
  const { chain } = deps;
  const confirmedNumber = await readConfirmedBlockNumber(chain);
  const toBlock = confirmedNumber > fromBlock ? confirmedNumber : fromBlock;
  const times = {
    since: fromBlock === 0n ? new Date(0) : await readBlockTime(chain, fromBlock),
    through: await readBlockTime(chain, toBlock),
  };
  const scope = await readScope(deps);
  const movements = await readMovements(chain, { ...scope, fromBlock, toBlock });
  // The ledger is read last, to include payments recorded while the chain was read.
  const booked = (await readEntries(deps, times)).map(toBookedPayment);
  const found = await findDifferences(deps, { booked, movements, fromBlock, toBlock });
  return {
    chainId: chain.chainId,
    fromBlock,
    toBlock,
    through: times.through,
    recipients: scope.recipients,
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
    unclaimed: unclaimed.map(({ key: _, cause: __, ...transfer }) => transfer),
  };
}

function sumChannel(channel: Channel, booked: BookedPayment[], claimed: { channel: Channel; movement: Movement }[]): ChannelSums {
  const own = booked.filter((entry) => entry.channel === channel);
  const moved = claimed.filter((one) => one.channel === channel).map(({ movement }) => movement);
  return { channel, payments: own.length, bookedMicros: sumMicros(own), chainMicros: sumMicros(moved) };
}

export function sumMicros(amounts: readonly { amountMicros: bigint }[]): bigint {
  return amounts.reduce((total, { amountMicros }) => total + amountMicros, 0n);
}

/** Why an entry is not on chain; null when its transaction is outside the block range. */
async function findMissingOnChain(
  { chain }: ReconcileDeps,
  booked: BookedPayment,
  range: Pick<LedgerAndChain, 'fromBlock' | 'toBlock'>,
): Promise<LedgerDifference | null> {
  const receipt = await findReceipt(chain, booked.txHash);
  // Blocks of the same second share a timestamp, so the time filter of the ledger may include neighbours.
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
