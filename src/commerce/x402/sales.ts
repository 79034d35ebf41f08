import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { x402ResourceServer } from '@x402/core/server';
import canonicalize from 'canonicalize';
import { type Address, getAddress, type Hash } from 'viem';
import { type Chain, REORG_MARGIN_BLOCKS } from '../../chain/client.ts';
import { readBlockNumber } from '../../chain/rpc.ts';
import type { ClaimedPayer } from '../../chain/stablecoin.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { DAY_MS } from '../../forecast/day.ts';
import { createCache } from '../../platform/concurrency.ts';
import type { Log } from '../../platform/log.ts';
import { attemptAndKeepTrying } from '../../platform/retry.ts';
import { inSpan } from '../../platform/tracing.ts';
import type { Ledger } from '../ledger.ts';
import { addForecastTerms, type MerchantConfig, type ReadForecastTerms, type RequireSalesOpen } from '../offerings.ts';
import {
  type ReceivedPayment,
  SignedOffers,
  type SignOffer,
  toPaymentResponse,
  toReceiptResponse,
  trySignX402Receipt,
  type X402ReceiptDeps,
} from '../receipt-signer.ts';
import { hashDocument, OFFER_RECEIPT, type SignedReceipt, type SignReceipt, type X402Receipt } from '../receipts.ts';
import { SCHEMA_DIALECT } from './bazaar.ts';
import {
  buildClaimId,
  CLAIM_LEASE_MS,
  type ClaimDoc,
  type FailedSettlementStore,
  findClaim,
  observeOutcome,
  type PaymentClaimStore,
  type PaymentInterface,
  type PaymentStep,
  paymentUnconfirmedError,
  waitForClaimChange,
} from './claims.ts';
import { createResourceServer } from './facilitator.ts';
import { isPayable, requirePayerFunds } from './local-facilitator.ts';
import {
  type ConfirmedSettlement,
  type Facilitator,
  isConfirmedSettlement,
  isKeySigned,
  readSettlementStatus,
  type SettlementOutcome,
  settlePayment,
  withExpandedSignature,
} from './settlement.ts';
import {
  buildPaymentQuote,
  createPaymentRejection,
  noPaymentError,
  type ParsedPayment,
  type PaymentQuote,
  PaymentRequiredError,
  parsePaymentPayload,
  type QuotedResource,
  requireValidNow,
  toAuthorization,
  toPaymentListing,
  type X402ErrorCode,
} from './terms.ts';

export interface SalesDeps extends Pick<X402ReceiptDeps, 'signX402Receipt'> {
  chain: Chain;
  merchant: MerchantConfig;
  facilitator: Facilitator;
  claims: PaymentClaimStore;
  failures: FailedSettlementStore;
  ledger: Ledger;
  requireOpen: RequireSalesOpen;
  /** Added to the description of each quote, which no payment repeats. */
  readForecastTerms: ReadForecastTerms;
  signReceipt: SignReceipt;
  signOffer: SignOffer;
  signal: AbortSignal;
  log: Log;
  now(): Date;
  waitMs?: number;
  /** Called with each step of a sale. */
  observePayment?(over: PaymentInterface, step: PaymentStep): void;
}

type SellingDeps = SalesDeps & { server: Promise<x402ResourceServer>; waitMs: number };

type QuotedCall = QuotedResource & Pick<PaidCall, 'over'>;

const DEFAULT_WAIT_MS = 30_000;
/** Time for which the number of the newest block is read once. */
const HEAD_MS = 10_000;

export const ANSWER_RETENTION_DAYS = 30;

/** Claims each authorization, verifies, answers, settles, delivers. After a crash the next request or sweep continues the claim. */
export class SalesService {
  readonly #deps: SellingDeps;
  readonly #heads = createCache<bigint>('x402-heads', 1);
  readonly #offers: SignedOffers;

  constructor(deps: SalesDeps) {
    this.#deps = { waitMs: DEFAULT_WAIT_MS, ...deps, server: createResourceServer(deps.merchant, deps.facilitator) };
    this.#offers = new SignedOffers({ sign: deps.signOffer, log: deps.log, now: deps.now });
  }

