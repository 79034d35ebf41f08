import type { Db } from 'mongodb';
import { buildAgentCard, type CardSource } from '../../../agent-card/card/card.ts';
import type { PaidCalls } from '../../../skills/paid-call.ts';
import type { RunSkill } from '../../../skills/runner.ts';
import { createResolver } from '../../platform/outbound/resolve.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import { type A2a, createA2a } from '../../transports/a2a/a2a.ts';
import { isFixture, playFixture } from '../../transports/a2a/fixtures.ts';
import { createTaskPush } from '../../transports/a2a/push/task-push.ts';
import type { ProcessContext } from '../process-context.ts';

export interface ComposeA2aDeps {
  db: Db;
  encryptionSecret: string;
  source: CardSource;
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  now(): Date;
}

/** A2A at the socket of HTTP, with its tasks. */
export function composeA2a(
  { config, log, shutdown }: ProcessContext,
  { db, encryptionSecret, source, now, ...skills }: ComposeA2aDeps,
): A2a {
  const allowLocal = config.PUSH_LOCAL_TARGETS === 'allow';
  const push = createTaskPush({
    ...{ db, now, log },
    secretBox: createSecretBox(encryptionSecret),
    rules: { allowLocal, resolve: createResolver() },
    registering: { allowLocal, resolve: createResolver() },
    stopping: shutdown,
  });
  const fixtures = config.PROTOCOL_FIXTURES === 'on' ? { play: playFixture, isFixture } : undefined;
  const a2a = createA2a({ db, card: buildAgentCard(source), ...skills, push, fixtures, stopping: shutdown.signal, log, now });
  shutdown.onStop('tasks of agents', () => a2a.drain());
  return a2a;
}
