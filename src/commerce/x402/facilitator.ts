import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Hash, Hex } from 'viem';
import { z } from 'zod';
import type { Chain } from '../../chain/client.ts';
import type { ClaimedPayer } from '../../chain/stablecoin.ts';
import { getErrorMessage, OracleError, orElse } from '../../errors.ts';
import type { Log } from '../../platform/log.ts';
import { createOperatorFetch, readJson } from '../../platform/outbound/operator.ts';
import { parseApiKeySecret } from '../../platform/secrets.ts';
import type { MerchantConfig } from '../offerings.ts';
import { sleepOrShutdown } from '../payment-instructions.ts';
import { paymentUnconfirmedError } from './claims.ts';
import type { ParsedPayment } from './payload.ts';
import {
  type ConfirmedSettlement,
  isConfirmedSettlement,
  readSettlementStatus,
  readTransactionSettlement,
  type SettlementStatus,
} from './settlement.ts';
import type { PaymentRequirements } from './terms.ts';

/** A sent transaction, whose status only the chain decides, or a rejection before anything was sent. */
export type FacilitatorSettlement = { txHash: Hash } | { refused: string };

/** `address`: as the rate limits key it. */
type PayingClient = { payer: Promise<ClaimedPayer>; address: string };

export interface Facilitator {
  readonly simulatesSettlement: boolean;
  /** Reason of a rejection; null for a valid payment. @throws OracleError CHAIN_UNREACHABLE when the validity is unknown */
  verify(payment: ParsedPayment, requirements: PaymentRequirements, client: PayingClient): Promise<string | null>;
  /** Idempotent. @throws OracleError, retryable, when the payment may have been sent now or before */
  settle(payment: ParsedPayment, requirements: PaymentRequirements, client: Pick<PayingClient, 'address'>): Promise<FacilitatorSettlement>;
}

const TIMEOUT_MS = 5_000;
const KIND = z.looseObject({ scheme: z.string(), network: z.string(), extra: z.looseObject({}).nullish() });
const SUPPORTED = z.looseObject({ kinds: z.array(KIND), extensions: z.array(z.string()).nullish() });
/** Name of the setting in the reference facilitator, which a facilitator may repeat in `extra`. */
const FACTORIES_MEMBER = 'eip6492AllowedFactories';
const DEPLOYMENT_EXTENSION = 'eip6492';

/** Requires a remote facilitator that settles `exact` on the chain, by its `/supported`, and accepts the key. @throws OracleError CONFIG_INVALID */
export async function requireFacilitatorSupport(endpoint: FacilitatorEndpoint, chainId: number): Promise<void> {
  const network = `eip155:${chainId}`;
  const [{ kinds }] = await Promise.all([readSupported(endpoint), requireKey(endpoint)]);
  if (kinds.some((kind) => isExactOn(kind, network))) return;
  throw facilitatorError(`does not settle "exact" on ${network}`);
}

/**
 * Whether a facilitator says that it deploys payers' wallets (ERC-6492): by its factories in `extra` of the kind, or by an extension. The
 * protocol has no member for it. @throws OracleError CONFIG_INVALID without a valid `/supported`
 */
export async function readDeploymentSupport(endpoint: FacilitatorEndpoint, chainId: number): Promise<boolean> {
  const { kinds, extensions } = await readSupported(endpoint);
  if (extensions?.includes(DEPLOYMENT_EXTENSION) === true) return true;
  const factories = kinds.filter((kind) => isExactOn(kind, `eip155:${chainId}`)).flatMap(({ extra }) => extra?.[FACTORIES_MEMBER] ?? []);
  return factories.length > 0;
}

function isExactOn({ scheme, network }: z.output<typeof KIND>, chain: string): boolean {
  return scheme === 'exact' && network === chain;
}

async function readSupported(endpoint: FacilitatorEndpoint): Promise<z.output<typeof SUPPORTED>> {
  try {
    const response = await callFacilitator(endpoint, { path: '/supported', timeoutMs: TIMEOUT_MS });
    if (!response.ok) throw facilitatorError(`answers ${response.status} at /supported`);
    return SUPPORTED.parse(await readJson(response, MAX_ANSWER_BYTES));
  } catch (cause) {
    throw toSupportError(cause);
  }
}

/** `/supported` may be public: only the rejection of an empty payment shows whether the key is accepted. */
async function requireKey(endpoint: FacilitatorEndpoint): Promise<void> {
  if (endpoint.authorize === undefined) return;
  try {
    const response = await callFacilitator(endpoint, { path: '/verify', body: {}, timeoutMs: TIMEOUT_MS });
    await response.body?.cancel();
    // For a payment, 403 may be about its payer.
    if (response.status === 403) throw new FacilitatorKeyError(403, endpoint);
  } catch (cause) {
    throw toSupportError(cause);
  }
}

function toSupportError(cause: unknown): OracleError {
  if (cause instanceof OracleError) return cause;
  if (!(cause instanceof FacilitatorKeyError)) return facilitatorError('gives no valid answer', cause);
  return new OracleError('CONFIG_INVALID', `The facilitator of X402_FACILITATOR_URL ${cause.message}`, {
    field: 'CDP_API_KEY_ID',
    suggestedAction: 'Set CDP_API_KEY_ID and CDP_API_KEY_SECRET to a secret API key of the project that may use the facilitator.',
    cause,
  });
}

