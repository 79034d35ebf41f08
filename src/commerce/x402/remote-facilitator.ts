import type { Hex } from 'viem';
import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { boundedJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import type { Facilitator, Settlement } from './facilitator.ts';
import type { Payment } from './payload.ts';
import type { Requirements } from './terms.ts';

/** A settlement waits for a block. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 262_144;
/** Not what may be said of a transaction that was sent after all, or of one before: a facilitator says the first of whatever its node throws. */
const NOT_SENT = /^(invalid|insufficient|unsupported)_(?!.*(transaction_|transfer_event|nonce))/;
const TX_HASH = /^0x[0-9a-fA-F]{64}$/;

const TEXT = z.string().nullish();
/** Bodies of the facilitator interface of x402 version 2, as far as they decide anything. */
const VERIFIED = z.looseObject({ isValid: z.boolean(), invalidReason: TEXT });
const SETTLED = z.looseObject({ success: z.boolean(), transaction: TEXT, errorReason: TEXT });

/** Somebody else's facilitator, asked over HTTP. What it says is believed only where it refuses: that money arrived, the chain has to say. */
export function remoteFacilitator(url: string): Facilitator {
  const base = url.replace(/\/+$/, '');
  return {
    simulatesSettlement: false,
    async verify(payment, requirements) {
      const { isValid, invalidReason } = await call(base, 'verify', { payment, requirements, schema: VERIFIED });
      return isValid ? null : toldReason(invalidReason, 'invalid_payment');
    },
    async settle(payment, requirements) {
      return settlementOf(await call(base, 'settle', { payment, requirements, schema: SETTLED }));
    },
  };
}

interface Call<T> {
  payment: Payment;
  requirements: Requirements;
  schema: z.ZodType<T>;
}

/**
 * One operation of the facilitator interface. A rejection has a status below 500 and the body of the operation; any other failure leaves
 * open what became of the payment.
 * @throws OracleError TRANSACTION_UNCONFIRMED
 */
async function call<T>(base: string, operation: 'verify' | 'settle', { payment, requirements, schema }: Call<T>): Promise<T> {
  const { payload } = payment;
  const body = JSON.stringify({ x402Version: payload.x402Version, paymentPayload: payload, paymentRequirements: requirements });
  try {
    const fetchFacilitator = createOperatorFetch({ base, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    const headers = { 'content-type': 'application/json' };
    const response = await fetchFacilitator(`${base}/${operation}`, { method: 'POST', headers, body });
    const answer = await boundedJson(response, MAX_BYTES);
    if (response.status >= 500 || (response.status >= 300 && response.status < 400)) throw new Error(`status ${response.status}`);
    return schema.parse(answer);
  } catch (error) {
    throw unknown(operation, error);
  }
}

function settlementOf({ success, transaction, errorReason }: z.output<typeof SETTLED>): Settlement {
  if (success && TX_HASH.test(transaction ?? '')) return { txHash: transaction as Hex };
  const reason = toldReason(errorReason, 'settlement_failed');
  // Only what is refused for what it is was surely not sent.
  if (!success && !transaction && NOT_SENT.test(reason)) return { refused: reason };
  throw unknown('settle', new Error(reason));
}

function unknown(what: string, cause: unknown): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', `The payment facilitator does not answer (${what})`, {
    suggestedAction: 'Send the same request with the same payment again: it is never charged twice.',
    retryAfterSeconds: 5,
    cause,
  });
}

/** Text from outside. */
function toldReason(reason: string | null | undefined, otherwise: string): string {
  return reason != null && /^[\w.-]{1,80}$/.test(reason) ? reason : otherwise;
}
