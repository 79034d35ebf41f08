import type { Address, Hash } from 'viem';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { isOracleError } from '../../platform/errors.ts';
import { hashDocument } from '../receipts/receipt.ts';
import { admitPayment } from './admission.ts';
import { buildClaimId, CLAIM_LEASE_MS, type ClaimDoc } from './claim-store.ts';
import { paymentUnconfirmedError, waitForClaimChange } from './claim-wait.ts';
import { isEligibleForFreeAnswer } from './free-eligibility.ts';
import type { PaidCall, SaleResult } from './paid-call.ts';
import { requirePayerFunds } from './payer-funds.ts';
import { computeRequestFingerprint, requireSameRequest, toParsedPayment, toSaleResult } from './payment-replay.ts';
import { type Authorization, createPaymentRejection, type ParsedPayment, parsePaymentPayload } from './protocol/payment-payload.ts';
import { buildPaymentQuote, noPaymentError, type PaymentQuote } from './protocol/payment-quote.ts';
import type { SalesDeps } from './sales-deps.ts';
import { type RejectedSettlement, type SettleDeps, settlePayment } from './settlement/settle.ts';
import { type ConfirmedSettlement, isConfirmedSettlement, readSettlementStatus } from './settlement/settlement-status.ts';

/** A prepared claim on its way to the answer. */
interface FinishContext {
  call: PaidCall;
  quote: PaymentQuote;
  /** Whether somebody may have sent the payment to the chain before. */
  mayBeSent: boolean;
}

const DEFAULT_WAIT_MS = 30_000;

/** For how long an answer is kept for whoever paid for it. */
export const ANSWER_RETENTION_DAYS = 30;

/** A reorganisation may have moved the head back since a payment was first seen. */
const REORG_MARGIN = 64;

/**
 * Sells answers for payments that come with the request. Each authorization is claimed in the store before anything is done for
 * it, in the order verify, answer, settle, release; a process that dies between two of them leaves a claim that the next request
 * with the same payment, or the next sweep, goes on with.
 */
export class SalesService {
  readonly #deps: SalesDeps;
  readonly #settleDeps: SettleDeps;

  constructor(deps: SalesDeps) {
    this.#deps = deps;
    const { chain, merchant, facilitator, signal, waitMs = DEFAULT_WAIT_MS } = deps;
    this.#settleDeps = { chain, merchant, facilitator, waitMs, signal };
  }

