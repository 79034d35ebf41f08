import { type Address, getAddress } from 'viem';
import { z } from 'zod';
import { OracleError } from '../platform/errors.ts';
import { decodeBase64Json } from './base64-json.ts';
import { findCoin, type PayableCoin } from './coins.ts';

const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => getAddress(text));

const ACCEPTED = z.looseObject({
  scheme: z.literal('exact'),
  network: z.string().regex(/^eip155:\d{1,15}$/),
  amount: z.string().regex(/^\d{1,30}$/),
  asset: ADDRESS,
  payTo: ADDRESS,
  maxTimeoutSeconds: z.number(),
  extra: z.looseObject({ name: z.string().max(100), version: z.string().max(20) }),
});

const REQUIRED = z.looseObject({
  accepts: z.array(z.unknown()).max(20),
  resource: z.unknown().optional(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

/** An accepted entry of an x402 version 2 `PAYMENT-REQUIRED` header. */
export interface PaymentRequirement {
  /** The unchanged entry, which is sent back with the payment. */
  accepted: Record<string, unknown>;
  resource: unknown;
  takesPaymentId: boolean;
  chainId: number;
  amountMicros: bigint;
  asset: Address;
  assetName: string;
  assetVersion: string;
  payTo: Address;
  validForSeconds: number;
}

/** A longer authorization would stay usable long after any sale is settled. */
const MAX_VALIDITY_SECONDS = 600;

/**
 * The first entry in an accepted coin. @param header `PAYMENT-REQUIRED` of a 402 @param unknownCoinHint what to do where no coin is accepted
 * @throws OracleError PAYMENT_REQUIRED when there is none
 */
export function parsePaymentRequired(header: string | null, coins: readonly PayableCoin[], unknownCoinHint?: string): PaymentRequirement {
  const { data: required } = REQUIRED.safeParse(decodeHeader(header));
  const offers = (required?.accepts ?? []).flatMap((offer) => {
    const { data } = ACCEPTED.safeParse(offer);
    return data === undefined ? [] : [toPaymentRequirement(data, offer as Record<string, unknown>)];
  });
  if (required === undefined || offers.length === 0) throw unpayableError('The service requests an unsupported kind of payment');
  const requirement = offers.find((offer) => findCoin(coins, offer) !== undefined);
  if (requirement !== undefined) {
    requireShortValidity(requirement.validForSeconds);
    const takesPaymentId = Object.hasOwn(required.extensions ?? {}, 'payment-identifier');
    return { ...requirement, resource: required.resource, takesPaymentId };
  }
  const [{ asset, chainId, assetName }] = offers;
  const message = `The service requests ${asset} on chain ${chainId} ("${assetName}"), which is not a known coin`;
  throw unpayableError(message, unknownCoinHint);
}

function toPaymentRequirement(
  data: z.output<typeof ACCEPTED>,
  accepted: Record<string, unknown>,
): Omit<PaymentRequirement, 'resource' | 'takesPaymentId'> {
  const { network, amount, asset, payTo, maxTimeoutSeconds, extra } = data;
  return {
    accepted,
    chainId: Number(network.split(':')[1]),
    amountMicros: BigInt(amount),
    asset,
    assetName: extra.name,
    assetVersion: extra.version,
    payTo,
    validForSeconds: maxTimeoutSeconds,
  };
}

function requireShortValidity(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_VALIDITY_SECONDS) return;
  const message = `The service requests an authorization valid for ${seconds} seconds (maxTimeoutSeconds); only 1 to ${MAX_VALIDITY_SECONDS} are accepted`;
  throw unpayableError(message, 'Nothing was signed or paid.');
}

function decodeHeader(header: string | null): unknown {
  try {
    return decodeBase64Json(header ?? '');
  } catch {
    return null;
  }
}

function unpayableError(message: string, suggestedAction?: string): OracleError {
  return new OracleError('PAYMENT_REQUIRED', message, { suggestedAction });
}
