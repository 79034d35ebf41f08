import canonicalize from 'canonicalize';
import type { Hash } from 'viem';
import { OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { ComposedDocument } from '../documents/compose.ts';
import type { Ledger } from '../ledger.ts';
import { findOffering, type Offering } from '../offerings.ts';
import type { RequireOpen } from '../opening.ts';
import { pause } from '../pause.ts';
import { documentHash, type SignReceipt } from '../receipt.ts';
import { parseRefCode } from '../ref-code.ts';
import { type BuyerCheck, checkBuyer } from './buyer.ts';
import { checkPayment, type PaymentCheck } from './payment-check.ts';
import type { Delivered, PurchaseRequest } from './purchase.ts';
import { stillComposing, usedBefore } from './refusals.ts';
import { type HeldPurchase, type PurchaseDoc, type PurchaseStore, paymentOf } from './store.ts';

export interface PurchasesOptions extends PaymentCheck, BuyerCheck {
  chain: PaymentCheck['chain'];
  store: PurchaseStore;
  ledger: Pick<Ledger, 'record'>;
  requireOpen: RequireOpen;
  signReceipt: SignReceipt;
  /** What an offering delivers at a time. */
  compose(offering: string, now: Date): Promise<ComposedDocument>;
  /** Ends the waiting for other processes. */
  signal: AbortSignal;
  log: Log;
}

/** Where a call comes from, as the limits count it. */
export interface BuyerAddress {
  address: string;
}

const PAUSE_MS = 50;
/** How often one call looks whether another has delivered. */
const MOST_LOOKS = 200;

/**
 * Sells documents for transfers that have arrived (interface, section 4.5). Its steps are each done once, whichever process dies
 * between them: the transfer is checked and written down, then the payment in the ledger, then the document is made and kept.
 */
export class Purchases {
  readonly #options: PurchasesOptions;

  constructor(options: PurchasesOptions) {
    this.#options = options;
  }

  /**
   * @throws OracleError INPUT_INVALID naming the field, UNAUTHENTICATED for a wrong `signature`, PAYMENT_REQUIRED without one or for too
   * little, TRANSACTION_UNCONFIRMED for a transaction that the node has not seen or not at its depth, CHAIN_UNREACHABLE, STEP_WAITING while nothing can be paid for; what the document throws while it cannot be
   * made: the payment is kept for a later call
   */
  async buy(request: PurchaseRequest, { address }: BuyerAddress): Promise<Delivered> {
    const offering = offeringOf(request);
    const asked = { ...request, txHash: request.txHash.toLowerCase() as Hash };
    const known = await this.#options.store.find(asked.txHash);
    // What was paid for before is told at any time.
    if (known === null) this.#options.requireOpen();
    else requireSame(known, asked);
    const signatureHash = await checkBuyer(this.#options, asked, { known, address });
    const again = known !== null && known.delivery !== null;
    const doc = known ?? (await this.#claim(asked, offering, { address, signatureHash }));
    // Somebody else may have been first in between: what holds for a known one holds for this call too.
    requireSame(doc, asked);
    if (known === null) await checkBuyer(this.#options, asked, { known: doc, address });
    if (signatureHash !== null && doc.signatureHash !== signatureHash) await this.#options.store.markSigned(asked.txHash, signatureHash);
    return toldDelivery(await this.#delivered(doc), offering, again);
  }

  /** Finishes what processes have left undone: what was paid for is booked, and kept for its buyer. */
  async sweep(): Promise<void> {
    const { store, log } = this.#options;
    for (const doc of await store.open()) {
      const held = await store.hold(doc._id);
      if (held === null) continue;
      await store.swept(doc._id);
      await this.#make(doc, held).catch((error: unknown) =>
        log.warn({ err: error, purchase: doc._id }, 'a purchase cannot be delivered yet'),
      );
    }
  }

  /** Checks a transfer that was never shown before, and writes down that it has paid. */
  async #claim(
    { txHash, wallet, ref }: PurchaseRequest,
    { name, price }: Offering,
    buyer: Pick<PurchaseDoc, 'address' | 'signatureHash'>,
  ): Promise<PurchaseDoc> {
    const code = ref === undefined ? null : parseRefCode(ref);
    const lower = wallet.toLowerCase() as typeof wallet;
    const { payer: _, ...payment } = await checkPayment(this.#options, { txHash, wallet: lower, price });
    return this.#options.store.claim({ ...payment, offering: name, wallet: lower, ref: code, ...buyer });
  }

  /** The purchase with its delivery: made here, or awaited where another call is at it. */
  async #delivered(doc: PurchaseDoc): Promise<PurchaseDoc> {
    const { store, signal } = this.#options;
    let found = doc;
    for (let look = 0; found.delivery === null; look += 1) {
      if (look === MOST_LOOKS) throw stillComposing();
      const held = await store.hold(found._id);
      if (held === null) await pause(PAUSE_MS, signal);
      found = held === null ? ((await store.find(found._id)) as PurchaseDoc) : await this.#make(found, held);
    }
    return found;
  }

  async #make(doc: PurchaseDoc, held: HeldPurchase): Promise<PurchaseDoc> {
    const { store, ledger, signReceipt, compose, now } = this.#options;
    const { offering } = doc;
    try {
      const payment = paymentOf(doc);
      const resource = `purchase:${offering}`;
      await ledger.record({ ...payment, cause: { kind: 'transfer' }, channel: 'purchase', offering, resource });
      const deliveredAt = now();
      const { document, forecastId, attestationUid } = await compose(offering, deliveredAt);
      const sold = { resource, answerHash: documentHash(document), forecastId, attestationUid };
      const receipt = await signReceipt({ ...payment, ...sold });
      return await store.deliver(held, { json: canonicalize(document) as string, receipt, deliveredAt });
    } catch (error) {
      await store.letGo(held);
      throw error;
    }
  }
}

/** @throws OracleError INPUT_INVALID naming `offering` */
function offeringOf({ offering }: PurchaseRequest): Offering {
  const found = findOffering('purchase', offering);
  if (found === null) throw new OracleError('INPUT_INVALID', 'There is no such offering', { field: 'offering' });
  return found;
}

/** @throws OracleError INPUT_INVALID when the transaction has paid for something else */
function requireSame(doc: PurchaseDoc, { wallet, offering }: PurchaseRequest): void {
  if (doc.wallet !== wallet.toLowerCase()) throw usedBefore('wallet');
  if (doc.offering !== offering) throw usedBefore('offering');
}

function toldDelivery(doc: PurchaseDoc, { name: offering, title }: Offering, again: boolean): Delivered {
  const { json, receipt, deliveredAt } = doc.delivery!;
  return { offering, title, deliveredAt, again, document: JSON.parse(json), payment: paymentOf(doc), receipt };
}
