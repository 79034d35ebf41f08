import type { Address, Hash } from 'viem';
import { chainCall } from '../../chain/rpc-error.ts';
import { isOracleError } from '../../errors.ts';
import { documentHash } from '../receipt.ts';
import { admitPayment } from './admission.ts';
import { type ClaimDoc, claimId, LEASE_MS } from './claims.ts';
import { isFreeFor } from './free-answer.ts';
import { requireFunds } from './funds.ts';
import { paymentOf, questionOf, requireSame, soldOf } from './known-claim.ts';
import { isLanded, type Landed, landed } from './landed.ts';
import type { PaidCall, Sold } from './paid-call.ts';
import { type Authorization, type Payment, readPayment, refusal } from './payload.ts';
import type { SaleDeps } from './sale-deps.ts';
import { type Refused, type SettleParts, settlePayment } from './settle.ts';
import { nothingPaid, type Terms, termsOf } from './terms.ts';
import { unconfirmed, waitForChange } from './wait.ts';

/** A prepared claim on its way to the answer. */
interface Finishing {
  call: PaidCall;
  terms: Terms;
  /** Whether somebody may have sent the payment to the chain before. */
  mayBeSent: boolean;
}

const WAIT_MS = 30_000;

/** For how long an answer is kept for whoever paid for it. */
export const ANSWERS_KEPT_DAYS = 30;

/** A reorganisation may have moved the head back since a payment was first seen. */
const REORG_MARGIN = 64;

/**
 * Sells answers for payments that come with the request. Each authorization is claimed in the store before anything is done for
 * it, in the order verify, answer, settle, release; a process that dies between two of them leaves a claim that the next request
 * with the same payment, or the next sweep, goes on with.
 */
export class Sales {
  readonly #parts: SaleDeps;
  readonly #settling: SettleParts;

  constructor(parts: SaleDeps) {
    this.#parts = parts;
    const { chain, till, facilitator, signal, waitMs = WAIT_MS } = parts;
    this.#settling = { chain, till, facilitator, waitMs, signal };
  }

  /** What every door begins with. @throws OracleError STEP_WAITING while nothing can be paid for */
  terms({ offering, resource }: Pick<PaidCall, 'offering' | 'resource'>): Terms {
    this.#parts.requireOpen();
    return termsOf(this.#parts.till, offering, resource);
  }

  /**
   * @throws PaymentRequiredError with the terms; as `terms`; OracleError CONFLICT for a payment that was used for something else,
   * TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE and SHUTTING_DOWN when the same request can be sent again; what the answer throws
   */
  async sell(call: PaidCall): Promise<Sold> {
    const terms = this.terms(call);
    if (call.payment === null) throw nothingPaid(terms);
    const payment = readPayment(call.payment, terms);
    const deadline = Date.now() + this.#settling.waitMs;
    for (;;) {
      const known = await this.#known(payment);
      const sold = known === null ? await this.#sellNew(call, payment, terms) : await this.#sellKnown(known, { call, payment, terms });
      if (sold !== null) return sold;
      if (Date.now() > deadline) throw unconfirmed();
    }
  }

  /** What a wallet has paid for by a transaction; null when it has not. */
  async soldFor(txHash: Hash, payer: Address): Promise<Sold | null> {
    const claim = await this.#parts.claims.findSettled(txHash.toLowerCase() as Hash, payer.toLowerCase() as Address);
    return claim === null ? null : soldOf(claim);
  }

  /** Finishes what processes have left undone: what was paid for is settled and kept for the payer, the rest is free again. */
  async sweep(): Promise<void> {
    for (const { _id } of await this.#parts.claims.abandoned()) {
      const claim = await this.#parts.claims.hold({ _id });
      if (claim === null) continue;
      await this.#parts.claims.swept(claim);
      try {
        await this.#finishAbandoned(claim);
      } catch (error) {
        await this.#parts.claims.letGo(claim);
        this.#parts.log.warn({ err: error, claim: _id }, 'what became of a payment is not known yet');
      }
    }
  }

  async purge(now: Date): Promise<void> {
    await Promise.all([this.#parts.claims.purge(now), this.#parts.failures.purge(now)]);
  }

  async #known({ authorization, paymentId }: Payment): Promise<ClaimDoc | null> {
    const { claims } = this.#parts;
    const claim = await claims.find(this.#idOf(authorization));
    return claim ?? (paymentId === null ? null : claims.findByPaymentId(authorization.from, paymentId));
  }

  #idOf({ from, nonce }: Authorization): string {
    const { chainId, asset } = this.#parts.till;
    return claimId({ chainId, asset, payer: from, nonce });
  }

  /** Null when somebody else was faster: look again. */
  async #sellNew(call: PaidCall, payment: Payment, terms: Terms): Promise<Sold | null> {
    const payer = await admitPayment(this.#parts, { call, payment, terms });
    const verified = this.#parts.facilitator.verify(payment, terms.requirements, payer);
    const [sinceBlock, refused] = await Promise.all([this.#blockNumber(), verified]);
    if (refused !== null) {
      // It may have been used in between, by the same client.
      if ((await this.#known(payment)) !== null) return null;
      await call.countRejection(payer);
      throw refusal(terms, refused, { payer: payment.authorization.from });
    }
    const claim = await this.#parts.claims.open({
      _id: this.#idOf(payment.authorization),
      payer: payment.authorization.from,
      nonce: payment.authorization.nonce,
      digest: payment.digest,
      paymentId: payment.paymentId,
      address: call.address,
      offering: call.offering.name,
      question: questionOf(call),
      resource: call.resource.url,
      ref: call.ref,
      payload: payment.payload,
      requirements: terms.requirements,
      amountMicros: payment.authorization.value,
      sinceBlock: sinceBlock - REORG_MARGIN,
      openedAt: this.#parts.now(),
    });
    return claim === null ? null : this.#carryOut(claim, call, terms);
  }

  /** A payment that came before. Null when its claim is gone: it is a new one again. */
  async #sellKnown(claim: ClaimDoc, { call, payment, terms }: { call: PaidCall; payment: Payment; terms: Terms }): Promise<Sold | null> {
    requireSame(claim, { call, payment, terms });
    if (claim.state === 'SETTLED') return soldOf(claim);
    const held = await this.#parts.claims.hold(claim);
    if (held !== null) return this.#carryOut(held, call, terms);
    await waitForChange(() => this.#parts.claims.find(claim._id), claim, this.#parts.signal);
    return null;
  }

  /** From wherever the claim stands to the answer, with signs of life for those who wait for it. Null when it was taken away. */
  async #carryOut(claim: ClaimDoc, call: PaidCall, terms: Terms): Promise<Sold | null> {
    const { claims, log } = this.#parts;
    const renew = () => claims.renew(claim).catch((error: unknown) => log.warn({ err: error }, 'a claim could not be renewed'));
    const timer = setInterval(renew, LEASE_MS / 4);
    try {
      return await this.#advance(claim, call, terms);
    } finally {
      clearInterval(timer);
    }
  }

  async #advance(claim: ClaimDoc, call: PaidCall, terms: Terms): Promise<Sold | null> {
    if (claim.state === 'PREPARED') return this.#finish(claim, { call, terms, mayBeSent: true });
    const answer = await this.#orRelease(claim, async () => {
      await requireFunds(this.#parts, claim, terms);
      return call.answer();
    });
    const { freeBody } = answer;
    if (freeBody !== undefined && (await this.#orRelease(claim, () => isFreeFor(this.#parts, claim)))) {
      await this.#parts.claims.release(claim);
      return { body: freeBody, payment: null, receipt: null, isAgain: false };
    }
    const { forecastId, attestationUid } = answer;
    const prepared = await this.#parts.claims.prepare(claim, { answer: JSON.stringify(answer.body), forecastId, attestationUid });
    return prepared === null ? null : this.#finish(prepared, { call, terms, mayBeSent: false });
  }

  async #orRelease<T>(claim: ClaimDoc, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#parts.claims.release(claim);
      throw error;
    }
  }

