import { randomBytes } from 'node:crypto';
import { x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { SignJWT } from 'jose';
import { z } from 'zod';
import type { Chain } from '../../chain/client.ts';
import { getErrorMessage, OracleError } from '../../errors.ts';
import { createCache } from '../../platform/concurrency.ts';
import type { Log } from '../../platform/log.ts';
import { createOperatorFetch, readJson } from '../../platform/outbound/operator.ts';
import { parseApiKeySecret } from '../../platform/secrets.ts';
import { getCaip2Network, type MerchantConfig } from '../offerings.ts';
import { isYetToBeDeployed } from './local-facilitator.ts';
import type { Facilitator, SentPayment } from './settlement.ts';
import type { PaymentRequirements } from './terms.ts';

/** Decides terms, matching, verification and settlement. What the facilitator supports is not asked for: terms do not wait for it. @param facilitator unset for terms alone */
export async function createResourceServer(merchant: MerchantConfig, facilitator?: Facilitator): Promise<x402ResourceServer> {
  const network = getCaip2Network(merchant);
  const getSupported = async () => ({ kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} });
  const server = new x402ResourceServer({ ...facilitator!, getSupported }).register(network, new ExactEvmScheme());
  await server.initialize();
  return server;
}

const TIMEOUT_MS = 5_000;
const KIND = z.looseObject({ scheme: z.string(), network: z.string(), extra: z.looseObject({}).nullish() });
const SUPPORTED = z.looseObject({ kinds: z.array(KIND), extensions: z.array(z.string()).nullish() });
/** Name of the setting in the reference facilitator, which a facilitator may repeat in `extra`. */
const FACTORIES_MEMBER = 'eip6492AllowedFactories';
const DEPLOYMENT_EXTENSION = 'eip6492';

/** Requires a remote facilitator that settles `exact` on the chain, by its `/supported`, and accepts the key. @throws OracleError CONFIG_INVALID */
export async function requireFacilitatorSupport(endpoint: FacilitatorEndpoint, chainId: number): Promise<void> {
  const [{ kinds }] = await Promise.all([readSupported(endpoint, chainId), requireKey(endpoint)]);
  if (kinds.length === 0) throw facilitatorError(`does not settle "exact" on eip155:${chainId}`);
}

/**
 * Whether a facilitator says that it deploys payers' wallets (ERC-6492): by its factories in `extra` of the kind, or by an extension. The
 * protocol has no member for it. @throws OracleError CONFIG_INVALID without a valid `/supported`
 */
async function readDeploymentSupport(endpoint: FacilitatorEndpoint, chainId: number): Promise<boolean> {
  const { kinds, extensions } = await readSupported(endpoint, chainId);
  return extensions?.includes(DEPLOYMENT_EXTENSION) === true || kinds.flatMap(({ extra }) => extra?.[FACTORIES_MEMBER] ?? []).length > 0;
}

/** `kinds`: the scheme `exact` on the chain. */
async function readSupported(endpoint: FacilitatorEndpoint, chainId: number): Promise<z.output<typeof SUPPORTED>> {
  try {
    const response = await callFacilitator(endpoint, { path: '/supported', timeoutMs: TIMEOUT_MS });
    if (!response.ok) throw facilitatorError(`answers ${response.status} at /supported`);
    const { kinds, ...supported } = SUPPORTED.parse(await readJson(response, MAX_ANSWER_BYTES));
    return { ...supported, kinds: kinds.filter(({ scheme, network }) => scheme === 'exact' && network === `eip155:${chainId}`) };
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

/** For which `/supported` is not asked again. */
const SUPPORT_MS = 600_000;

interface RemoteFacilitatorDeps {
  endpoint: FacilitatorEndpoint;
  chain: Pick<Chain, 'chainId' | 'client'>;
  log: Log;
  now(): Date;
}

/** A remote facilitator over HTTP. Only its rejections are trusted: the chain decides whether money has arrived. */
export function createRemoteFacilitator(deps: RemoteFacilitatorDeps): Facilitator {
  const { endpoint, chain, log, now } = deps;
  const support = createCache<boolean>('facilitator-support', 1);
  const deploysWallets = () =>
    support
      .get(Math.floor(now().getTime() / SUPPORT_MS), () => readDeploymentSupport(endpoint, chain.chainId))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the facilitator did not say whether it deploys wallets');
        return false;
      });
  return {
    simulatesSettlement: false,
    async verify(payment, requirements) {
      if ((await isYetToBeDeployed(chain, payment)) && !(await deploysWallets())) {
        return { isValid: false, invalidReason: 'eip6492_unsupported_by_facilitator' };
      }
      const { isValid, invalidReason } = await requestDecision(deps, 'verify', { payment, requirements, schema: VERIFY_RESPONSE });
      return isValid ? { isValid } : { isValid, invalidReason: sanitizeReason(invalidReason, 'invalid_payment') };
    },
    async settle(payment, requirements) {
      const answer = await requestDecision(deps, 'settle', { payment, requirements, schema: SETTLE_RESPONSE });
      const { success, errorReason } = answer;
      const transaction = answer.transaction ?? '';
      const { network } = requirements;
      if (success && TX_HASH.test(transaction)) return { success, transaction, network };
      const reason = sanitizeReason(errorReason, 'settlement_failed');
      // Only a rejection of the payment itself proves that nothing was sent.
      if (!success && transaction === '' && NOT_SENT.test(reason)) return { success, errorReason: reason, transaction, network };
      throw noAnswerError('settle', new Error(reason));
    },
  };
}

/** A rejection has a status below 500 and a valid body; after any other failure the payment's status is unknown. */
async function requestDecision<T>(
  { endpoint, log }: RemoteFacilitatorDeps,
  operation: 'verify' | 'settle',
  { payment, requirements, schema }: { payment: SentPayment; requirements: PaymentRequirements; schema: z.ZodType<T> },
): Promise<T> {
  const { x402Version, accepted, payload, resource, extensions } = payment;
  const paymentPayload = { x402Version, accepted, payload, resource, extensions };
  const body = { x402Version, paymentPayload, paymentRequirements: requirements };
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
