import { EventLog } from '../../events/log/event-log.ts';
import { type EventListener, type EventTail, followEvents } from '../../events/log/follow-events.ts';
import { publishChanges } from '../../events/log/publish-changes.ts';
import { publishWebhookNotices } from '../../events/webhooks/health/disabled-notices.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

export interface EventPublishing {
  events: EventLog;
  /** Moves pending changes into the log and wakes the followers in this process. */
  publish(): Promise<number>;
  follow(listener: EventListener, until?: AbortSignal): Promise<EventTail>;
}

export function composeEvents(
  { log, shutdown }: Pick<ProcessContext, 'log' | 'shutdown'>,
  { db, record, wagers, now }: Pick<ServiceCore, 'db' | 'record' | 'wagers' | 'now'>,
): EventPublishing {
  const tails = new Set<EventTail>();
  const events = new EventLog(db, () => {
    for (const tail of tails) tail.wake();
  });
  return {
    events,
    async publish() {
      const changes = await publishChanges({ log: events, record, wagers, now });
      return changes + (await publishWebhookNotices({ db, log: events, now }));
    },
    async follow(listener, until) {
      const signal = until === undefined ? shutdown.signal : AbortSignal.any([shutdown.signal, until]);
      const tail = await followEvents({ events, listener, log, signal });
      tails.add(tail);
      void tail.ended.then(() => tails.delete(tail));
      shutdown.onStop('events', () => tail.ended);
      return tail;
    },
  };
}
