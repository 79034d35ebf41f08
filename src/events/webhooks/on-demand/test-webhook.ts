import { OracleError } from '../../../platform/errors.ts';
import type { WebhookDeliveryDoc } from '../delivery/delivery.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import type { DailyQuotaStore } from '../limits/daily-quota-store.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import type { WebhookStore } from '../registry/webhook-store.ts';
import { requireOwnWebhook } from '../registry/webhook-view.ts';

/** Between two tests of a webhook at least: a test calls somebody each time it is asked for. */
export const MIN_TEST_INTERVAL_SECONDS = 5;

export interface TestWebhookDeps {
  store: WebhookStore;
  queue: DeliveryQueue;
  quotas: DailyQuotaStore;
  /** Calls a webhook once, now, and writes that down. */
  ping(webhook: WebhookDoc): Promise<WebhookDeliveryDoc>;
  now(): Date;
}

/**
 * Calls a webhook with a `ping` now, also a disabled one, and tells how it went. A receiver that takes it is back: what waits for it
 * does so no longer. Otherwise it changes nothing.
 * @throws OracleError NOT_FOUND; RATE_LIMITED when it was tested just now, or its wallet has asked for all tests of the day; CONFLICT when its
 * secret does not open any more
 */
export async function testWebhook(
  { store, queue, quotas, ping, now }: TestWebhookDeps,
  wallet: string,
  id: string,
): Promise<WebhookDeliveryDoc> {
  const webhook = await requireOwnWebhook(store, wallet, id);
  const at = now();
  const since = new Date(at.getTime() - MIN_TEST_INTERVAL_SECONDS * 1_000);
  if (!(await store.recordTest(webhook, { since, at }))) throw testedTooSoon();
  await quotas.consume({ use: 'test', wallet, count: 1 }, at);
  const delivery = await ping(webhook);
  if (delivery.state === 'DELIVERED') await queue.makeDue(id, now());
  return delivery;
}

function testedTooSoon(): OracleError {
  return new OracleError('RATE_LIMITED', `A webhook is tested once in ${MIN_TEST_INTERVAL_SECONDS} seconds`, {
    suggestedAction: `Wait ${MIN_TEST_INTERVAL_SECONDS} s.`,
    retryAfterSeconds: MIN_TEST_INTERVAL_SECONDS,
  });
}
