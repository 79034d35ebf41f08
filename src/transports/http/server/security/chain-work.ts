import type { Response } from 'express';
import { type CapacityClient, type CapacityLimits, SharedCapacity } from '../../../../auth/rate-limit/shared-capacity.ts';

/** Concurrent requests per process that call the chain. */
export const MAX_CHAIN_WORK: CapacityLimits = {
  perClient: 16,
  per56: 24,
  per48: 48,
  anonymous: 96,
  anonymousAndPayers: 112,
  overall: 128,
};

/** Capacity for requests that call the chain, shared by all transports of a process. */
export type ChainWork = Pick<SharedCapacity, 'acquire'>;

export function createChainWork(): ChainWork {
  return new SharedCapacity({
    units: 'requests that call the chain',
    limits: MAX_CHAIN_WORK,
    suggestedAction: 'Wait for responses to earlier requests, or send a token, which has a reserved share.',
    retryAfterSeconds: 5,
  });
}

/** Returns a function that acquires capacity for a response, once, until it is sent. @throws by it: OracleError RATE_LIMITED */
export function createResponseCounter(work: ChainWork | undefined, response: Response, client: () => CapacityClient): () => void {
  let isCounted = work === undefined;
  return () => {
    if (isCounted || work === undefined) return;
    const release = work.acquire(client());
    isCounted = true;
    response.once('finish', release).once('close', release);
  };
}