  /** The terms of a resource at any time, without those of its forecast. */
  async describe(resource: QuotedResource): Promise<PaymentQuote> {
    return buildPaymentQuote(await this.#deps.server, this.#deps.merchant, resource);
  }

  /** The quote of a request, with its offer if that is signed already. @throws OracleError STEP_WAITING while sales are closed */
  getQuote(call: QuotedResource): Promise<PaymentQuote> {
    return this.#quote(call, (terms) => this.#offers.find(terms));
  }

  /** The quote for a client without a payment: its offer is signed, unless the signer is slow or unavailable. @throws as `getQuote` */
  async getSignedQuote(call: QuotedCall): Promise<PaymentQuote> {
    const quote = await this.#quote(call, (terms) => this.#offers.get(terms));
    this.#observe(call, 'terms');
    return quote;
  }

  async #quote({ offering, resource, bazaar }: QuotedResource, findOffer: Parameters<typeof buildPaymentQuote>[3]): Promise<PaymentQuote> {
    const { merchant, requireOpen, readForecastTerms, server } = this.#deps;
    requireOpen();
    const terms = await readForecastTerms();
    const named = { ...resource, description: addForecastTerms(resource.description, terms) };
    const quote = await buildPaymentQuote(await server, merchant, { offering, resource: named, bazaar }, findOffer);
    return { ...quote, revealedCalls: terms.revealedCalls };
  }

  /** @throws PaymentRequiredError; OracleError CONFLICT for another request's payment, retryable codes; errors of `answer` */
  async sell(call: PaidCall): Promise<SaleResult> {
    if (call.payment === null) throw noPaymentError(await this.getSignedQuote(call));
    this.#observe(call, 'begun');
    return observeOutcome(this.#sell(call), (outcome) => this.#observe(call, outcome));
  }

  #observe({ over = 'rest' }: Pick<PaidCall, 'over'>, step: PaymentStep): void {
    this.#deps.observePayment?.(over, step);
  }

