import type { Db } from 'mongodb';
import { clearOutbox, withOutbox } from '../../outbox.ts';
import type { AnyDraft } from '../events/event.ts';
import type { EventLog } from '../events/log.ts';
import type { Ending, WebhookDoc } from './webhook.ts';

/** Brings the ends of webhooks into the event log, each once in whichever process, and returns how many events that made. */
export async function publishNotices({ db, log, now }: { db: Db; log: EventLog; now(): Date }): Promise<number> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const docs = await withOutbox(webhooks);
  const drafts = docs.flatMap((doc) => doc.outbox.map((ending) => noticeOf(doc, ending)));
  const appended = await log.append(
    drafts.sort((a, b) => a.at.getTime() - b.at.getTime() || a.key.localeCompare(b.key)),
    now(),
  );
  // Not before they stand in the log.
  await clearOutbox(webhooks, docs);
  return appended;
}

function noticeOf({ _id, url, wallet }: WebhookDoc, { change, at, reason, failingSince }: Ending): AnyDraft {
  const content = { webhookId: _id, url, reason, failingSince };
  return { type: 'webhook.disabled', key: `webhook.disabled:${_id}:${change}`, at, horizonDays: null, wallet, content };
}
