import { type PaymentRequirement, type SignedPayment, signPayment } from '../../../src/commerce/payment-signer.ts';
import {
  checkReceipt,
  checkX402Receipt,
  decodeBase64Json,
  encodeBase64Json,
  getPaymentExpiry,
  type PayableCoin,
  parsePaymentRequired,
  type ReceiptCheck,
  USDC_COINS,
} from '../../../src/payer.ts';
import {
  OracleError,
  PaymentDeclined,
  PaymentUncertain,
  ReceiptRejected,
  ServiceProblem,
  TransportError,
  toServiceProblem,
} from './errors.ts';
import { formatUsd, type OracleAccount, parseUsd, readJson, requireAccount, type Send } from './http.ts';
import type { PaidAnswer, PaidAnswers, PaymentOptions, PreparedPayment, Product, SignalHorizon } from './types.ts';

const PATHS = { signal: '/oracle', premium: '/oracle/premium' } as const;
const DEFAULT_ATTEMPTS = 4;
const MIN_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
const UNKNOWN_COIN_HINT = 'To pay in this coin, name it in coins.';

interface PayerDeps extends Connection {
  account: OracleAccount | undefined;
}

/** Buys answers by x402 version 2: scheme `exact`, an EIP-3009 authorization without gas. */
export class Payer {
  readonly #deps: PayerDeps;
  /** By path. While one payment may still be used, no second one is signed for the same answer. */
  readonly #pending = new Map<string, PreparedPayment>();
  readonly #running = new Map<string, { maxUsd: string; bought: Promise<PaidAnswer> }>();

  constructor(deps: PayerDeps) {
    this.#deps = deps;
  }

  /**
   * Pays for an answer and checks its receipt. Calls for the same answer at the same time share one payment, and a payment without a known
   * result is sent again by the next call. @throws PaymentDeclined before signing; PaymentUncertain; ReceiptRejected; ServiceProblem
   */
  async buy<What extends Product = 'signal'>(options: PaymentOptions<What>): Promise<PaidAnswer<What>> {
    const path = buildPath(options);
    const maxMicros = parseUsd('maxUsd', options.maxUsd);
    const running = this.#running.get(path);
    if (running !== undefined) {
      requireWithinLimit(parseUsd('maxUsd', running.maxUsd), maxMicros);
      return (await running.bought) as PaidAnswer<What>;
    }
    const bought = this.#buy(path, options).finally(() => this.#running.delete(path));
    this.#running.set(path, { maxUsd: options.maxUsd, bought });
    return (await bought) as PaidAnswer<What>;
  }

  /** Asks for the terms and signs without sending. Stored before `send`, the payment survives a crash. @throws PaymentDeclined */
  async prepare<What extends Product = 'signal'>(options: PaymentOptions<What>): Promise<PreparedPayment<What>> {
    const { url, send } = this.#deps;
    const account = requireAccount(this.#deps.account, 'signTypedData');
    const maxMicros = parseUsd('maxUsd', options.maxUsd);
    const coins = options.coins ?? USDC_COINS;
    const requirement = await fetchTerms(this.#deps, buildPath(options), { coins, unknownCoinHint: UNKNOWN_COIN_HINT });
    requireWithinLimit(requirement.amountMicros, maxMicros);
    const seller = options.seller ?? (await fetchReceiptSigner(url, send));
    const payment = await signPayment(account, requirement, new Date());
    const what = (options.what ?? 'signal') as What;
    const usd = formatUsd(requirement.amountMicros);
    return { what, path: buildPath(options), usd, seller, expiresAt: getPaymentExpiry(payment).toISOString(), payment };
  }

  /** Sends a payment, or the same once more: it is settled once, and the answer is the same. @throws as `buy` */
  async send<What extends Product>(
    prepared: PreparedPayment<What>,
    { attempts }: Pick<PaymentOptions, 'attempts'> = {},
  ): Promise<PaidAnswer<What>> {
    const { answer, settlement } = await deliverPayment(this.#deps, prepared, { attempts }).catch((error: unknown) => {
      throw error instanceof TransportError ? new PaymentUncertain(prepared, error) : error;
    });
    const bought = { answer: answer as unknown as PaidAnswers[What], usd: prepared.usd, settlement };
    const checks = await checkPurchase(answer, { ...prepared, settlement });
    if (checks.every(({ ok }) => ok)) return { ...bought, checks };
    throw new ReceiptRejected({ ...bought, checks } as PaidAnswer);
  }

  async #buy(path: string, options: PaymentOptions<Product>): Promise<PaidAnswer> {
    const pending = this.#pending.get(path);
    if (pending !== undefined) {
      requireWithinLimit(parseUsd('usd', pending.usd), parseUsd('maxUsd', options.maxUsd));
      try {
        return await this.#sendPending(path, pending, options);
      } catch (error) {
        // Rejected after its end: it can no longer be used.
        if (!(error instanceof ServiceProblem) || new Date(pending.expiresAt) > new Date()) throw error;
      }
    }
    const prepared = await this.prepare(options);
    this.#pending.set(path, prepared);
    return this.#sendPending(path, prepared, options);
  }

