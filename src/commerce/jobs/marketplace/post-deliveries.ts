import { setTimeout as delay } from 'node:timers/promises';
import type { Address } from 'viem';
import type { Log } from '../../../platform/log.ts';
import { toDatabaseError } from '../../../platform/mongo.ts';
import type { JobDoc } from '../job-doc.ts';
import type { JobStore } from '../job-store.ts';
import type { Marketplace } from './marketplace-client.ts';

export interface PostDeliveriesDeps {
  contract: Address;
  store: JobStore;
  marketplace: Marketplace;
  log: Log;
  now(): Date;
}

const MAX_PER_RUN = 20;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 600_000;

/**
 * Posts deliveries whose hash is on chain. Separate from the processing of jobs: an outage delays nothing there. A process that dies after a
 * post repeats it with the same text.
 */
export async function postDeliveries(deps: PostDeliveriesDeps): Promise<void> {
  const { contract, store, now } = deps;
  for (const job of await store.listUnposted(contract, now(), MAX_PER_RUN)) await tryPost(deps, job);
}

async function tryPost({ store, marketplace, log, now }: PostDeliveriesDeps, { _id, jobId, delivery, posting }: JobDoc): Promise<void> {
  const attempts = (posting?.attempts ?? 0) + 1;
  try {
    await marketplace.postDelivery({ jobId, text: delivery!.text });
  } catch (error) {
    if (attempts === 1) log.warn({ job: _id, err: error }, 'the marketplace does not take a delivery; it is tried again');
    const due = new Date(now().getTime() + Math.min(RETRY_MS * 2 ** Math.min(attempts, 10), MAX_RETRY_MS));
    return store.update(_id, { posting: { attempts, due, postedAt: null } });
  }
  return store.update(_id, { posting: { attempts, due: null, postedAt: now() } });
}

/** Until the signal aborts. */
export async function watchDeliveries(deps: PostDeliveriesDeps, intervalMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await postDeliveries(deps).catch((error: unknown) => {
      deps.log.error({ err: toDatabaseError(error) }, 'posting deliveries to the marketplace failed; it goes on');
    });
    // An abort ends the pause, and with it the loop.
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}
