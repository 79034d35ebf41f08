import type { Address, Hash, Hex } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { Channel } from '../channels.ts';
import { findOffering } from '../price-list.ts';
import { parseRefCode } from './ref-code.ts';

/** Single-use source of a payment: a transfer, an EIP-3009 authorization, or a job of a contract. */
export type PaymentCause = { kind: 'transfer' } | { kind: 'authorization'; nonce: Hex } | { kind: 'job'; contract: Address; jobId: bigint };

export interface SettledPayment {
  cause: PaymentCause;
  channel: Channel;
  offering: string;
  amountMicros: bigint;
  asset: Address;
  payer: Address;
  payee: Address;
  /** Requested resource, e.g. a URL with its query; null when the offering identifies it. Stored up to 512 characters. */
  resource: string | null;
  /** Referral code, case-insensitive, or null. */
  ref: string | null;
  settledAt: Date;
  txHash: Hash;
}

/** Keeps sums of payments within 64 bits. */
const MAX_PAYMENT_MICROS = 10n ** 15n;
const MAX_RESOURCE_CHARS = 512;

export function buildCauseKey({ cause, payer, txHash }: Pick<SettledPayment, 'cause' | 'payer' | 'txHash'>): string {
  if (cause.kind === 'transfer') return `transfer:${txHash.toLowerCase()}`;
  if (cause.kind === 'authorization') return `authorization:${payer.toLowerCase()}:${cause.nonce.toLowerCase()}`;
  return `job:${cause.contract.toLowerCase()}:${cause.jobId}`;
}

/** @throws OracleError INPUT_INVALID */
export function parseCauseKey(key: string): PaymentCause {
  const [kind, first, second] = key.split(':');
  if (kind === 'transfer') return { kind };
  if (kind === 'authorization' && second !== undefined) return { kind, nonce: second as Hex };
  if (kind === 'job' && second !== undefined && /^\d+$/.test(second)) return { kind, contract: first as Address, jobId: BigInt(second) };
  throw invalidPaymentField('cause', 'is none that the ledger knows');
}

/** Converts hex to lower case. @throws OracleError INPUT_INVALID naming the field */
export function validatePayment(payment: SettledPayment): SettledPayment {
  const { cause, channel, offering, amountMicros, asset, payer, payee, resource, ref, txHash, settledAt } = payment;
  if (findOffering(channel, offering) === null) throw invalidPaymentField('offering', 'is not sold through this channel');
  if (amountMicros <= 0n || amountMicros > MAX_PAYMENT_MICROS)
    throw invalidPaymentField('amountMicros', `must be from 1 to ${MAX_PAYMENT_MICROS}`);
  if (Number.isNaN(settledAt.getTime())) throw invalidPaymentField('settledAt', 'must be a time');
  return {
    cause,
    channel,
    offering,
    amountMicros,
    settledAt,
    asset: parseHex('asset', asset, 40),
    payer: parseHex('payer', payer, 40),
    payee: parseHex('payee', payee, 40),
    txHash: parseHex('txHash', txHash, 64),
    resource: resource === null ? null : resource.slice(0, MAX_RESOURCE_CHARS),
    ref: ref === null ? null : parseRefCode(ref),
  };
}

function parseHex(field: string, text: string, digits: number): Hex {
  if (!new RegExp(`^0x[0-9a-f]{${digits}}$`, 'i').test(text)) throw invalidPaymentField(field, `must be 0x and ${digits} hex characters`);
  return text.toLowerCase() as Hex;
}

function invalidPaymentField(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `Payment: ${field} ${problem}`, { field });
}
