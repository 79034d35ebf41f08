import { HTTPFacilitatorClient } from '@x402/core/http';
import { SettleError, VerifyError } from '@x402/core/types';
import type { Hex } from 'viem';
import { OracleError } from '../../errors.ts';
import type { Facilitator, Settlement } from './facilitator.ts';

/** A settlement waits for a block. */
const TIMEOUT_MS = 30_000;
/** Not what may be said of a transaction that was sent after all, or of one before: a facilitator says the first of whatever its node throws. */
const NOT_SENT = /^(invalid|insufficient|unsupported)_(?!.*(transaction_|transfer_event|nonce))/;
const TX_HASH = /^0x[0-9a-fA-F]{64}$/;

/** Somebody else's facilitator, asked over HTTP. What it says is believed only where it refuses: that money arrived, the chain has to say. */
export function remoteFacilitator(url: string): Facilitator {
  const client = new HTTPFacilitatorClient({ url, timeoutMs: TIMEOUT_MS });
  return {
    simulatesSettlement: false,
    async verify({ payload }, requirements) {
      const { isValid, invalidReason } = await answerOf('verify', () => client.verify(payload, requirements), VerifyError);
      return isValid ? null : toldReason(invalidReason, 'invalid_payment');
    },
    async settle({ payload }, requirements) {
      return settlementOf(await answerOf('settle', () => client.settle(payload, requirements), SettleError));
    },
  };
}

function settlementOf({ success, transaction, errorReason }: { success: boolean; transaction?: string; errorReason?: string }): Settlement {
  if (success && TX_HASH.test(transaction ?? '')) return { txHash: transaction as Hex };
  const reason = toldReason(errorReason, 'settlement_failed');
  // Only what is refused for what it is was surely not sent.
  if (!success && !transaction && NOT_SENT.test(reason)) return { refused: reason };
  throw unknown('settle', new Error(reason));
}

/** A refusal comes as an error with a body; anything else that fails leaves open what became of the payment. */
async function answerOf<T extends object>(
  what: string,
  ask: () => Promise<T>,
  refusal: typeof VerifyError | typeof SettleError,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof refusal && error.statusCode < 500) return error as unknown as T;
    throw unknown(what, error);
  }
}

function unknown(what: string, cause: unknown): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', `The payment facilitator does not answer (${what})`, {
    suggestedAction: 'Send the same request with the same payment again: it is never charged twice.',
    retryAfterSeconds: 5,
    cause,
  });
}

/** Text from outside. */
function toldReason(reason: string | undefined, otherwise: string): string {
  return reason !== undefined && /^[\w.-]{1,80}$/.test(reason) ? reason : otherwise;
}