  async #finish(claim: ClaimDoc, { call, terms, mayBeSent }: Finishing): Promise<Sold> {
    const settlement = await this.#settle(claim, mayBeSent);
    if (!('refused' in settlement)) {
      const settled = await this.#writeDown(claim, settlement);
      if (mayBeSent) await this.#parts.failures.forget(claim);
      return { ...soldOf(settled), isAgain: false };
    }
    const { refused, isOver } = settlement;
    await this.#parts.failures.record(claim, this.#parts.now());
    // While the authorization is good, anybody who has it can still bring it to the chain: then its payer shall have his answer.
    await (isOver ? this.#parts.claims.release(claim) : this.#parts.claims.letGo(claim, { forgetId: true }));
    await call.countRejection({ wallet: claim.payer, isProven: true });
    throw refusal(terms, refused, { payer: claim.payer, unsettledOf: claim.payer });
  }

  async #settle(claim: ClaimDoc, mayBeSent: boolean): Promise<Landed | Refused> {
    const { requirements, sinceBlock } = claim;
    try {
      return await settlePayment(this.#settling, { payment: paymentOf(claim), requirements, sinceBlock, mayBeSent });
    } catch (error) {
      await this.#parts.claims.letGo(claim);
      throw isOracleError(error, 'TRANSACTION_UNCONFIRMED') ? unconfirmed(error) : error;
    }
  }

  /** First the ledger: that money has arrived is true whatever comes then. */
  async #writeDown(claim: ClaimDoc, { txHash, at }: Landed): Promise<ClaimDoc> {
    const { ledger, signReceipt, claims, till, now } = this.#parts;
    const { payer, nonce, ref, offering, forecastId, attestationUid, resource } = claim;
    const amountMicros = BigInt(claim.amountMicros.toString());
    const money = { payer, payee: till.payee, asset: till.asset, amountMicros, txHash, settledAt: at };
    await ledger.record({ ...money, cause: { kind: 'authorization', nonce }, channel: 'x402', offering, resource, ref });
    const answerHash = documentHash(JSON.parse(claim.answer as string));
    const receipt = await signReceipt({ ...money, resource, answerHash, forecastId, attestationUid });
    const keptUntil = new Date(now().getTime() + ANSWERS_KEPT_DAYS * 86_400_000);
    return claims.settle(claim, { settlement: { txHash, at }, receipt, keptUntil });
  }

  async #finishAbandoned(claim: ClaimDoc): Promise<void> {
    // Nothing was sent before the answer was written down; and nobody waits for one any more.
    if (claim.state === 'OPEN') return this.#parts.claims.release(claim);
    const { chain, till, claims } = this.#parts;
    const { authorization } = paymentOf(claim);
    // Nobody waits: what was sent is followed, what was not is not sent.
    const found = await landed(chain, till, { authorization, sinceBlock: claim.sinceBlock });
    if (isLanded(found)) {
      await this.#writeDown(claim, found);
      await this.#parts.failures.forget(claim);
    } else if (found === 'spent' || found === 'late') await claims.release(claim);
    else await claims.letGo(claim);
  }

  async #blockNumber(): Promise<number> {
    return Number(await chainCall('Reading the block number', () => this.#parts.chain.client.getBlockNumber()));
  }
}
