import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { PushNotificationSender, PushNotificationStore, ServerCallContext } from '@a2a-js/sdk/server';
import type { Db } from 'mongodb';
import type { Caller } from '../../../auth/caller.ts';
import { formatTierRequirement } from '../../../auth/tiers/tiers.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { checkTarget, type TargetRules } from '../../../platform/outbound/target.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { Shutdown } from '../../../platform/shutdown.ts';
import { getUser } from '../agent-user.ts';
import { PushConfigStore } from './config-store.ts';
import { TaskNotifier, type TaskNotifierDeps } from './notifier.ts';
import { requireDeliverableConfig } from './validate-config.ts';

export interface TaskPush {
  store: PushNotificationStore;
  sender: PushNotificationSender;
  /** `taskId` is empty for a new task. @throws OracleError INPUT_INVALID, CONFLICT at the limit, UNAUTHENTICATED, RATE_LIMITED (DNS) */
  check(config: TaskPushNotificationConfig, context: ServerCallContext): Promise<void>;
  deleteForTask(owner: string, taskId: string): Promise<void>;
  purge(now: Date): Promise<number>;
}

export interface TaskPushDeps {
  db: Db;
  secretBox: SecretBox;
  rules: TargetRules;
  /** Rules for registrations, with DNS look-ups of their own: slow names must not delay notifications. */
  registering?: TargetRules;
  now(): Date;
  log: Log;
  stopping: Pick<Shutdown, 'signal' | 'onStop'>;
  backoffMs?: TaskNotifierDeps['backoffMs'];
}

/** Time that running notifications get at shutdown. */
const DRAIN_GRACE_MS = 2_000;

export function createTaskPush({ db, secretBox, rules, registering = rules, now, log, stopping, backoffMs }: TaskPushDeps): TaskPush {
  const store = new PushConfigStore({ db, secretBox, now });
  const sender = new TaskNotifier({
    store,
    rules,
    log,
    now,
    stopping: stopping.signal,
    ...(backoffMs === undefined ? {} : { backoffMs }),
  });
  stopping.onStop('task notifications', () => sender.drain(DRAIN_GRACE_MS));
  return {
    store,
    sender,
    async check(config, context) {
      // Anonymous callbacks would let any client direct requests of this service at third parties.
      const { isAuthenticated, requestContext } = getUser(context);
      if (!rules.allowLocal && !isAuthenticated) throw tokenRequired(requestContext.caller);
      requireDeliverableConfig(config);
      await store.requireCapacity(config, context);
      // An unresolvable name is accepted: it is looked up again before each delivery.
      await checkTarget(config.url, registering, 'accept');
    },
    deleteForTask: (owner, taskId) => store.deleteForTask(owner, taskId),
    purge: (at) => store.purge(at),
  };
}

function tokenRequired({ rejectedToken }: Pick<Caller, 'rejectedToken'>): OracleError {
  return new OracleError('UNAUTHENTICATED', rejectedToken ?? 'Callbacks require an access token', {
    field: 'Authorization',
    suggestedAction: `Log in with a wallet that holds ${formatTierRequirement('basic')}: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>. Without a token, poll the task or stream it.`,
  });
}
