import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address, Hash } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { REORG_MARGIN_BLOCKS } from '../../chain/rpc/block-depth.ts';
import { readBlockNumber } from '../../chain/rpc/blocks.ts';
import { createCache } from '../../platform/cache.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { attemptAndKeepTrying } from '../../platform/retry-unavailable.ts';
import { inSpan } from '../../platform/tracing/span.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MerchantConfig } from '../merchant-config.ts';
import type { SignOffer } from '../receipts/offer-receipt-signer.ts';
import { hashDocument, type SignReceipt } from '../receipts/receipt.ts';
import { SignedOffers } from '../receipts/signed-offers.ts';
import { trySignX402Receipt, type X402ReceiptDeps } from '../receipts/x402-receipt.ts';
import type { RequireSalesOpen } from '../sales-gate.ts';
import { admitPayment, type IdentifyPayer } from './admission.ts';
import { answerClaim } from './answer-claim.ts';
import { findClaim, getClaimId } from './claim-search.ts';
import { CLAIM_LEASE_MS, type ClaimDoc, type PaymentClaimStore } from './claim-store.ts';
import { paymentUnconfirmedError, waitForClaimChange } from './claim-wait.ts';
import type { FailedSettlementStore } from './failed-settlements.ts';
import type { IncomingPayment, PaidCall, SaleResult } from './paid-call.ts';
import { observeOutcome, type PaymentOutcome } from './payment-outcome.ts';
import { computeRequestFingerprint, requireSameRequest, toParsedPayment, toSaleResult } from './payment-replay.ts';
import { createPaymentRejection, parsePaymentPayload, toPaymentListing } from './protocol/payment-payload.ts';
import { buildPaymentQuote, noPaymentError, type PaymentQuote } from './protocol/payment-quote.ts';
import type { Facilitator } from './settlement/facilitator.ts';
import { type SettlementOutcome, settlePayment } from './settlement/settle.ts';
import { type ConfirmedSettlement, isConfirmedSettlement, readSettlementStatus } from './settlement/settlement-status.ts';
import { isAccepted, startVerification, type Verification } from './verification.ts';

export interface SalesDeps extends Pick<X402ReceiptDeps, 'signX402Receipt'> {
  chain: Chain;
  merchant: MerchantConfig;
  facilitator: Facilitator;
  claims: PaymentClaimStore;
  failures: FailedSettlementStore;
  ledger: Ledger;
  requireOpen: RequireSalesOpen;
  signReceipt: SignReceipt;
  signOffer: SignOffer;
  signal: AbortSignal;
  log: Log;
  now(): Date;
  waitMs?: number;
  /** Called with the outcome of each payment. */
  observePayment?(outcome: PaymentOutcome): void;
}

type QuotedCall = Pick<PaidCall, 'offering' | 'resource' | 'bazaar'>;

const toOfferTerms = ({ resource, requirements }: PaymentQuote) => ({ resourceUrl: resource.url, requirements });

const DEFAULT_WAIT_MS = 30_000;
/** Time for which the number of the newest block is read once. */
const HEAD_MS = 10_000;

export const ANSWER_RETENTION_DAYS = 30;

/** Claims each authorization, verifies, answers, settles, delivers. After a crash the next request or sweep continues the claim. */
export class SalesService {
  readonly #deps: Omit<Required<SalesDeps>, 'observePayment'> & Pick<SalesDeps, 'observePayment'>;
  readonly #heads = createCache<bigint>('x402-heads', 1);
  readonly #offers: SignedOffers;

  constructor(deps: SalesDeps) {
    this.#deps = { waitMs: DEFAULT_WAIT_MS, ...deps };
    this.#offers = new SignedOffers({ sign: deps.signOffer, log: deps.log, now: deps.now });
  }