function facilitatorError(problem: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `The facilitator of X402_FACILITATOR_URL ${problem}`, {
    field: 'X402_FACILITATOR_URL',
    suggestedAction: 'Set X402_FACILITATOR_URL to one that settles on this chain, or unset it to settle here.',
    cause,
  });
}

/** Of an answer. */
const MAX_ANSWER_BYTES = 262_144;

/** Headers that authenticate one request. @param url whole URL of the request */
type AuthorizeRequest = (method: 'GET' | 'POST', url: string) => Promise<Record<string, string>>;

/** A remote facilitator, named by the operator. */
export interface FacilitatorEndpoint {
  url: string;
  /** Unset for a facilitator without keys. */
  authorize?: AuthorizeRequest;
}

/** The facilitator processed nothing: it does not accept the key of the request, or its absence. */
class FacilitatorKeyError extends Error {
  constructor(status: number, { authorize }: FacilitatorEndpoint) {
    const problem =
      authorize === undefined ? 'asks for a key: set CDP_API_KEY_ID and CDP_API_KEY_SECRET' : 'refuses the key of CDP_API_KEY_ID';
    super(`${problem} (status ${status})`);
    this.name = 'FacilitatorKeyError';
  }
}

/** The answer of any status but 401. @param body JSON of a POST request; unset: GET @throws FacilitatorKeyError for 401; errors of `createOperatorFetch` */
export async function callFacilitator(
  endpoint: FacilitatorEndpoint,
  { path, body, timeoutMs }: { path: '/verify' | '/settle' | '/supported'; body?: object; timeoutMs: number },
): Promise<Response> {
  const base = endpoint.url.replace(/\/+$/, '');
  const url = `${base}${path}`;
  const method = body === undefined ? 'GET' : 'POST';
  const fetchFacilitator = createOperatorFetch({ base, timeoutMs, maxBytes: MAX_ANSWER_BYTES });
  const headers = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...(await endpoint.authorize?.(method, url)) };
  const response = await fetchFacilitator(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (response.status !== 401) return response;
  await response.body?.cancel();
  throw new FacilitatorKeyError(response.status, endpoint);
}

/** Longest validity that CDP accepts. */
const VALID_SECONDS = 120;

/** Bearer tokens of the Coinbase Developer Platform, one a request, as `generateJwt` of `@coinbase/cdp-sdk` signs them. */
export function createCdpAuthorization({ id, secret, now }: { id: string; secret: string; now(): Date }): AuthorizeRequest {
  const signing = parseApiKeySecret(secret);
  if (signing === null) throw new OracleError('CONFIG_INVALID', 'CDP_API_KEY_SECRET cannot be used', { field: 'CDP_API_KEY_SECRET' });
  const { key, algorithm } = signing;
  return async (method, url) => {
    const { host, pathname } = new URL(url);
    const seconds = Math.floor(now().getTime() / 1_000);
    const token = await new SignJWT({ uris: [`${method} ${host}${pathname}`] })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: id, nonce: randomBytes(16).toString('hex') })
      .setIssuer('cdp')
      .setSubject(id)
      .setIssuedAt(seconds)
      .setNotBefore(seconds)
      .setExpirationTime(seconds + VALID_SECONDS)
      .sign(key);
    return { authorization: `Bearer ${token}` };
  };
}

/** A settlement takes at least a block. */
const REMOTE_FACILITATOR_TIMEOUT_MS = 30_000;
const MAX_LOGGED_CHARS = 500;
/** Reasons that prove that nothing was sent. Excludes reasons that facilitators also report for a transaction that was sent. */
const NOT_SENT = /^(invalid|insufficient|unsupported)_(?!.*(transaction_|transfer_event|nonce))/;
const TX_HASH = /^0x[0-9a-fA-F]{64}$/;
const TEXT = z.string().nullish();
const VERIFY_RESPONSE = z.looseObject({ isValid: z.boolean(), invalidReason: TEXT });
const SETTLE_RESPONSE = z.looseObject({ success: z.boolean(), transaction: TEXT, errorReason: TEXT });

type RemoteFacilitatorDeps = { endpoint: FacilitatorEndpoint; log: Log };

/** A remote facilitator over HTTP. Only its rejections are trusted: the chain decides whether money has arrived. */
export function createRemoteFacilitator(deps: RemoteFacilitatorDeps): Facilitator {
  return {
    simulatesSettlement: false,
    async verify(payment, requirements) {
      const { isValid, invalidReason } = await requestDecision(deps, 'verify', { payment, requirements, schema: VERIFY_RESPONSE });
      return isValid ? null : sanitizeReason(invalidReason, 'invalid_payment');
    },
    async settle(payment, requirements) {
      const answer = await requestDecision(deps, 'settle', { payment, requirements, schema: SETTLE_RESPONSE });
      const { success, transaction, errorReason } = answer;
      if (success && TX_HASH.test(transaction ?? '')) return { txHash: transaction as Hex };
      const reason = sanitizeReason(errorReason, 'settlement_failed');
      // Only a rejection of the payment itself proves that nothing was sent.
      if (!success && !transaction && NOT_SENT.test(reason)) return { refused: reason };
      throw noAnswerError('settle', new Error(reason));
    },
  };
}

