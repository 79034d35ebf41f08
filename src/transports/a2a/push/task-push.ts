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

/** Push notifications of tasks, as the request handler of the protocol takes them. */
export interface TaskPush {
  store: PushNotificationStore;
  sender: PushNotificationSender;
  /**
   * Whether a configuration can be registered, before anything is done for it. Its `taskId` is empty where the task is yet to be
   * opened.
   * @throws OracleError INPUT_INVALID naming its field; CONFLICT when the task has all it can have; UNAUTHENTICATED without a token;
   * RATE_LIMITED while too many host names are being looked up.
   */
  check(config: TaskPushNotificationConfig, context: ServerCallContext): Promise<void>;
  /** Deletes what a task has that is kept no longer. */
  deleteForTask(owner: string, taskId: string): Promise<void>;
  /** Deletes what has expired, and tells how many there were. */
  purge(now: Date): Promise<number>;
}

export interface TaskPushDeps {
  db: Db;
  secretBox: SecretBox;
  /** Which URLs may be called. */
  rules: TargetRules;
  /** The same for those that are registered: with look-ups of their own, slow names of new ones keep no notification waiting. */
  registering?: TargetRules;
  now(): Date;
  log: Log;
  stopping: Pick<Shutdown, 'signal' | 'onStop'>;
  /** Other pauses between attempts than the usual ones. */
  backoffMs?: TaskNotifierDeps['backoffMs'];
}

/** What the stop of the service leaves to notifications that are under way. */
const DRAIN_GRACE_MS = 2_000;

/** Callbacks for tasks: where they are kept, and what calls them until the service stops. */
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
      // Callbacks of nobody in particular would turn this service on anybody.
      const { isAuthenticated, requestContext } = getUser(context);
      if (!rules.allowLocal && !isAuthenticated) throw tokenRequired(requestContext.caller);
      requireDeliverableConfig(config);
      await store.requireCapacity(config, context);
      // A name that leads nowhere yet is looked up again before each call.
      await checkTarget(config.url, registering, 'accept');
    },
    deleteForTask: (owner, taskId) => store.deleteForTask(owner, taskId),
    purge: (at) => store.purge(at),
  };
}

function tokenRequired({ rejectedToken }: Pick<Caller, 'rejectedToken'>): OracleError {
  return new OracleError('UNAUTHENTICATED', rejectedToken ?? 'Callbacks are for callers with a token', {
    field: 'Authorization',
    suggestedAction: `Log in with a wallet that holds ${formatTierRequirement('basic')}: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>. Without one ask for the task, or stream it.`,
  });
}
