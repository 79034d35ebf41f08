import type { Db } from 'mongodb';
import { agentCard, type CardSource } from '../../agent-card/card.ts';
import type { PaidCalls } from '../../skills/paid-call.ts';
import type { CarryOut } from '../../skills/runner.ts';
import { type A2a, createA2a } from '../a2a/a2a.ts';
import { isFixture, playFixture } from '../a2a/fixtures.ts';
import { createTaskPush } from '../a2a/push/push.ts';
import { createResolve } from '../platform/outbound/resolve.ts';
import { createSecretBox } from '../secret-box.ts';
import type { Frame } from './frame.ts';

export interface A2aComposition {
  db: Db;
  encryptionSecret: string;
  source: CardSource;
  carryOut: CarryOut;
  paidCalls: PaidCalls;
  now(): Date;
}

/** A2A at the socket of HTTP, with its tasks. */
export function composeA2a({ config, log, shutdown }: Frame, { db, encryptionSecret, source, now, ...skills }: A2aComposition): A2a {
  const allowLocal = config.PUSH_LOCAL_TARGETS === 'allow';
  const push = createTaskPush({
    ...{ db, now, log },
    secretBox: createSecretBox(encryptionSecret),
    rules: { allowLocal, resolve: createResolve() },
    registering: { allowLocal, resolve: createResolve() },
    stopping: shutdown,
  });
  const fixtures = config.PROTOCOL_FIXTURES === 'on' ? { play: playFixture, isFixture } : undefined;
  const a2a = createA2a({ db, card: agentCard(source), ...skills, push, fixtures, stopping: shutdown.signal, log, now });
  shutdown.onStop('tasks of agents', () => a2a.drain());
  return a2a;
}