  /** The quote of a request, with its offer if that is signed already. @throws OracleError STEP_WAITING while sales are closed */
  getQuote({ offering, resource, bazaar }: QuotedCall): PaymentQuote {
    const { merchant, requireOpen } = this.#deps;
    requireOpen();
    const quote = buildPaymentQuote(merchant, offering, resource);
    return { ...quote, bazaar, offer: this.#offers.find(toOfferTerms(quote)) };
  }

  /** The quote for a client without a payment: its offer is signed, unless the signer is slow or unavailable. @throws as `getQuote` */
  async getSignedQuote(call: QuotedCall): Promise<PaymentQuote> {
    const quote = this.getQuote(call);
    return { ...quote, offer: await this.#offers.get(toOfferTerms(quote)) };
  }

  /** @throws PaymentRequiredError; OracleError CONFLICT for another request's payment, retryable codes; errors of `answer` */
  async sell(call: PaidCall): Promise<SaleResult> {
    if (call.payment === null) throw noPaymentError(await this.getSignedQuote(call));
    return observeOutcome(this.#sell(call), (outcome) => this.#deps.observePayment?.(outcome));
  }

  async #sell(call: PaidCall): Promise<SaleResult> {
    const quote = this.getQuote(call);
    const payment = parsePaymentPayload(call.payment, quote);
    const deadline = performance.now() + this.#deps.waitMs;
    const incoming = { call, payment, quote };
    for (;;) {
      // Most payments are new: their admission runs while the claim is searched, and is ignored for a known one.
      const admission = admitPayment(this.#deps, incoming);
      admission.catch(() => undefined);
      const known = await findClaim(this.#deps, payment);
      const sold = known === null ? await this.#sellNew(incoming, admission) : await this.#sellKnown(known, incoming, admission);
      if (sold !== null) return sold;
      if (performance.now() > deadline) throw paymentUnconfirmedError();
    }
  }

  async findSaleResult(txHash: Hash, payer: Address): Promise<SaleResult | null> {
    const claim = await this.#deps.claims.findSettled(txHash.toLowerCase() as Hash, payer.toLowerCase() as Address);
    return claim === null ? null : this.#redeliver(claim);
  }

  /** Finishes claims of crashed processes: settles paid ones and keeps their answers, discards the others. */
  async sweep(): Promise<void> {
    const { claims, log } = this.#deps;
    for (const { _id } of await claims.listAbandoned()) {
      const claim = await claims.acquireLease({ _id });
      if (claim === null) continue;
      await claims.markSwept(claim);
      try {
        await this.#finishAbandoned(claim);
      } catch (error) {
        await claims.releaseLease(claim);
        log.warn({ err: error, claim: _id }, 'what became of a payment is not known yet');
      }
    }
  }

  async purge(now: Date): Promise<void> {
    await Promise.all([this.#deps.claims.purge(now), this.#deps.failures.purge(now)]);
  }

  /** Null when a concurrent request claimed the payment first. */
  async #sellNew(incoming: IncomingPayment, admission: Promise<IdentifyPayer>): Promise<SaleResult | null> {
    const { call, payment, quote } = incoming;
    const verification = startVerification(this.#deps, incoming, await admission);
    const { payer, verdict } = verification;
    const head = this.#readRecentHead();
    head.catch(() => undefined);
    // Another client may name the payer: only the payer's own key claims a payment, and its identifier, before the facilitator's verdict.
    if (!(await payer).isProven && !(await isAccepted(this.#deps, verdict, { incoming, payer }))) return null;
    const claim = await this.#deps.claims.open({
      _id: getClaimId(this.#deps.merchant, payment.authorization),
      payer: payment.authorization.from,
      nonce: payment.authorization.nonce,
      digest: payment.digest,
      paymentId: payment.paymentId,
      address: call.address,
      offering: call.offering.name,
      question: computeRequestFingerprint(call),
      resource: call.resource.url,
      ref: call.ref,
      payload: payment.payload,
      requirements: quote.requirements,
      amountMicros: payment.authorization.value,
      // A later reorganisation may move the settlement below this head.
      sinceBlock: Number(await head) - REORG_MARGIN_BLOCKS,
      openedAt: this.#deps.now(),
    });
    if (claim !== null) return this.#runClaim(claim, incoming, async () => verification);
    await isAccepted(this.#deps, verdict, { incoming, payer });
    return null;
  }

  /** A few seconds old: an earlier block starts a search as well. */
  #readRecentHead(): Promise<bigint> {
    const { chain, now } = this.#deps;
    return this.#heads.get(Math.floor(now().getTime() / HEAD_MS), () => readBlockNumber(chain));
  }

  /** Null after a wait for the lease holder: the claim may be settled or deleted by then. */
  async #sellKnown(claim: ClaimDoc, incoming: IncomingPayment, admission: Promise<IdentifyPayer>): Promise<SaleResult | null> {
    const { claims, signal } = this.#deps;
    requireSameRequest(claim, incoming);
    if (claim.state === 'SETTLED') return this.#redeliver(claim);
    const held = await claims.acquireLease(claim);
    // Its holder may have crashed before the payment was verified.
    const verify = async () => startVerification(this.#deps, incoming, await admission);
    if (held !== null) return this.#runClaim(held, incoming, verify);
    await waitForClaimChange(() => claims.find(claim._id), claim, signal);
    return null;
  }

  /** Advances a claim from its state to the answer, with heartbeats of its lease. Null when the lease was lost. */
  async #runClaim(claim: ClaimDoc, incoming: IncomingPayment, verify: () => Promise<Verification>): Promise<SaleResult | null> {
    const { claims, log } = this.#deps;
    const renew = () => claims.heartbeat(claim).catch((error: unknown) => log.warn({ err: error }, 'a claim could not be renewed'));
    const timer = setInterval(renew, CLAIM_LEASE_MS / 4);
    try {
      return await this.#advance(claim, incoming, verify);
    } catch (error) {
      // At once, not when the lease expires: a retry of the client continues the claim.
      await attemptAndKeepTrying(() => claims.releaseLease(claim), CLAIM_LEASE_MS);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  async #advance(claim: ClaimDoc, incoming: IncomingPayment, verify: () => Promise<Verification>): Promise<SaleResult | null> {
    if (claim.state === 'PREPARED') return this.#finish(claim, incoming, true);
    const answered = await answerClaim(this.#deps, { claim, incoming, verify });
    if (answered === null) return null;
    if ('freeBody' in answered) return { body: answered.freeBody, payment: null, receipt: null, x402Receipt: null, isAgain: false };
    return this.#finish(answered.prepared, incoming, false);
  }

  async #finish(claim: ClaimDoc, { call, quote }: IncomingPayment, mayBeSent: boolean): Promise<SaleResult> {
    const { claims, failures, now } = this.#deps;
    const settlement = await this.#settle(claim, quote, mayBeSent);
    if (!('refused' in settlement)) {
      const settled = await this.#recordSettlement(claim, settlement);
      if (mayBeSent) await failures.remove(claim);
      return { ...toSaleResult(settled), isAgain: false };
    }
    const { refused, isOver } = settlement;
    await failures.record(claim, now());
    // Any holder of a valid authorization can still send it to the chain; its payer must then get the answer.
    await (isOver ? claims.discard(claim) : claims.releaseWithIdentifier(claim));
    await call.countRejection({ wallet: claim.payer, isProven: true });
    throw createPaymentRejection(quote, refused, { payer: claim.payer, unsettledOf: claim.payer });
  }

  async #settle(claim: ClaimDoc, quote: PaymentQuote, mayBeSent: boolean): Promise<SettlementOutcome> {
    const { requirements, address, sinceBlock } = claim;
    const payment = { payment: toParsedPayment(claim, toPaymentListing(quote)), requirements, address, sinceBlock, mayBeSent };
    try {
      return await inSpan({ name: 'x402 settlement' }, () => settlePayment(this.#deps, payment));
    } catch (error) {
      throw isOracleError(error, 'TRANSACTION_UNCONFIRMED') ? paymentUnconfirmedError(error) : error;
    }
  }

  /** The ledger comes first: the money has arrived even if a later step fails. */
  async #recordSettlement(claim: ClaimDoc, { txHash, at }: ConfirmedSettlement): Promise<ClaimDoc> {
    const { ledger, signReceipt, claims, merchant, now } = this.#deps;
    const { payer, nonce, ref, offering, forecastId, attestationUid, resource } = claim;
    const amountMicros = BigInt(claim.amountMicros.toString());
    const money = { payer, payee: merchant.payee, asset: merchant.asset, amountMicros, txHash, settledAt: at };
    const sign = async () => {
      // Signing blocks the thread for about a millisecond: the ledger's write is sent before.
      await nextTurn();
      const answerHash = hashDocument(JSON.parse(claim.answer as string));
      const receipt = signReceipt({ ...money, resource, answerHash, forecastId, attestationUid });
      return Promise.all([receipt, trySignX402Receipt(this.#deps, { ...money, resource })]);
    };
    const cause = { kind: 'authorization', nonce } as const;
    const recorded = ledger.record({ ...money, cause, channel: 'x402', offering, resource, ref });
    const signing = sign();
    // Reported below, after the ledger has the payment.
    signing.catch(() => undefined);
    await recorded;
    const [receipt, x402Receipt] = await signing;
    const keptUntil = new Date(now().getTime() + ANSWER_RETENTION_DAYS * 86_400_000);
    return claims.settle(claim, { settlement: { txHash, at }, receipt, x402Receipt, keptUntil });
  }

  /** A settled answer as first delivered. Adds the x402 receipt that the first delivery lacked. */
  async #redeliver(claim: ClaimDoc): Promise<SaleResult> {
    const sold = toSaleResult(claim);
    if (sold.x402Receipt !== null || sold.payment === null) return sold;
    const x402Receipt = await trySignX402Receipt(this.#deps, sold.payment);
    return x402Receipt === null ? sold : toSaleResult(await this.#deps.claims.addX402Receipt(claim, x402Receipt));
  }

  async #finishAbandoned(claim: ClaimDoc): Promise<void> {
    const { chain, merchant, claims, failures } = this.#deps;
    // A payment is never sent before its answer is stored.
    if (claim.state === 'OPEN') return claims.discard(claim);
    const { authorization } = toParsedPayment(claim);
    // Without a waiting client, the sweep reads the status of a sent payment but sends none.
    const found = await readSettlementStatus(chain, merchant, { authorization, sinceBlock: claim.sinceBlock });
    if (isConfirmedSettlement(found)) {
      await this.#recordSettlement(claim, found);
      await failures.remove(claim);
    } else if (found === 'spent' || found === 'late') await claims.discard(claim);
    else await claims.releaseLease(claim);
  }
}
