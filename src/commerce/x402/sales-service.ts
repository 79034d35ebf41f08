import type { Address, Hash } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { REORG_MARGIN_BLOCKS } from '../../chain/rpc/block-depth.ts';
import { readBlockNumber } from '../../chain/rpc/blocks.ts';
import type { ClaimedPayer } from '../../chain/stablecoin/claimed-payer.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { attemptAndKeepTrying } from '../../platform/retry-unavailable.ts';
import { inSpan } from '../../platform/tracing/span.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MerchantConfig } from '../merchant-config.ts';
import { hashDocument, type SignReceipt } from '../receipts/receipt.ts';
import type { RequireSalesOpen } from '../sales-gate.ts';
import { admitPayment } from './admission.ts';
import { buildClaimId, CLAIM_LEASE_MS, type ClaimDoc, type PaymentClaimStore } from './claim-store.ts';
import { paymentUnconfirmedError, waitForClaimChange } from './claim-wait.ts';
import type { FailedSettlementStore } from './failed-settlements.ts';
import { isEligibleForFreeAnswer } from './free-eligibility.ts';
import type { IncomingPayment, PaidCall, SaleResult } from './paid-call.ts';
import { requirePayerFunds } from './payer-funds.ts';
import { observeOutcome, type PaymentOutcome } from './payment-outcome.ts';
import { computeRequestFingerprint, requireSameRequest, toParsedPayment, toSaleResult } from './payment-replay.ts';
import { type Authorization, createPaymentRejection, type ParsedPayment, parsePaymentPayload } from './protocol/payment-payload.ts';
import { buildPaymentQuote, noPaymentError, type PaymentQuote } from './protocol/payment-quote.ts';
import type { Facilitator } from './settlement/facilitator.ts';
import { type SettlementOutcome, settlePayment } from './settlement/settle.ts';
import { type ConfirmedSettlement, isConfirmedSettlement, readSettlementStatus } from './settlement/settlement-status.ts';

export interface SalesDeps {
  chain: Chain;
  merchant: MerchantConfig;
  facilitator: Facilitator;
  claims: PaymentClaimStore;
  failures: FailedSettlementStore;
  ledger: Ledger;
  requireOpen: RequireSalesOpen;
  signReceipt: SignReceipt;
  signal: AbortSignal;
  log: Log;
  now(): Date;
  waitMs?: number;
  /** Called with the outcome of each payment. */
  observePayment?(outcome: PaymentOutcome): void;
}

interface FinishContext {
  call: PaidCall;
  quote: PaymentQuote;
  mayBeSent: boolean;
}

const DEFAULT_WAIT_MS = 30_000;

export const ANSWER_RETENTION_DAYS = 30;

/** Claims each authorization, verifies, answers, settles, delivers. After a crash the next request or sweep continues the claim. */
export class SalesService {
  readonly #deps: Omit<Required<SalesDeps>, 'observePayment'> & Pick<SalesDeps, 'observePayment'>;

  constructor(deps: SalesDeps) {
    this.#deps = { waitMs: DEFAULT_WAIT_MS, ...deps };
  }

  /** The quote of a request, the first step of every transport. @throws OracleError STEP_WAITING while sales are closed */
  getQuote({ offering, resource }: Pick<PaidCall, 'offering' | 'resource'>): PaymentQuote {
    this.#deps.requireOpen();
    return buildPaymentQuote(this.#deps.merchant, offering, resource);
  }

  /** @throws PaymentRequiredError; OracleError CONFLICT for another request's payment, retryable codes; errors of `answer` */
  async sell(call: PaidCall): Promise<SaleResult> {
    if (call.payment === null) throw noPaymentError(this.getQuote(call));
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
      const known = await this.#findClaim(payment);
      const sold = known === null ? await this.#sellNew(incoming, admission) : await this.#sellKnown(known, incoming);
      if (sold !== null) return sold;
      if (performance.now() > deadline) throw paymentUnconfirmedError();
    }
  }

  async findSaleResult(txHash: Hash, payer: Address): Promise<SaleResult | null> {
    const claim = await this.#deps.claims.findSettled(txHash.toLowerCase() as Hash, payer.toLowerCase() as Address);
    return claim === null ? null : toSaleResult(claim);
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

  async #findClaim({ authorization, paymentId }: ParsedPayment): Promise<ClaimDoc | null> {
    const { claims } = this.#deps;
    const claim = await claims.find(this.#buildClaimId(authorization));
    return claim ?? (paymentId === null ? null : claims.findByPaymentId(authorization.from, paymentId));
  }

  #buildClaimId({ from, nonce }: Authorization): string {
    const { chainId, asset } = this.#deps.merchant;
    return buildClaimId({ chainId, asset, payer: from, nonce });
  }