  /** What every door begins with. @throws OracleError STEP_WAITING while nothing can be paid for */
  getQuote({ offering, resource }: Pick<PaidCall, 'offering' | 'resource'>): PaymentQuote {
    this.#deps.requireOpen();
    return buildPaymentQuote(this.#deps.merchant, offering, resource);
  }

  /**
   * @throws PaymentRequiredError with the terms; as `terms`; OracleError CONFLICT for a payment that was used for something else,
   * TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE and SHUTTING_DOWN when the same request can be sent again; what the answer throws
   */
  async sell(call: PaidCall): Promise<SaleResult> {
    const quote = this.getQuote(call);
    if (call.payment === null) throw noPaymentError(quote);
    const payment = parsePaymentPayload(call.payment, quote);
    const deadline = Date.now() + this.#settleDeps.waitMs;
    for (;;) {
      const known = await this.#findClaim(payment);
      const sold =
        known === null ? await this.#sellNew(call, payment, quote) : await this.#sellKnown(known, { call, payment, terms: quote });
      if (sold !== null) return sold;
      if (Date.now() > deadline) throw paymentUnconfirmedError();
    }
  }

  /** What a wallet has paid for by a transaction; null when it has not. */
  async findSaleResult(txHash: Hash, payer: Address): Promise<SaleResult | null> {
    const claim = await this.#deps.claims.findSettled(txHash.toLowerCase() as Hash, payer.toLowerCase() as Address);
    return claim === null ? null : toSaleResult(claim);
  }

  /** Finishes what processes have left undone: what was paid for is settled and kept for the payer, the rest is free again. */
  async sweep(): Promise<void> {
    for (const { _id } of await this.#deps.claims.listAbandoned()) {
      const claim = await this.#deps.claims.acquireLease({ _id });
      if (claim === null) continue;
      await this.#deps.claims.markSwept(claim);
      try {
        await this.#finishAbandoned(claim);
      } catch (error) {
        await this.#deps.claims.releaseLease(claim);
        this.#deps.log.warn({ err: error, claim: _id }, 'what became of a payment is not known yet');
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

  /** Null when somebody else was faster: look again. */
  async #sellNew(call: PaidCall, payment: ParsedPayment, quote: PaymentQuote): Promise<SaleResult | null> {
    const payer = await admitPayment(this.#deps, { call, payment, terms: quote });
    const verified = this.#deps.facilitator.verify(payment, quote.requirements, payer);
    const [sinceBlock, refused] = await Promise.all([this.#blockNumber(), verified]);
    if (refused !== null) {
      // It may have been used in between, by the same client.
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
      sinceBlock: sinceBlock - REORG_MARGIN,
      openedAt: this.#deps.now(),
    });
    return claim === null ? null : this.#runClaim(claim, call, quote);
  }

  /** A payment that came before. Null when its claim is gone: it is a new one again. */
  async #sellKnown(
    claim: ClaimDoc,
    { call, payment, terms: quote }: { call: PaidCall; payment: ParsedPayment; terms: PaymentQuote },
  ): Promise<SaleResult | null> {
    requireSameRequest(claim, { call, payment, terms: quote });
    if (claim.state === 'SETTLED') return toSaleResult(claim);
    const held = await this.#deps.claims.acquireLease(claim);
    if (held !== null) return this.#runClaim(held, call, quote);
    await waitForClaimChange(() => this.#deps.claims.find(claim._id), claim, this.#deps.signal);
    return null;
  }

  /** From wherever the claim stands to the answer, with signs of life for those who wait for it. Null when it was taken away. */
  async #runClaim(claim: ClaimDoc, call: PaidCall, quote: PaymentQuote): Promise<SaleResult | null> {
    const { claims, log } = this.#deps;
    const renew = () => claims.heartbeat(claim).catch((error: unknown) => log.warn({ err: error }, 'a claim could not be renewed'));
    const timer = setInterval(renew, CLAIM_LEASE_MS / 4);
    try {
      return await this.#advance(claim, call, quote);
    } finally {
      clearInterval(timer);
    }
  }

  async #advance(claim: ClaimDoc, call: PaidCall, quote: PaymentQuote): Promise<SaleResult | null> {
    if (claim.state === 'PREPARED') return this.#finish(claim, { call, quote, mayBeSent: true });
    const answer = await this.#orDiscard(claim, async () => {
      await requirePayerFunds(this.#deps, claim, quote);
      return call.answer();
    });
    const { freeBody } = answer;
    if (freeBody !== undefined && (await this.#orDiscard(claim, () => isEligibleForFreeAnswer(this.#deps, claim)))) {
      await this.#deps.claims.discard(claim);
      return { body: freeBody, payment: null, receipt: null, isAgain: false };
    }
    const { forecastId, attestationUid } = answer;
    const prepared = await this.#deps.claims.prepare(claim, { answer: JSON.stringify(answer.body), forecastId, attestationUid });
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
    const settlement = await this.#settle(claim, mayBeSent);
    if (!('refused' in settlement)) {
      const settled = await this.#recordSettlement(claim, settlement);
      if (mayBeSent) await this.#deps.failures.remove(claim);
      return { ...toSaleResult(settled), isAgain: false };
    }
    const { refused, isOver } = settlement;
    await this.#deps.failures.record(claim, this.#deps.now());
    // While the authorization is good, anybody who has it can still bring it to the chain: then its payer shall have his answer.
    await (isOver ? this.#deps.claims.discard(claim) : this.#deps.claims.releaseLease(claim, { forgetId: true }));
    await call.countRejection({ wallet: claim.payer, isProven: true });
    throw createPaymentRejection(quote, refused, { payer: claim.payer, unsettledOf: claim.payer });
  }

  async #settle(claim: ClaimDoc, mayBeSent: boolean): Promise<ConfirmedSettlement | RejectedSettlement> {
    const { requirements, sinceBlock } = claim;
    try {
      return await settlePayment(this.#settleDeps, { payment: toParsedPayment(claim), requirements, sinceBlock, mayBeSent });
    } catch (error) {
      await this.#deps.claims.releaseLease(claim);
      throw isOracleError(error, 'TRANSACTION_UNCONFIRMED') ? paymentUnconfirmedError(error) : error;
    }
  }

  /** First the ledger: that money has arrived is true whatever comes then. */
  async #recordSettlement(claim: ClaimDoc, { txHash, at }: ConfirmedSettlement): Promise<ClaimDoc> {
    const { ledger, signReceipt, claims, merchant, now } = this.#deps;
    const { payer, nonce, ref, offering, forecastId, attestationUid, resource } = claim;
    const amountMicros = BigInt(claim.amountMicros.toString());
    const money = { payer, payee: merchant.payee, asset: merchant.asset, amountMicros, txHash, settledAt: at };
    await ledger.record({ ...money, cause: { kind: 'authorization', nonce }, channel: 'x402', offering, resource, ref });
    const answerHash = hashDocument(JSON.parse(claim.answer as string));
    const receipt = await signReceipt({ ...money, resource, answerHash, forecastId, attestationUid });
    const keptUntil = new Date(now().getTime() + ANSWER_RETENTION_DAYS * 86_400_000);
    return claims.settle(claim, { settlement: { txHash, at }, receipt, keptUntil });
  }

  async #finishAbandoned(claim: ClaimDoc): Promise<void> {
    // Nothing was sent before the answer was written down; and nobody waits for one any more.
    if (claim.state === 'OPEN') return this.#deps.claims.discard(claim);
    const { chain, merchant, claims } = this.#deps;
    const { authorization } = toParsedPayment(claim);
    // Nobody waits: what was sent is followed, what was not is not sent.
    const found = await readSettlementStatus(chain, merchant, { authorization, sinceBlock: claim.sinceBlock });
    if (isConfirmedSettlement(found)) {
      await this.#recordSettlement(claim, found);
      await this.#deps.failures.remove(claim);
    } else if (found === 'spent' || found === 'late') await claims.discard(claim);
    else await claims.releaseLease(claim);
  }

  async #blockNumber(): Promise<number> {
    return Number(await chainCall('Reading the block number', () => this.#deps.chain.client.getBlockNumber()));
  }
}
