import { type Address, getAddress, type Hash } from 'viem';
import type { Channel } from '../channels.ts';
import { formatAmount, usdFromMicros } from '../money.ts';
import { getOfferingId } from '../offerings.ts';
import type { SignedReceipt } from './receipt.ts';

/** A payment that has arrived, whichever way it came. */
export interface ReceivedPayment {
  channel: Channel;
  /** Name of what was bought. */
  offering: string;
  /** What was asked for, as the receipt names it. */
  resource: string;
  payer: Address;
  payee: Address;
  asset: Address;
  /** CAIP-2. */
  chain: string;
  /** Millionths of a US dollar that arrived. */
  amountMicros: bigint;
  txHash: Hash;
  /** Block time. */
  settledAt: Date;
  /** Code of the partner who sent the payer. */
  ref: string | null;
}

/** A payment as every door tells it: addresses with their checksums, amounts as digits, the time in ISO 8601. */
export function toPaymentResponse({ channel, offering, amountMicros, settledAt, ...payment }: ReceivedPayment) {
  const { resource, payer, payee, asset, chain, txHash, ref } = payment;
  return {
    offering: getOfferingId({ channel, name: offering }),
    resource,
    payer: getAddress(payer),
    payee: getAddress(payee),
    asset: getAddress(asset),
    chain,
    amount: amountMicros.toString(),
    usd: formatAmount(usdFromMicros(amountMicros)),
    txHash,
    settledAt: settledAt.toISOString(),
    ref,
  };
}

/** A receipt as JSON, for `verifyTypedData` of any library. */
export function toReceiptResponse({ types, ...signed }: SignedReceipt) {
  return { ...signed, types: { Receipt: types.Receipt.map((field) => ({ ...field })) } };
}