  /** Null when a concurrent request claimed the payment first. */
  async #sellNew({ call, payment, quote }: IncomingPayment, admission: Promise<ClaimedPayer>): Promise<SaleResult | null> {
    const { chain, facilitator } = this.#deps;
    const payer = await admission;
    const verified = facilitator.verify(payment, quote.requirements, payer);
    const [head, refused] = await Promise.all([readBlockNumber(chain), verified]);
    if (refused !== null) {
      // A concurrent request of the same client may have used it.
      if ((await this.#findClaim(payment)) !== null) return null;
      await call.countRejection(payer);
      throw createPaymentRejection(quote, refused, { payer: payment.authorization.from });
    }
    const claim = await this.#deps.claims.open({
      _id: this.#buildClaimId(payment.authorization),
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
      sinceBlock: Number(head) - REORG_MARGIN_BLOCKS,
      openedAt: this.#deps.now(),
    });
    return claim === null ? null : this.#runClaim(claim, call, quote);
  }

  /** Null after a wait for the lease holder: the claim may be settled or deleted by then. */
  async #sellKnown(claim: ClaimDoc, incoming: IncomingPayment): Promise<SaleResult | null> {
    const { claims, signal } = this.#deps;
    requireSameRequest(claim, incoming);
    if (claim.state === 'SETTLED') return toSaleResult(claim);
    const held = await claims.acquireLease(claim);
    if (held !== null) return this.#runClaim(held, incoming.call, incoming.quote);
    await waitForClaimChange(() => claims.find(claim._id), claim, signal);
    return null;
  }

  /** Advances a claim from its state to the answer, with heartbeats of its lease. Null when the lease was lost. */
  async #runClaim(claim: ClaimDoc, call: PaidCall, quote: PaymentQuote): Promise<SaleResult | null> {
    const { claims, log } = this.#deps;
    const renew = () => claims.heartbeat(claim).catch((error: unknown) => log.warn({ err: error }, 'a claim could not be renewed'));
    const timer = setInterval(renew, CLAIM_LEASE_MS / 4);
    try {
      return await this.#advance(claim, call, quote);
    } catch (error) {
      // At once, not when the lease expires: a retry of the client continues the claim.
      await attemptAndKeepTrying(() => claims.releaseLease(claim), CLAIM_LEASE_MS);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  async #advance(claim: ClaimDoc, call: PaidCall, quote: PaymentQuote): Promise<SaleResult | null> {
    if (claim.state === 'PREPARED') return this.#finish(claim, { call, quote, mayBeSent: true });
    const { claims } = this.#deps;
    const answer = await this.#orDiscard(claim, async () => {
      await requirePayerFunds(this.#deps, claim, quote);
      return call.answer();
    });
    const { freeBody, forecastId, attestationUid } = answer;
    if (freeBody !== undefined && (await this.#orDiscard(claim, () => isEligibleForFreeAnswer(this.#deps, claim)))) {
      await claims.discard(claim);
      return { body: freeBody, payment: null, receipt: null, isAgain: false };
    }
    const prepared = await claims.prepare(claim, { answer: JSON.stringify(answer.body), forecastId, attestationUid });
    return prepared === null ? null : this.#finish(prepared, { call, quote, mayBeSent: false });
  }

  async #orDiscard<T>(claim: ClaimDoc, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#deps.claims.discard(claim);
      throw error;
    }
  }

  async #finish(claim: ClaimDoc, { call, quote, mayBeSent }: FinishContext): Promise<SaleResult> {
    const { claims, failures, now } = this.#deps;
    const settlement = await this.#settle(claim, mayBeSent);
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

  async #settle(claim: ClaimDoc, mayBeSent: boolean): Promise<SettlementOutcome> {
    const { requirements, sinceBlock } = claim;
    const payment = { payment: toParsedPayment(claim), requirements, sinceBlock, mayBeSent };
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
      const answerHash = hashDocument(JSON.parse(claim.answer as string));
      return signReceipt({ ...money, resource, answerHash, forecastId, attestationUid });
    };
    const cause = { kind: 'authorization', nonce } as const;
    const recorded = ledger.record({ ...money, cause, channel: 'x402', offering, resource, ref });
    const [receipt] = await Promise.all([sign(), recorded]);
    const keptUntil = new Date(now().getTime() + ANSWER_RETENTION_DAYS * 86_400_000);
    return claims.settle(claim, { settlement: { txHash, at }, receipt, keptUntil });
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
