import { type Address, getAddress, type Hex, isAddressEqual, verifyTypedData } from 'viem';
import { z } from 'zod';
import { BASE_SEPOLIA_ADDRESSES } from './chain/addresses.ts';
import type { PaymentRequirement, SignedPayment } from './commerce/payment-signer.ts';
import {
  getReceiptDomain,
  hashDocument,
  OFFER_RECEIPT,
  RECEIPT_TYPES,
  toX402ReceiptTypedData,
  type X402ReceiptPayload,
} from './commerce/receipts.ts';
import { OracleError } from './errors.ts';

const MAX_CLOCK_SKEW_MS = 120_000;
const MAX_DATE_MS = 8.64e15;

/** When the authorization can no longer be used, allowing for clock skew. */
export function getPaymentExpiry({ payload }: SignedPayment): Date {
  return new Date(Math.min(MAX_DATE_MS, Number(payload.authorization.validBefore) * 1_000 + MAX_CLOCK_SKEW_MS));
}

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
    if (data === undefined) return [];
    const { network, amount, asset, payTo, maxTimeoutSeconds, extra } = data;
    const accepted = offer as Record<string, unknown>;
    const coin = { chainId: Number(network.split(':')[1]), asset, assetName: extra.name, assetVersion: extra.version };
    return [{ accepted, ...coin, amountMicros: BigInt(amount), payTo, validForSeconds: maxTimeoutSeconds }];
  });
  if (required === undefined || offers.length === 0) throw unpayableError('The service requests an unsupported kind of payment');
  const requirement = offers.find((offer) => findCoin(coins, offer) !== undefined);
  if (requirement !== undefined) {
    const { validForSeconds: seconds } = requirement;
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_VALIDITY_SECONDS) {
      const message = `The service requests an authorization valid for ${seconds} seconds (maxTimeoutSeconds); only 1 to ${MAX_VALIDITY_SECONDS} are accepted`;
      throw unpayableError(message, 'Nothing was signed or paid.');
    }
    const takesPaymentId = Object.hasOwn(required.extensions ?? {}, 'payment-identifier');
    return { ...requirement, resource: required.resource, takesPaymentId };
  }
  const [{ asset, chainId, assetName }] = offers;
  const message = `The service requests ${asset} on chain ${chainId} ("${assetName}"), which is not a known coin`;
  throw unpayableError(message, unknownCoinHint);
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

/** JSON in UTF-8 as base64, as the headers of x402 carry it. @throws SyntaxError, DOMException for anything else */
export function decodeBase64Json(text: string): unknown {
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0))));
}

export function encodeBase64Json(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** A coin with six decimals that a payer accepts to pay in. */
export interface PayableCoin {
  address: Address;
  chainId: number;
}

/** USDC by chain. A token at another address may call itself USDC and be worth nothing. */
export const USDC_COINS: readonly PayableCoin[] = [
  { chainId: 8453, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  { chainId: 84532, address: BASE_SEPOLIA_ADDRESSES.stablecoin },
];

export function findCoin<Coin extends PayableCoin>(
  coins: readonly Coin[],
  { asset, chainId }: { asset: Address; chainId: number },
): Coin | undefined {
  return coins.find((coin) => coin.chainId === chainId && isAddressEqual(coin.address, asset));
}

const SETTLEMENT = z.object({ extensions: z.object({ [OFFER_RECEIPT]: z.object({ info: z.object({ receipt: z.unknown() }) }) }) });

const X402_RECEIPT = z.object({
  format: z.literal('eip712'),
  payload: z.object({
    version: z.literal(1),
    network: z.string(),
    resourceUrl: z.string(),
    payer: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
    issuedAt: z.int().min(0),
    transaction: z.string(),
  }),
  signature: z.string().regex(/^0x[0-9a-fA-F]+$/),
});

/**
 * Checks the receipt of the x402 extension in a settlement response. Empty without one: the extension is optional.
 * @param context the payment as in the answer; the seller is the receipt signer that the service publishes
 */
export async function checkX402Receipt(
  settlement: unknown,
  context: { payer: string; payment: { resource?: unknown; txHash?: unknown }; seller: Address; chainId: number },
): Promise<ReceiptCheck[]> {
  const { data: settled } = SETTLEMENT.safeParse(settlement);
  if (settled === undefined) return [];
  const { data } = X402_RECEIPT.safeParse(settled.extensions[OFFER_RECEIPT].info.receipt);
  if (data === undefined) return [{ what: 'the x402 receipt is readable', ok: false }];
  const { payer, payment, seller, chainId } = context;
  const payload = data.payload as X402ReceiptPayload;
  const signed = { address: seller, ...toX402ReceiptTypedData(payload), signature: data.signature as Hex };
  const isSameSale =
    payload.network === `eip155:${chainId}` &&
    payload.resourceUrl === payment.resource &&
    payload.transaction === payment.txHash &&
    isAddressEqual(payload.payer, payer as Address);
  return [
    { what: 'the x402 receipt is signed by the same seller', ok: await verifyTypedData(signed).catch(() => false) },
    { what: 'it names the same payer, resource and transaction', ok: isSameSale },
  ];
}

const HEX = z
  .string()
  .regex(/^0x[0-9a-fA-F]+$/)
  .transform((text) => text as Hex);
const PAYEE_ADDRESS = HEX.refine((text) => text.length === 42);
const BYTES32 = HEX.refine((text) => text.length === 66);
const INTEGER = z.string().regex(/^\d{1,30}$/);

const RECEIPT = z.object({
  message: z.object({
    payer: PAYEE_ADDRESS,
    payee: PAYEE_ADDRESS,
    asset: PAYEE_ADDRESS,
    amount: INTEGER,
    resource: z.string(),
    answerHash: BYTES32,
    forecastId: z.string(),
    attestationUid: BYTES32,
    txHash: BYTES32,
    settledAt: INTEGER,
  }),
  signature: HEX,
});

export interface ReceiptCheck {
  what: string;
  ok: boolean;
}

/**
 * Checks that the seller has signed for this payer, this amount and exactly this answer.
 * @param seller receipt signer that the service publishes
 */
export async function checkReceipt(
  body: Record<string, unknown>,
  { payment, seller, chainId }: { payment: SignedPayment; seller: Address; chainId: number },
): Promise<ReceiptCheck[]> {
  const { payment: paid, receipt, ...answer } = body;
  const { data } = RECEIPT.safeParse(receipt);
  if (data === undefined) return [{ what: 'a readable receipt is present', ok: false }];
  const { message, signature } = data;
  const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
  const domain = getReceiptDomain(chainId);
  const signed = { address: seller, domain, types: RECEIPT_TYPES, primaryType: 'Receipt', message: typed, signature } as const;
  const { from, to, value } = payment.payload.authorization;
  const hash = (paid as { txHash?: unknown } | null)?.txHash;
  return [
    { what: `the receipt is signed by the seller, ${seller}`, ok: await verifyTypedData(signed).catch(() => false) },
    { what: `it names this wallet as the payer, ${from}`, ok: isAddressEqual(message.payer, from as Address) },
    {
      what: `it names the authorized payee and amount, ${value} units`,
      ok: isAddressEqual(message.payee, to as Address) && BigInt(message.amount) === BigInt(value),
    },
    { what: 'its hash matches the answer', ok: hashDocument(answer) === message.answerHash },
    { what: 'payment and receipt name the same transaction', ok: hash === message.txHash },
  ];
}
