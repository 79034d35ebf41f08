import { type Address, getAddress, type Hash } from 'viem';
import type { Channel } from '../channels.ts';
import { formatAmount, usdFromMicros } from '../money.ts';
import { getOfferingId } from '../offerings.ts';
import type { SignedReceipt } from './receipt.ts';

/** A settled payment of any channel. */
export interface ReceivedPayment {
  channel: Channel;
  /** Name of the offering. */
  offering: string;
  /** Resource as named in the receipt. */
  resource: string;
  payer: Address;
  payee: Address;
  asset: Address;
  /** CAIP-2. */
  chain: string;
  /** Received amount in millionths of a US dollar. */
  amountMicros: bigint;
  txHash: Hash;
  /** Block time. */
  settledAt: Date;
  /** Referral code. */
  ref: string | null;
}

/** Payment as JSON for all transports: checksummed addresses, decimal amounts, ISO 8601 time. */
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
