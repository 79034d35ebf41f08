import type { SendMessageRequest } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { SharedCapacity, toCapacityClient } from '../../auth/rate-limit/shared-capacity.ts';
import { getRateLimitKey, getUser } from './agent-user.ts';
import { PAYMENT_METADATA } from './payments/metadata.ts';

/** Open streams per process. Programs and pages at an address count separately. */
export const MAX_STREAMS = { perClient: 8, per56: 24, per48: 64, anonymous: 150, anonymousAndPayers: 175, overall: 200 } as const;

const RETRY_AFTER_SECONDS = 30;

/** Limits open streams, each of which holds a connection and polls the database. */
export class StreamCapacity {
  readonly #capacity = new SharedCapacity({
    units: 'streams',
    limits: MAX_STREAMS,
    suggestedAction: 'Close a stream, or read the task with GetTask.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

  /** @param message with a payment, it may use the share of payers @throws OracleError RATE_LIMITED */
  acquire(context: ServerCallContext, message?: SendMessageRequest['message']): () => void {
    const { requestContext } = getUser(context);
    const client = toCapacityClient(requestContext, message?.metadata?.[PAYMENT_METADATA.payload] !== undefined);
    return this.#capacity.acquire({ ...client, key: getRateLimitKey(context) });
  }
}
