import type { Db } from 'mongodb';
import { EventLog } from '../push/events/log.ts';
import { publishChanges } from '../push/events/publisher.ts';
import { type EventListener, followEvents, type Tail } from '../push/events/tail.ts';
import { publishNotices } from '../push/webhooks/notices.ts';
import type { ForecastRecord } from '../record/record.ts';
import type { WagerBook } from '../wager/wagers.ts';
import type { Frame } from './frame.ts';

export interface PushComposition {
  db: Db;
  record: ForecastRecord;
  wagers: WagerBook;
  now(): Date;
}

/** The event log, and how this process writes and reads it. */
export interface Push {
  events: EventLog;
  /** Brings changes into the log; whoever follows it here is told at once. */
  publish(): Promise<number>;
  /** Follows the log until the process stops, or until a signal before. */
  follow(listener: EventListener, until?: AbortSignal): Promise<Tail>;
}

export function composePush({ log, shutdown }: Pick<Frame, 'log' | 'shutdown'>, { db, record, wagers, now }: PushComposition): Push {
  const tails = new Set<Tail>();
  const events = new EventLog(db, () => {
    for (const tail of tails) tail.wake();
  });
  return {
    events,
    async publish() {
      const changes = await publishChanges({ log: events, record, wagers, now });
      return changes + (await publishNotices({ db, log: events, now }));
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