  /** A payment whose rejection only the service claims stays: another could be charged besides. */
  async #sendPending(path: string, prepared: PreparedPayment, options: PaymentOptions<Product>): Promise<PaidAnswer> {
    try {
      const bought = await this.send(prepared, options);
      this.#pending.delete(path);
      return bought;
    } catch (error) {
      if (error instanceof ReceiptRejected) this.#pending.delete(path);
      throw error;
    }
  }
}

interface Connection {
  url: string;
  send: Send;
}

/** The terms of an answer, in an accepted coin. @throws PaymentDeclined where there is none; ServiceProblem, TransportError */
export async function fetchTerms(
  { url, send }: Connection,
  path: string,
  { coins, unknownCoinHint }: { coins: readonly PayableCoin[]; unknownCoinHint: string },
): Promise<PaymentRequirement> {
  const response = await send(buildRequest(url, path));
  if (response.status !== 402) {
    await readJson(response);
    throw new TransportError(`${path} answers ${response.status} instead of 402 with the terms`);
  }
  try {
    return parsePaymentRequired(response.headers.get('PAYMENT-REQUIRED'), coins, unknownCoinHint);
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    throw new PaymentDeclined(error.message, error.suggestedAction);
  }
}

interface DeliveryOptions {
  attempts?: number | undefined;
  /** The result is unknown, and the same payment is sent again. */
  onRetry?(error: OracleError): void;
}

/** Sends a payment, and the same again while its result is unknown. @throws ServiceProblem when it was rejected; another OracleError when its result stays unknown */
export async function deliverPayment(
  { url, send }: Connection,
  { path, payment }: { path: string; payment: SignedPayment },
  { attempts = DEFAULT_ATTEMPTS, onRetry }: DeliveryOptions = {},
): Promise<{ answer: Record<string, unknown>; settlement: unknown }> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await send(buildRequest(url, path, { 'PAYMENT-SIGNATURE': encodeBase64Json(payment) }));
      const answer = (await readPaidJson(response)) as Record<string, unknown>;
      return { answer, settlement: decodeSettlement(response.headers.get('PAYMENT-RESPONSE')) };
    } catch (error) {
      if (!(error instanceof OracleError) || (error instanceof ServiceProblem && !error.retryable)) throw error;
      if (attempt >= attempts || !error.retryable)
        throw new TransportError(error.message, { cause: error, retryAfterSeconds: error.retryAfterSeconds });
      onRetry?.(error);
      const waitMs = Math.max(MIN_WAIT_MS * attempt, (error.retryAfterSeconds ?? 0) * 1_000);
      await new Promise((resolve) => setTimeout(resolve, Math.min(MAX_WAIT_MS, waitMs)));
    }
  }
}

function buildRequest(url: string, path: string, headers: Record<string, string> = {}): Request {
  return new Request(url + path, { headers: { Accept: 'application/json', ...headers } });
}

function buildPath({ what = 'signal', horizon = '7d' }: { what?: Product; horizon?: SignalHorizon }): string {
  return `${PATHS[what]}?horizon=${encodeURIComponent(horizon)}`;
}

function requireWithinLimit(micros: bigint, maxMicros: bigint): void {
  if (micros > 0n && micros <= maxMicros) return;
  throw new PaymentDeclined(`The price is ${formatUsd(micros)} USD, the limit maxUsd ${formatUsd(maxMicros)} USD`);
}

/** A failure of the service after a payment leaves its result open, whatever the response says of a repetition. */
async function readPaidJson(response: Response): Promise<unknown> {
  if (response.status < 500) return readJson(response);
  const problem = toServiceProblem(response, await response.json().catch(() => null));
  throw new TransportError(problem.detail, { cause: problem, retryAfterSeconds: problem.retryAfterSeconds });
}

function decodeSettlement(header: string | null): unknown {
  try {
    return header === null ? undefined : decodeBase64Json(header);
  } catch {
    return undefined;
  }
}

interface Purchase {
  payment: SignedPayment;
  seller: `0x${string}`;
  settlement: unknown;
}

/** Wallet that signs receipts, as the service publishes it. @throws TransportError, ServiceProblem */
export async function fetchReceiptSigner(url: string, send: Send): Promise<`0x${string}`> {
  const headers = { Accept: 'application/json' };
  const document = (await readJson(await send(new Request(`${url}/.well-known/x402.json`, { headers })))) as {
    receipt?: { signer?: unknown };
  };
  const signer = document.receipt?.signer;
  if (typeof signer === 'string' && /^0x[0-9a-fA-F]{40}$/.test(signer)) return signer as `0x${string}`;
  throw new TransportError('/.well-known/x402.json names no signer of receipts: is this the address of the service?');
}

/** That the seller has signed for this payer, this amount and exactly this answer, and the same in its x402 receipt where there is one. */
export async function checkPurchase(answer: Record<string, unknown>, { payment, seller, settlement }: Purchase): Promise<ReceiptCheck[]> {
  const issuer = { seller, chainId: Number(String(payment.accepted.network).split(':')[1]) };
  const sale = { payer: payment.payload.authorization.from, payment: (answer.payment ?? {}) as { resource?: unknown; txHash?: unknown } };
  return [...(await checkReceipt(answer, { payment, ...issuer })), ...(await checkX402Receipt(settlement, { ...sale, ...issuer }))];
}
