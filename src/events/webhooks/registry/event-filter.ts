import type { AnyEvent } from '../../log/event.ts';
import type { WebhookDoc } from './webhook.ts';

/** Whether a webhook is called for an event: one of its kinds, of its horizons where the event has one, and nobody else's notice. */
export function matchesWebhook(
  { wallet, events, horizons }: Pick<WebhookDoc, 'wallet' | 'events' | 'horizons'>,
  event: Pick<AnyEvent, 'type' | 'horizonDays' | 'wallet'>,
): boolean {
  if (!events.includes(event.type) || (event.wallet !== null && event.wallet !== wallet)) return false;
  return horizons === null || event.horizonDays === null || horizons.includes(event.horizonDays);
}
