import canonicalize from 'canonicalize';
import type { Hash } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { attemptAndKeepTrying } from '../../platform/retry-unavailable.ts';
import type { ComposedDocument } from '../documents/compose.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parseRefCode } from '../ledger/ref-code.ts';
import { findOffering, type Offering } from '../price-list.ts';
import { hashDocument, type SignReceipt } from '../receipts/receipt.ts';
import type { RequireSalesOpen } from '../sales-gate.ts';
import { sleepOrShutdown } from '../sleep.ts';
import { type BuyerCheckDeps, checkBuyer } from './buyer-check.ts';
import { alreadyUsedError, deliveryPendingError } from './errors.ts';
import { checkPayment, type PaymentCheckDeps } from './payment-check.ts';
import type { PurchaseDelivery, PurchaseRequest } from './purchase.ts';
import { PURCHASE_LEASE_MS, type PurchaseDoc, type PurchaseLease, type PurchaseStore, toPurchasePayment } from './purchase-store.ts';

export interface PurchaseServiceDeps extends PaymentCheckDeps, BuyerCheckDeps {
  chain: PaymentCheckDeps['chain'];
  store: PurchaseStore;
  ledger: Pick<Ledger, 'record'>;
  requireOpen: RequireSalesOpen;
  signReceipt: SignReceipt;
  compose(offering: string, now: Date): Promise<ComposedDocument>;
  signal: AbortSignal;
  log: Log;
}

const POLL_INTERVAL_MS = 50;
const MAX_DELIVERY_POLLS = 200;

/** Interface, section 4.5. Each step is done once whichever process crashes: store the transfer, book the payment, store the document. */
export class PurchaseService {
  readonly #deps: PurchaseServiceDeps;

  constructor(deps: PurchaseServiceDeps) {
    this.#deps = deps;
  }

  /**
   * @throws OracleError INPUT_INVALID, UNAUTHENTICATED for a wrong `signature`, PAYMENT_REQUIRED, TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE,
   * STEP_WAITING while sales are closed; errors of `compose`, after which the stored payment is kept for a retry
   */
  async buy(request: PurchaseRequest, { address }: { address: string }): Promise<PurchaseDelivery> {
    const offering = requireOffering(request);
    const normalized = { ...request, txHash: request.txHash.toLowerCase() as Hash };
    const known = await this.#deps.store.find(normalized.txHash);
    // Earlier purchases are delivered while sales are closed, too.
    if (known === null) this.#deps.requireOpen();
    else requireSamePurchase(known, normalized);
    const signatureHash = await checkBuyer(this.#deps, normalized, { known, address });
    const again = known !== null && known.delivery !== null;
    const doc = known ?? (await this.#claim(normalized, offering, { address, signatureHash }));
    // A concurrent request may have stored the purchase first: apply the checks of a known purchase.
    requireSamePurchase(doc, normalized);
    if (known === null) await checkBuyer(this.#deps, normalized, { known: doc, address });
    if (signatureHash !== null && doc.signatureHash !== signatureHash) await this.#deps.store.markSigned(normalized.txHash, signatureHash);
    return toPurchaseDelivery(await this.#awaitDelivery(doc), offering, again);
  }

  /** Finishes purchases of crashed processes. */
  async sweep(): Promise<void> {
    const { store, log } = this.#deps;
    for (const doc of await store.listUndelivered()) {
      const lease = await store.acquireLease(doc._id);
      if (lease === null) continue;
      await store.markSwept(doc._id);
      await this.#composeAndDeliver(doc, lease).catch((error: unknown) =>
        log.warn({ err: error, purchase: doc._id }, 'a purchase cannot be delivered yet'),
      );
    }
  }

  async #claim(
    { txHash, wallet, ref }: PurchaseRequest,
    { name, price }: Offering,
    buyer: Pick<PurchaseDoc, 'address' | 'signatureHash'>,
  ): Promise<PurchaseDoc> {
    const refCode = ref === undefined ? null : parseRefCode(ref);
    const { payer, ...payment } = await checkPayment(this.#deps, { txHash, wallet: toLowerCaseAddress(wallet), price });
    return this.#deps.store.claim({ ...payment, offering: name, wallet: payer, ref: refCode, ...buyer });
  }

  /** Returns the purchase with its delivery, composed here or by the lease holder. */
  async #awaitDelivery(doc: PurchaseDoc): Promise<PurchaseDoc> {
    const { store, signal } = this.#deps;
    let found = doc;
    for (let poll = 0; found.delivery === null; poll += 1) {
      if (poll === MAX_DELIVERY_POLLS) throw deliveryPendingError();
      const lease = await store.acquireLease(found._id);
      if (lease === null) await sleepOrShutdown(POLL_INTERVAL_MS, signal);
      found = lease === null ? ((await store.find(found._id)) as PurchaseDoc) : await this.#composeAndDeliver(found, lease);
    }
    return found;
  }

  async #composeAndDeliver(doc: PurchaseDoc, lease: PurchaseLease): Promise<PurchaseDoc> {
    const { store, ledger, signReceipt, compose, now } = this.#deps;
    const { offering } = doc;
    try {
      const payment = toPurchasePayment(doc);
      const resource = `purchase:${offering}`;
      await ledger.record({ ...payment, cause: { kind: 'transfer' }, channel: 'purchase', offering, resource });
      const deliveredAt = now();
      const { document, forecastId, attestationUid } = await compose(offering, deliveredAt);
      const sold = { resource, answerHash: hashDocument(document), forecastId, attestationUid };
      const receipt = await signReceipt({ ...payment, ...sold });
      return await store.saveDelivery(lease, { json: canonicalize(document) as string, receipt, deliveredAt });
    } catch (error) {
      await attemptAndKeepTrying(() => store.releaseLease(lease), PURCHASE_LEASE_MS);
      throw error;
    }
  }
}

function requireOffering({ offering }: PurchaseRequest): Offering {
  const found = findOffering('purchase', offering);
  if (found === null) throw new OracleError('INPUT_INVALID', 'There is no such offering', { field: 'offering' });
  return found;
}

function requireSamePurchase(doc: PurchaseDoc, { wallet, offering }: PurchaseRequest): void {
  if (doc.wallet !== wallet.toLowerCase()) throw alreadyUsedError('wallet');
  if (doc.offering !== offering) throw alreadyUsedError('offering');
}

function toPurchaseDelivery(doc: PurchaseDoc, { name: offering, title }: Offering, again: boolean): PurchaseDelivery {
  const { json, receipt, deliveredAt } = doc.delivery!;
  return { offering, title, deliveredAt, again, document: JSON.parse(json), payment: toPurchasePayment(doc), receipt };
}
