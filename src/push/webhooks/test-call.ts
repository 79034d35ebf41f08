import { OracleError } from '../../errors.ts';
import type { DailyUse } from './daily-use.ts';
import type { DeliveryDoc } from './delivery.ts';
import { ownWebhook } from './owned.ts';
import type { DeliveryQueue } from './queue.ts';
import type { WebhookStore } from './store.ts';
import type { WebhookDoc } from './webhook.ts';

/** Between two tests of a webhook at least: a test calls somebody each time it is asked for. */
export const TEST_REST_SECONDS = 5;

export interface TestParts {
  store: WebhookStore;
  queue: DeliveryQueue;
  daily: DailyUse;
  /** Calls a webhook once, now, and writes that down. */
  ping(webhook: WebhookDoc): Promise<DeliveryDoc>;
  now(): Date;
}

/**
 * Calls a webhook with a `ping` now, also a disabled one, and tells how it went. A receiver that takes it is back: what waits for it
 * does so no longer. Otherwise it changes nothing.
 * @throws OracleError NOT_FOUND; RATE_LIMITED when it was tested just now, or its wallet has asked for all tests of the day; CONFLICT when its
 * secret does not open any more
 */
export async function testWebhook({ store, queue, daily, ping, now }: TestParts, wallet: string, id: string): Promise<DeliveryDoc> {
  const webhook = await ownWebhook(store, wallet, id);
  const at = now();
  const since = new Date(at.getTime() - TEST_REST_SECONDS * 1_000);
  if (!(await store.noteTest(webhook, { since, at }))) throw tooSoon();
  await daily.take({ use: 'test', wallet, count: 1 }, at);
  const delivery = await ping(webhook);
  if (delivery.state === 'DELIVERED') await queue.hurry(id, now());
  return delivery;
}

function tooSoon(): OracleError {
  return new OracleError('RATE_LIMITED', `A webhook is tested once in ${TEST_REST_SECONDS} seconds`, {
    suggestedAction: `Wait ${TEST_REST_SECONDS} s.`,
    retryAfterSeconds: TEST_REST_SECONDS,
  });
}