  async #sell(call: PaidCall): Promise<SaleResult> {
    const quote = await this.getQuote(call);
    const payment = await withExpandedSignature(parsePaymentPayload(await this.#deps.server, call.payment, quote), quote.requirements);
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
      _id: buildClaimId(this.#deps.merchant, payment.authorization),
      payer: payment.authorization.from,
      nonce: payment.authorization.nonce,
      digest: payment.digest,
      paymentId: payment.paymentId,
      address: call.address,
      offering: call.offering.name,
      question: computeRequestFingerprint(call),
      resource: call.resource.url,
      ref: call.ref,
      payload: { x402Version: 2, accepted: quote.requirements, payload: payment.payload },
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
      if (claim.state === 'PREPARED') return await this.#finish(claim, incoming, true);
      const prepared = await answerClaim(this.#deps, { claim, incoming, verify });
      return prepared && (await this.#finish(prepared, incoming, false));
    } catch (error) {
      // At once, not when the lease expires: a retry of the client continues the claim.
      await attemptAndKeepTrying(() => claims.releaseLease(claim), CLAIM_LEASE_MS);
      throw error;
    } finally {
      clearInterval(timer);
    }
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
    const payment = { ...toParsedPayment(claim), ...toPaymentListing(quote), address };
    try {
      return await inSpan({ name: 'x402 settlement' }, () => settlePayment(this.#deps, { payment, requirements, sinceBlock, mayBeSent }));
    } catch (error) {
      throw isOracleError(error, 'TRANSACTION_UNCONFIRMED') ? paymentUnconfirmedError(error) : error;
    }
  }

  /** The ledger comes first: the money has arrived even if a later step fails. */
  async #recordSettlement(claim: ClaimDoc, { txHash, at, block }: ConfirmedSettlement): Promise<ClaimDoc> {
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
    const recorded = ledger.record({ ...money, block, cause, channel: 'x402', offering, resource, ref });
    const signing = sign();
    // Reported below, after the ledger has the payment.
    signing.catch(() => undefined);
    await recorded;
    const [receipt, x402Receipt] = await signing;
    const keptUntil = new Date(now().getTime() + ANSWER_RETENTION_DAYS * DAY_MS);
    return claims.settle(claim, { settlement: { txHash, at }, receipt, x402Receipt, keptUntil });
  }

  /** A settled answer as first delivered. Adds the x402 receipt that the first delivery lacked. */
  async #redeliver(claim: ClaimDoc): Promise<SaleResult> {
    const sold = toSaleResult(claim);
    if (sold.x402Receipt !== null) return sold;
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

/** Recovers the signer of an admitted payment. */
type IdentifyPayer = () => Promise<ClaimedPayer>;

/** Before any chain read. @throws PaymentRequiredError for an authorization that is not valid now; OracleError RATE_LIMITED */
async function admitPayment({ failures, now }: SalesDeps, incoming: IncomingPayment): Promise<IdentifyPayer> {
  const { call, payment, quote } = incoming;
  requireValidNow(payment, quote, now());
  const wallet = payment.authorization.from;
  const belowLimit = failures.requireBelowLimit({ payer: wallet, address: call.address }, now());
  const identify = async () => ({ wallet, isProven: await isKeySigned(payment, quote.requirements) });
  if ([true, false].every((isProven) => call.hasRejectionAllowance({ wallet, isProven }))) {
    await belowLimit;
    return async () => {
      // Recovery blocks the thread for about a millisecond: requests that were just made are sent before.
      await nextTurn();
      return identify();
    };
  }
  // A rejection of the caller's allowance comes first.
  belowLimit.catch(() => undefined);
  const payer = await identify();
  call.requireRejectionAllowance(payer);
  await belowLimit;
  return async () => payer;
}

interface PreparedAnswer {
  body: Record<string, unknown>;
  forecastId: string | null;
  attestationUid: Hash | null;
}

export interface PaidCall extends QuotedResource {
  /** Default: `rest`. */
  over?: PaymentInterface;
  /** Input: the same payment with another input is rejected. */
  input: Record<string, unknown>;
  /** Decoded payment of the client, not validated; null without one. */
  payment: unknown;
  ref: string | null;
  address: string;
  /** Called before a payment is verified on chain. @throws OracleError RATE_LIMITED after too many rejected payments of payer or address */
  requireRejectionAllowance(payer: ClaimedPayer): void;
  /** Whether `requireRejectionAllowance` passes. */
  hasRejectionAllowance(payer: ClaimedPayer): boolean;
  /** Counts a payment that was rejected after a chain read. @throws OracleError RATE_LIMITED */
  countRejection(payer: ClaimedPayer): Promise<void>;
  /** Composes the answer. The client is not charged when it throws. */
  answer(): Promise<PreparedAnswer>;
}

interface IncomingPayment {
  call: PaidCall;
  payment: ParsedPayment;
  quote: PaymentQuote;
}

export type X402Payment = ReceivedPayment & { channel: 'x402' };

export interface SaleResult {
  body: Record<string, unknown>;
  payment: X402Payment;
  receipt: SignedReceipt;
  /** Receipt of the extension `offer-receipt`; null when it could not be signed. */
  x402Receipt: X402Receipt | null;
  /** True for a repeated delivery. */
  isAgain: boolean;
}

export function toSettlementResponse(
  { payment: { payer, txHash }, x402Receipt }: Pick<SaleResult, 'x402Receipt'> & { payment: Pick<X402Payment, 'payer' | 'txHash'> },
  network: string,
) {
  const extensions =
    x402Receipt === null ? {} : { extensions: { [OFFER_RECEIPT]: { info: { receipt: x402Receipt }, schema: RECEIPT_SCHEMA } } };
  return { success: true, transaction: txHash, network, payer: getAddress(payer), ...extensions } as const;
}

const RECEIPT_SCHEMA = {
  $schema: SCHEMA_DIALECT,
  type: 'object',
  properties: { receipt: { type: 'object', required: ['format', 'payload', 'signature'] } },
  required: ['receipt'],
};

export function toFailedSettlementResponse({ payer, x402Code }: { payer: Address; x402Code: X402ErrorCode }, network: string) {
  return { success: false, errorReason: x402Code, transaction: '', network, payer: getAddress(payer) } as const;
}

export function toSaleResponse({ payment, receipt }: { payment: X402Payment; receipt: SignedReceipt }) {
  return { payment: toPaymentResponse(payment), receipt: toReceiptResponse(receipt) };
}

/** The same request, from a client entitled to its answer. @throws OracleError CONFLICT for another request; PaymentRequiredError */
function requireSameRequest(claim: ClaimDoc, { call, payment, quote }: IncomingPayment): void {
  if (claim.digest !== payment.digest) throw paymentReusedError('payment-identifier', 'This payment id was used with another payment');
  if (claim.question !== computeRequestFingerprint(call)) throw paymentReusedError('payment', 'This payment was used for another request');
  const hasIdentifier = payment.paymentId !== null && [claim.paymentId, claim.formerPaymentId].includes(payment.paymentId);
  // Once settled, an authorization is public on chain and no longer proves who sends it.
  if (hasIdentifier || claim.address === call.address) return;
  throw new PaymentRequiredError(quote, 'payment_used', 'This payment was used before', {
    field: 'payment',
    suggestedAction:
      'Sign a new authorization. If you paid with this one, repeat it with its payment-identifier, or fetch the answer with a wallet signature: POST /api/svc/commerce/answers.',
  });
}

function paymentReusedError(field: string, problem: string): OracleError {
  return new OracleError('CONFLICT', problem, { field, suggestedAction: 'Sign a new authorization with a new payment id.' });
}

function computeRequestFingerprint({ offering, input }: Pick<PaidCall, 'offering' | 'input'>): string {
  const text = canonicalize({ offering: offering.name, input }) as string;
  return createHash('sha256').update(text).digest('hex');
}

function toParsedPayment({ payload, digest, paymentId }: ClaimDoc): ParsedPayment {
  return { ...payload, authorization: toAuthorization(payload.payload.authorization), paymentId: paymentId ?? null, digest };
}

/** @param claim a settled one */
function toSaleResult({ answer, settlement, receipt, x402Receipt = null, requirements, ...claim }: ClaimDoc): SaleResult {
  const payment = {
    channel: 'x402' as const,
    offering: claim.offering,
    resource: claim.resource,
    ref: claim.ref,
    chain: requirements.network,
    txHash: settlement!.txHash,
    settledAt: settlement!.at,
    payer: claim.payer,
    payee: requirements.payTo as Address,
    asset: requirements.asset as Address,
    amountMicros: BigInt(claim.amountMicros.toString()),
  };
  return { body: JSON.parse(answer as string), payment, receipt: receipt!, x402Receipt, isAgain: true };
}

/**
 * Composes the answer of an open claim and stores it, once its payment is valid. A failure discards the claim. Null when the lease was lost. @param verify called at once
 */
async function answerClaim(
  deps: SalesDeps,
  { claim, incoming, verify }: { claim: ClaimDoc; incoming: IncomingPayment; verify(): Promise<Verification> },
): Promise<ClaimDoc | null> {
  const { claims } = deps;
  const orDiscard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await claims.discard(claim);
      throw error;
    }
  };
  const { payer, verdict, firstVerdict } = await orDiscard(verify);
  const answer = await orDiscard(async () => {
    const funded = requirePayerFunds(deps, claim, incoming.quote);
    funded.catch(() => undefined);
    if (!(await isAccepted(deps, firstVerdict, { incoming, payer, claim }))) return null;
    await funded;
    return incoming.call.answer();
  });
  if (answer === null) return null;
  const { body, forecastId, attestationUid } = answer;
  const prepared = await claims.prepare(claim, { answer: JSON.stringify(body), forecastId, attestationUid });
  if (prepared === null) return null;
  return (await orDiscard(() => isAccepted(deps, verdict, { incoming, payer, claim }))) ? prepared : null;
}

/** Reason of a rejection; null for a valid payment. */
type Verdict = Promise<string | null>;

interface Verification {
  payer: Promise<ClaimedPayer>;
  /** Of the facilitator: without it no answer is delivered, and no payment is sent. */
  verdict: Verdict;
  /** Of the chain or the facilitator, whichever accepts first: then the answer may be composed and stored. */
  firstVerdict: Verdict;
}

function startVerification({ chain, facilitator, server }: SellingDeps, incoming: IncomingPayment, identify: IdentifyPayer): Verification {
  const { call, payment, quote } = incoming;
  const { requirements } = quote;
  const payer = identify();
  const verify = async () => {
    const sent = { ...payment, payer, address: call.address };
    const { isValid, invalidReason = 'invalid_payment' } = await (await server).verifyPayment(sent, requirements);
    return isValid ? null : invalidReason;
  };
  const verdict = verify();
  const acceptOnChain = async () => ((await isPayable(chain, { payment, requirements, payer })) ? null : verdict);
  const firstVerdict = facilitator.simulatesSettlement ? verdict : Promise.race([verdict, acceptOnChain()]);
  // A verdict is not awaited when an earlier step fails.
  for (const promise of [verdict, firstVerdict]) promise.catch(() => undefined);
  return { payer, verdict, firstVerdict };
}

/**
 * False when a payment is rejected because another request may have sent it. @param claim the request's own, if it has one
 * @throws PaymentRequiredError for any other rejection
 */
async function isAccepted(
  deps: SalesDeps,
  verdict: Verdict,
  { incoming, payer, claim }: { incoming: IncomingPayment; payer: Promise<ClaimedPayer>; claim?: ClaimDoc },
): Promise<boolean> {
  const refused = await verdict;
  if (refused === null) return true;
  const { call, payment, quote } = incoming;
  const known = await findClaim(deps, payment);
  if (known !== null && known.state !== 'OPEN' && known.holder !== claim?.holder) return false;
  await call.countRejection(await payer);
  throw createPaymentRejection(quote, refused, { payer: payment.authorization.from });
}
