import type { Hex } from 'viem';
import { z } from 'zod';
import { getErrorMessage, OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { readJson } from '../../../platform/outbound/bounded-json.ts';
import type { ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';
import type { Facilitator, FacilitatorSettlement } from './facilitator.ts';
import { callFacilitator, type FacilitatorEndpoint, MAX_ANSWER_BYTES } from './facilitator-endpoint.ts';

/** A settlement takes at least a block. */
const TIMEOUT_MS = 30_000;
const MAX_LOGGED_CHARS = 500;
/** Reasons that prove that nothing was sent. Excludes reasons that facilitators also report for a transaction that was sent. */
const NOT_SENT = /^(invalid|insufficient|unsupported)_(?!.*(transaction_|transfer_event|nonce))/;
const TX_HASH = /^0x[0-9a-fA-F]{64}$/;
const TEXT = z.string().nullish();
const VERIFY_RESPONSE = z.looseObject({ isValid: z.boolean(), invalidReason: TEXT });
const SETTLE_RESPONSE = z.looseObject({ success: z.boolean(), transaction: TEXT, errorReason: TEXT });

export interface RemoteFacilitatorDeps {
  endpoint: FacilitatorEndpoint;
  log: Log;
}

/** A remote facilitator over HTTP. Only its rejections are trusted: the chain decides whether money has arrived. */
export function createRemoteFacilitator(deps: RemoteFacilitatorDeps): Facilitator {
  return {
    simulatesSettlement: false,
    async verify(payment, requirements) {
      const { isValid, invalidReason } = await requestDecision(deps, 'verify', { payment, requirements, schema: VERIFY_RESPONSE });
      return isValid ? null : sanitizeReason(invalidReason, 'invalid_payment');
    },
    async settle(payment, requirements) {
      return toFacilitatorSettlement(await requestDecision(deps, 'settle', { payment, requirements, schema: SETTLE_RESPONSE }));
    },
  };
}

interface FacilitatorRequest<T> {
  payment: ParsedPayment;
  requirements: PaymentRequirements;
  schema: z.ZodType<T>;
}

/** A rejection has a status below 500 and a valid body; after any other failure the payment's status is unknown. */
async function requestDecision<T>(
  { endpoint, log }: RemoteFacilitatorDeps,
  operation: 'verify' | 'settle',
  { payment, requirements, schema }: FacilitatorRequest<T>,
): Promise<T> {
  const { payload, listing } = payment;
  const { x402Version } = payload;
  const body = { x402Version, paymentPayload: { ...payload, ...listing }, paymentRequirements: requirements };
  try {
    const response = await callFacilitator(endpoint, { path: `/${operation}`, body, timeoutMs: TIMEOUT_MS });
    const answer = await readJson(response, MAX_ANSWER_BYTES);
    if (response.status >= 500 || (response.status >= 300 && response.status < 400)) throw new Error(`status ${response.status}`);
    const { success, data } = schema.safeParse(answer);
    if (!success) throw new Error(`status ${response.status} without a decision`);
    return data;
  } catch (error) {
    log.warn({ reason: formatLoggedReason(error) }, 'a payment could not be checked or sent');
    throw noAnswerError(operation, error);
  }
}

/** An API key that is refused is named here alone: to clients the facilitator does not answer, and their payments stay valid. */
function formatLoggedReason(error: unknown): string {
  return `the facilitator: ${getErrorMessage(error)}`.slice(0, MAX_LOGGED_CHARS);
}

function toFacilitatorSettlement({ success, transaction, errorReason }: z.output<typeof SETTLE_RESPONSE>): FacilitatorSettlement {
  if (success && TX_HASH.test(transaction ?? '')) return { txHash: transaction as Hex };
  const reason = sanitizeReason(errorReason, 'settlement_failed');
  // Only a rejection of the payment itself proves that nothing was sent.
  if (!success && !transaction && NOT_SENT.test(reason)) return { refused: reason };
  throw noAnswerError('settle', new Error(reason));
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
