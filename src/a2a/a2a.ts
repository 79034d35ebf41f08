import type { AgentCard } from '@a2a-js/sdk';
import { DefaultExecutionEventBusManager, DefaultRequestHandler } from '@a2a-js/sdk/server';
import type { Db } from 'mongodb';
import type { PaidCalls } from '../../skills/paid-call.ts';
import type { CarryOut } from '../../skills/runner.ts';
import type { Door } from '../access/door.ts';
import type { Log } from '../log.ts';
import { PlainTasks } from './agent-tasks.ts';
import { createA2aDoors } from './doors.ts';
import { type ExecutorParts, SkillExecutor } from './executor.ts';
import { AgentRequestHandler, type HandlerParts } from './handler.ts';
import { MESSAGE_INDEXES, MessageClaims } from './message-claims.ts';
import { ownerOf } from './owner.ts';
import type { TaskPush } from './push/push.ts';
import { Sending } from './sending.ts';
import { MongoTaskStore, TASK_INDEXES } from './task-store.ts';

export const A2A_INDEXES = [...TASK_INDEXES, ...MESSAGE_INDEXES] as const;

export interface A2aParts {
  db: Db;
  /** As served. */
  card: AgentCard;
  carryOut: CarryOut;
  paidCalls: PaidCalls;
  push: TaskPush;
  /** What a test kit finds here. Unset: nothing of the kind. */
  fixtures?: { play: NonNullable<ExecutorParts['playFixture']>; isFixture: NonNullable<HandlerParts['isFixture']> };
  /** Aborted when the service stops. */
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

export interface A2a {
  doors: Door[];
  /** The same tasks without the protocol. */
  tasks: PlainTasks;
  /** Deletes what has expired. */
  purge(now: Date): Promise<void>;
  /** Resolves when nothing is carried out any more. */
  drain(): Promise<void>;
}

/** Tasks of other agents: their store, what carries them out, and the doors that they come through. */
export function createA2a({ db, card, carryOut, paidCalls, push, fixtures, stopping, log, now }: A2aParts): A2a {
  const tasks = new MongoTaskStore(db, now, ({ owner, _id }) => push.forget(owner, _id));
  const claims = new MessageClaims(db, now);
  const executor = new SkillExecutor({ carryOut, paidCalls, playFixture: fixtures?.play, log, now });
  const buses = new DefaultExecutionEventBusManager(ownerOf);
  // A task that waits for a message holds nothing in memory: any process can go on with it.
  const options = { keepBusAliveStates: [] };
  const library = new DefaultRequestHandler(card, tasks, executor, buses, push.store, push.sender, undefined, undefined, options);
  const sending = new Sending({ tasks, claims, library, stopping, log, now });
  const handler = new AgentRequestHandler({ tasks, sending, push, library, isFixture: fixtures?.isFixture, stopping, log });
  return {
    doors: createA2aDoors(handler),
    tasks: new PlainTasks({ sending, tasks }),
    async purge(at) {
      await Promise.all([tasks.purge(at), claims.purge(at), push.purge(at)]);
    },
    drain: () => sending.drain(),
  };
}
