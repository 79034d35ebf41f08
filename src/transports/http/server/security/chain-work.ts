import type { Response } from 'express';
import { type CapacityClient, type CapacityLimits, SharedCapacity } from '../../../../auth/rate-limit/shared-capacity.ts';

/** Requests that are answered at a time by asking the chain, in one process. */
export const MAX_CHAIN_WORK: CapacityLimits = {
  ...{ perClient: 16, per56: 24, per48: 48 },
  ...{ anonymous: 96, anonymousAndPayers: 112, overall: 128 },
};

/** Requests that ask the chain while they are answered, over all interfaces of a process. */
export type ChainWork = Pick<SharedCapacity, 'acquire'>;

/** The capacity of a process for requests that ask the chain. */
export function createChainWork(): ChainWork {
  return new SharedCapacity({
    units: 'requests that ask the chain',
    limits: MAX_CHAIN_WORK,
    suggestedAction: 'Wait for the answers to earlier requests, or send a token, for which a part is reserved.',
    retryAfterSeconds: 5,
  });
}

/** Returns a function that counts a response as chain work, once, until it has been sent. @throws by it: OracleError RATE_LIMITED */
export function createResponseCounter(work: ChainWork | undefined, response: Response, client: () => CapacityClient): () => void {
  let isCounted = work === undefined;
  return () => {
    if (isCounted || work === undefined) return;
    const release = work.acquire(client());
    isCounted = true;
    response.once('finish', release).once('close', release);
  };
}
