import type { Db } from 'mongodb';
import type { EventLog } from '../../log/event-log.ts';
import type { WebhookDoc } from './webhook.ts';

/**
 * Gives webhooks that were registered before anything was delivered what delivery needs: they get what happens from now on. Running it
 * again, or in two processes at once, changes nothing more.
 */
export async function migrateWebhooks(db: Db, events: Pick<EventLog, 'lastId'>): Promise<void> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const old = { queuedThrough: { $exists: false } };
  if ((await webhooks.findOne(old, { projection: { _id: 1 }, hint: { _id: 1 } })) === null) return;
  // Until then only the operator ended webhooks.
  const disabledBy = { $cond: [{ $eq: ['$status', 'disabled'] }, 'operator', null] };
  const fresh = { previousSecret: null, failingSince: null, sender: null, queuedThrough: await events.lastId() };
  await webhooks.updateMany(old, [{ $set: { ...fresh, disabledBy } }], { hint: { _id: 1 } });
}
