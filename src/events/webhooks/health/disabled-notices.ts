import type { Db } from 'mongodb';
import { clearOutbox, findWithOutbox, pickTraceparent } from '../../../platform/outbox.ts';
import type { AnyEventDraft } from '../../log/event.ts';
import type { EventLog } from '../../log/event-log.ts';
import type { WebhookDoc, WebhookEnding } from '../registry/webhook.ts';

export async function publishWebhookNotices({ db, log, now }: { db: Db; log: EventLog; now(): Date }): Promise<number> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const docs = await findWithOutbox(webhooks);
  const drafts = docs.flatMap((doc) => doc.outbox.map((ending) => toNoticeDraft(doc, ending)));
  const appended = await log.append(
    drafts.sort((a, b) => a.at.getTime() - b.at.getTime() || a.key.localeCompare(b.key)),
    now(),
  );
  // Only after the events are in the log.
  await clearOutbox(webhooks, docs);
  return appended;
}

function toNoticeDraft({ _id, url, wallet }: WebhookDoc, ending: WebhookEnding): AnyEventDraft {
  const { change, at, reason, failingSince } = ending;
  const content = { webhookId: _id, url, reason, failingSince };
  return {
    type: 'webhook.disabled',
    key: `webhook.disabled:${_id}:${change}`,
    at,
    horizonDays: null,
    wallet,
    content,
    ...pickTraceparent(ending),
  };
}
