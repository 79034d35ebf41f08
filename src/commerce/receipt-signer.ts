import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type Address, getAddress, type Hash, type LocalAccount } from 'viem';
import type { Log } from '../platform/log.ts';
import type { SettledPayment } from './ledger.ts';
import { formatAmount, getOfferingId, usdFromMicros } from './offerings.ts';
import {
  type OfferPayload,
  type ReceiptData,
  type SignedOffer,
  type SignedReceipt,
  toTypedFields,
  toX402ReceiptTypedData,
  type X402Receipt,
  type X402ReceiptPayload,
} from './receipts.ts';

export interface ReceivedPayment extends Omit<SettledPayment, 'cause' | 'resource'> {
  /** Resource as named in the receipt. */
  resource: string;
  chain: string;
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
    feedbackPath: buildPaymentFeedbackPath(payment),
  };
}

/** Path of the feedback file of a payment, without the rating. A transaction may carry payments of several payers. */
export function buildPaymentFeedbackPath({ txHash, payer }: { txHash: Hash; payer: Address }): string {
  return `/api/svc/agent/feedback/payments/${txHash.toLowerCase()}/${payer.toLowerCase()}`;
}

export function toReceiptResponse({ types, ...signed }: SignedReceipt) {
  return { ...signed, types: { Receipt: types.Receipt.map((field) => ({ ...field })) } };
}

/** An offer is signed once in a window, and is valid to the end of the next one: for five to ten minutes. */
const WINDOW_SECONDS = 300;
const MAX_OFFERS = 64;
/** A 402 without an offer is valid, so that it does not wait long for a remote signer. */
const MAX_WAIT_MS = 250;
const RETRY_AFTER_MS = 10_000;

interface OfferEntry {
  signing: Promise<void>;
  /** Null until signed. */
  offer: SignedOffer | null;
  /** Of the monotonic clock. */
  startedAtMs: number;
  failedAtMs: number | null;
}

type SignedOffersDeps = { sign: SignOffer; log: Pick<Log, 'warn'>; now(): Date };
type Terms = Omit<OfferTerms, 'validUntil'>;

/** Signed offers of this process. A 402 costs its client nothing, so its signature is shared: one per resource and window. */
export class SignedOffers {
  readonly #deps: SignedOffersDeps;
  readonly #entries = new LRUCache<string, OfferEntry>({ max: MAX_OFFERS });

  constructor(deps: SignedOffersDeps) {
    this.#deps = deps;
  }

  /** The offer if it is signed already; null otherwise. */
  find(terms: Terms): SignedOffer | null {
    return this.#entries.get(this.#toKey(terms))?.offer ?? null;
  }

  /** Signs the offer unless it is signed already. Null when the signer is slow or unavailable: the offer is optional. */
  async get(terms: Terms): Promise<SignedOffer | null> {
    const entry = this.#getEntry(terms);
    const waitMs = MAX_WAIT_MS - (performance.now() - entry.startedAtMs);
    if (entry.offer !== null || entry.failedAtMs !== null || waitMs <= 0) return entry.offer;
    await Promise.race([entry.signing, delay(waitMs, undefined, { ref: false })]);
    return entry.offer;
  }

  #getEntry(terms: Terms): OfferEntry {
    const key = this.#toKey(terms);
    const known = this.#entries.get(key);
    const isRetryDue = known !== undefined && known.failedAtMs !== null && performance.now() - known.failedAtMs >= RETRY_AFTER_MS;
    if (known !== undefined && !isRetryDue) return known;
    const entry: OfferEntry = { signing: Promise.resolve(), offer: null, startedAtMs: performance.now(), failedAtMs: null };
    entry.signing = this.#sign(terms, entry);
    this.#entries.set(key, entry);
    return entry;
  }

  async #sign(terms: Terms, entry: OfferEntry): Promise<void> {
    const { sign, log } = this.#deps;
    try {
      entry.offer = await sign({ ...terms, validUntil: (this.#getWindow() + 2) * WINDOW_SECONDS });
    } catch (error) {
      entry.failedAtMs = performance.now();
      log.warn({ err: error }, 'an x402 offer could not be signed: payment terms go out without it');
    }
  }

  #toKey({ resourceUrl, requirements }: Terms): string {
    return `${this.#getWindow()} ${requirements.amount} ${resourceUrl}`;
  }

  #getWindow(): number {
    return Math.floor(this.#deps.now().getTime() / 1_000 / WINDOW_SECONDS);
  }
}

interface OfferTerms {
  resourceUrl: string;
  requirements: Pick<OfferPayload, 'scheme' | 'network' | 'asset' | 'payTo' | 'amount'>;
  /** Unix seconds. */
  validUntil: number;
}

/** Signs the first entry of `accepts`. @throws OracleError SIGNER_UNAVAILABLE */
export type SignOffer = (terms: OfferTerms) => Promise<SignedOffer>;

type X402ReceiptData = Pick<ReceiptData, 'payer' | 'resource' | 'txHash' | 'settledAt'>;

/**
 * Signs the receipt of the extension for the sale of our own receipt: same payer, resource, transaction, and `settledAt` as `issuedAt`.
 * @throws OracleError SIGNER_UNAVAILABLE
 */
export type SignX402Receipt = (sale: X402ReceiptData) => Promise<X402Receipt>;

export function createOfferSigner(account: LocalAccount): SignOffer {
  return async ({ resourceUrl, requirements, validUntil }) => {
    const { scheme, network, asset, payTo, amount } = requirements;
    const payload: OfferPayload = { version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil };
    return { format: 'eip712', acceptIndex: 0, payload, signature: await account.signTypedData(toOfferTypedData(payload)) };
  };
}

const OFFER_TYPES = {
  Offer: toTypedFields(
    'uint256 version, string resourceUrl, string scheme, string network, string asset, string payTo, string amount, uint256 validUntil',
  ),
};

/** EIP-712 data of an offer, sections 3.2 and 4.3: the domain has chain id 1 on every network. */
export function toOfferTypedData({ version, validUntil, ...payload }: OfferPayload) {
  const message = { ...payload, version: BigInt(version), validUntil: BigInt(validUntil) };
  return { domain: { name: 'x402 offer', version: '1', chainId: 1 }, types: OFFER_TYPES, primaryType: 'Offer', message } as const;
}

export function createX402ReceiptSigner(account: LocalAccount, network: string): SignX402Receipt {
  return async ({ payer, resource, txHash, settledAt }) => {
    const issuedAt = Math.floor(settledAt.getTime() / 1_000);
    const sale = { resourceUrl: resource, payer: getAddress(payer), issuedAt, transaction: txHash };
    const payload: X402ReceiptPayload = { version: 1, network, ...sale };
    return { format: 'eip712', payload, signature: await account.signTypedData(toX402ReceiptTypedData(payload)) };
  };
}

export interface X402ReceiptDeps {
  signX402Receipt: SignX402Receipt;
  log: Pick<Log, 'warn'>;
}

/** Null when it cannot be signed now: the extension is optional, and a paid answer does not wait for it. A later delivery adds it. */
export async function trySignX402Receipt({ signX402Receipt, log }: X402ReceiptDeps, sale: X402ReceiptData): Promise<X402Receipt | null> {
  try {
    return await signX402Receipt(sale);
  } catch (error) {
    log.warn({ err: error, txHash: sale.txHash }, 'the x402 receipt of a sale could not be signed: its answer goes out without it');
    return null;
  }
}
