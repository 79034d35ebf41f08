import { OracleError } from '../../../platform/errors.ts';
import type { WebhookDeliveryDoc } from '../delivery/delivery.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import { requireOwnWebhook } from '../registry/webhook-view.ts';
import type { ReplayEventsDeps } from './replay-events.ts';

/** Minimum interval between tests of a webhook, since each calls a receiver. */
export const MIN_TEST_INTERVAL_SECONDS = 5;

export interface TestWebhookDeps extends Pick<ReplayEventsDeps, 'store' | 'queue' | 'quotas' | 'now'> {
  /** Sends and logs a test. */
  ping(webhook: WebhookDoc): Promise<WebhookDeliveryDoc>;
}

/** A receiver that accepts the test is up again: pending messages become due. @throws OracleError NOT_FOUND; RATE_LIMITED; CONFLICT */
export async function testWebhook(deps: TestWebhookDeps, wallet: string, id: string): Promise<WebhookDeliveryDoc> {
  const { store, queue, quotas, ping, now } = deps;
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
