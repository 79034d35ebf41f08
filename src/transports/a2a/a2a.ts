import type { AgentCard } from '@a2a-js/sdk';
import { DefaultExecutionEventBusManager, DefaultRequestHandler } from '@a2a-js/sdk/server';
import type { Db } from 'mongodb';
import type { PaidCalls } from '../../../skills/paid-call.ts';
import type { RunSkill } from '../../../skills/runner.ts';
import type { Log } from '../../platform/log.ts';
import type { ProtocolAdapter } from '../adapter.ts';
import { getOwner } from './agent-user.ts';
import { createA2aAdapters } from './bindings/adapters.ts';
import { type ExecutorDeps, SkillExecutor } from './executor.ts';
import { MessageDispatcher } from './messages/dispatcher.ts';
import { MESSAGE_INDEXES, MessageClaims } from './messages/message-claims.ts';
import type { TaskPush } from './push/task-push.ts';
import { AgentRequestHandler, type HandlerDeps } from './request-handler.ts';
import { TaskService } from './task-service.ts';
import { MongoTaskStore, TASK_INDEXES } from './tasks/store.ts';

export const A2A_INDEXES = [...TASK_INDEXES, ...MESSAGE_INDEXES] as const;

export interface A2aDeps {
  db: Db;
  /** As served. */
  card: AgentCard;
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  push: TaskPush;
  /** What a test kit finds here. Unset: nothing of the kind. */
  fixtures?: { play: NonNullable<ExecutorDeps['playFixture']>; isFixture: NonNullable<HandlerDeps['isFixture']> };
  /** Aborted when the service stops. */
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

export interface A2a {
  adapters: ProtocolAdapter[];
  /** The same tasks without the protocol. */
  tasks: TaskService;
  /** Deletes what has expired. */
  purge(now: Date): Promise<void>;
  /** Resolves when nothing is carried out any more. */
  drain(): Promise<void>;
}

/** Tasks of other agents: their store, what carries them out, and the doors that they come through. */
export function createA2a({ db, card, runSkill, paidCalls, push, fixtures, stopping, log, now }: A2aDeps): A2a {
  const tasks = new MongoTaskStore(db, now, ({ owner, _id }) => push.deleteForTask(owner, _id));
  const claims = new MessageClaims(db, now);
  const executor = new SkillExecutor({ runSkill, paidCalls, playFixture: fixtures?.play, log, now });
  const buses = new DefaultExecutionEventBusManager(getOwner);
  // A task that waits for a message holds nothing in memory: any process can go on with it.
  const options = { keepBusAliveStates: [] };
  const sdkHandler = new DefaultRequestHandler(card, tasks, executor, buses, push.store, push.sender, undefined, undefined, options);
  const dispatcher = new MessageDispatcher({ tasks, claims, sdkHandler, stopping, log, now });
  const handler = new AgentRequestHandler({ tasks, dispatcher, push, sdkHandler, isFixture: fixtures?.isFixture, stopping, log });
  return {
    adapters: createA2aAdapters(handler),
    tasks: new TaskService({ sending: dispatcher, tasks }),
    async purge(at) {
      await Promise.all([tasks.purge(at), claims.purge(at), push.purge(at)]);
    },
    drain: () => dispatcher.drain(),
  };
}
