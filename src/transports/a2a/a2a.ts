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
  card: AgentCard;
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  push: TaskPush;
  /** Scenarios of the test kit (TCK); unset in production. */
  fixtures?: { play: NonNullable<ExecutorDeps['playFixture']>; isFixture: NonNullable<HandlerDeps['isFixture']> };
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

export interface A2a {
  adapters: ProtocolAdapter[];
  /** The tasks for transports other than A2A. */
  tasks: TaskService;
  purge(now: Date): Promise<void>;
  /** Resolves when no task is running. */
  drain(): Promise<void>;
}

export function createA2a({ db, card, runSkill, paidCalls, push, fixtures, stopping, log, now }: A2aDeps): A2a {
  const tasks = new MongoTaskStore(db, now, ({ owner, _id }) => push.deleteForTask(owner, _id));
  const claims = new MessageClaims(db, now);
  const executor = new SkillExecutor({ runSkill, paidCalls, playFixture: fixtures?.play, log, now });
  const buses = new DefaultExecutionEventBusManager(getOwner);
  // A task in INPUT_REQUIRED keeps no event bus in memory, so any process can continue it.
  const options = { keepBusAliveStates: [] };
  const sdkHandler = new DefaultRequestHandler(card, tasks, executor, buses, push.store, push.sender, undefined, undefined, options);
  const dispatcher = new MessageDispatcher({ tasks, claims, sdkHandler, stopping, log, now });
  const handler = new AgentRequestHandler({ tasks, dispatcher, push, sdkHandler, isFixture: fixtures?.isFixture, stopping, log });
  return {
    adapters: createA2aAdapters(handler),
    tasks: new TaskService(dispatcher, tasks),
    async purge(expiredAt) {
      await Promise.all([tasks.purge(expiredAt), claims.purge(expiredAt), push.purge(expiredAt)]);
    },
    drain: () => dispatcher.drain(),
  };
}