/** A rejection has a status below 500 and a valid body; after any other failure the payment's status is unknown. */
async function requestDecision<T>(
  { endpoint, log }: RemoteFacilitatorDeps,
  operation: 'verify' | 'settle',
  { payment, requirements, schema }: { payment: ParsedPayment; requirements: PaymentRequirements; schema: z.ZodType<T> },
): Promise<T> {
  const { payload, listing } = payment;
  const { x402Version } = payload;
  const body = { x402Version, paymentPayload: { ...payload, ...listing }, paymentRequirements: requirements };
  try {
    const response = await callFacilitator(endpoint, { path: `/${operation}`, body, timeoutMs: REMOTE_FACILITATOR_TIMEOUT_MS });
    const answer = await readJson(response, MAX_ANSWER_BYTES);
    if (response.status >= 500 || (response.status >= 300 && response.status < 400)) throw new Error(`status ${response.status}`);
    const { success, data } = schema.safeParse(answer);
    if (!success) throw new Error(`status ${response.status} without a decision`);
    return data;
  } catch (error) {
    // An API key that is refused is named here alone: to clients the facilitator does not answer, and their payments stay valid.
    const reason = `the facilitator: ${getErrorMessage(error)}`.slice(0, MAX_LOGGED_CHARS);
    log.warn({ reason }, 'a payment could not be checked or sent');
    throw noAnswerError(operation, error);
  }
}

function noAnswerError(what: string, cause: unknown): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', `The payment facilitator does not answer (${what})`, {
    suggestedAction: 'Repeat the request with the same payment: you are never charged twice.',
    retryAfterSeconds: 5,
    cause,
  });
}

/** The reason is untrusted text. */
function sanitizeReason(reason: string | null | undefined, otherwise: string): string {
  return reason != null && /^[\w.-]{1,80}$/.test(reason) ? reason : otherwise;
}

interface PipelineContext {
  chain: Chain;
  merchant: MerchantConfig;
  facilitator: Facilitator;
  waitMs: number;
  signal: AbortSignal;
}

interface PaymentToSettle {
  payment: ParsedPayment;
  requirements: PaymentRequirements;
  /** Of the client that sent it first. */
  address: string;
  /** Block of its arrival, before which it cannot have been used. */
  sinceBlock: number;
  /** False for a payment that was just verified and never sent. */
  mayBeSent: boolean;
}

/** `isOver`: the authorization can never be mined. Otherwise any holder of it can still send it. */
export type SettlementOutcome = ConfirmedSettlement | { refused: string; isOver: boolean };

const AUTHORIZATION_EXPIRED: SettlementOutcome = { refused: 'expired', isOver: true };

/** Decided by the chain: a settlement of a crashed process or a third party is found, never sent twice. @throws OracleError: settle again */
export async function settlePayment(deps: PipelineContext, sale: PaymentToSettle): Promise<SettlementOutcome> {
  const { payment, requirements, address, sinceBlock, mayBeSent } = sale;
  const { chain, merchant, facilitator } = deps;
  const readStatus = () => readSettlementStatus(chain, merchant, { authorization: payment.authorization, sinceBlock });
  const statusBefore = mayBeSent ? await readStatus() : null;
  if (statusBefore === 'late') return AUTHORIZATION_EXPIRED;
  if (statusBefore !== null) return isConfirmedSettlement(statusBefore) ? statusBefore : waitForSettlement(deps, readStatus);
  const settlement = await facilitator.settle(payment, requirements, { address });
  if ('refused' in settlement) {
    // The rejection may be due to a settlement that another sender got mined.
    const statusAfter = await readStatus();
    const isUnused = statusAfter === null || statusAfter === 'late';
    return isUnused ? { ...settlement, isOver: false } : waitForSettlement(deps, readStatus);
  }
  const sent = { authorization: payment.authorization, txHash: settlement.txHash };
  // The node may not know a transaction that a facilitator reports yet, or never.
  const reported = await readTransactionSettlement(chain, merchant, sent).catch(orElse('CHAIN_UNREACHABLE', null));
  return isConfirmedSettlement(reported) ? reported : waitForSettlement(deps, readStatus);
}

async function waitForSettlement(deps: PipelineContext, readStatus: () => Promise<SettlementStatus>): Promise<SettlementOutcome> {
  const { chain, waitMs, signal } = deps;
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await readStatus();
    if (isConfirmedSettlement(found)) return found;
    if (found === 'spent') return { refused: 'authorization_spent', isOver: true };
    if (found === 'late') return AUTHORIZATION_EXPIRED;
    if (performance.now() >= deadline) throw paymentUnconfirmedError();
    await sleepOrShutdown(chain.pollingIntervalMs, signal);
  }
}
