import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { PushNotificationSender, PushNotificationStore, ServerCallContext } from '@a2a-js/sdk/server';
import type { Db } from 'mongodb';
import { requirementOf } from '../../access/tiers.ts';
import { OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { checkTarget, type TargetRules } from '../../platform/outbound/target.ts';
import type { Caller } from '../../record/caller.ts';
import type { SecretBox } from '../../secret-box.ts';
import type { Shutdown } from '../../shutdown.ts';
import { userOf } from '../owner.ts';
import { requireDeliverable } from './deliverable.ts';
import { TaskNotifier, type TaskNotifierParts } from './sender.ts';
import { PushConfigStore } from './store.ts';

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
  forget(owner: string, taskId: string): Promise<void>;
  /** Deletes what has expired, and tells how many there were. */
  purge(now: Date): Promise<number>;
}

export interface TaskPushParts {
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
  backoffMs?: TaskNotifierParts['backoffMs'];
}

/** What the stop of the service leaves to notifications that are under way. */
const GRACE_MS = 2_000;

/** Callbacks for tasks: where they are kept, and what calls them until the service stops. */
export function createTaskPush({ db, secretBox, rules, registering = rules, now, log, stopping, backoffMs }: TaskPushParts): TaskPush {
  const store = new PushConfigStore({ db, secretBox, now });
  const sender = new TaskNotifier({
    store,
    rules,
    log,
    now,
    stopping: stopping.signal,
    ...(backoffMs === undefined ? {} : { backoffMs }),
  });
  stopping.onStop('task notifications', () => sender.drain(GRACE_MS));
  return {
    store,
    sender,
    async check(config, context) {
      // Callbacks of nobody in particular would turn this service on anybody.
      const { isAuthenticated, asker } = userOf(context);
      if (!rules.allowLocal && !isAuthenticated) throw tokenNeeded(asker.caller);
      requireDeliverable(config);
      await store.requireRoom(config, context);
      // A name that leads nowhere yet is looked up again before each call.
      await checkTarget(config.url, registering, 'accept');
    },
    forget: (owner, taskId) => store.forget(owner, taskId),
    purge: (at) => store.purge(at),
  };
}

function tokenNeeded({ rejectedToken }: Pick<Caller, 'rejectedToken'>): OracleError {
  return new OracleError('UNAUTHENTICATED', rejectedToken ?? 'Callbacks are for callers with a token', {
    field: 'Authorization',
    suggestedAction: `Log in with a wallet that holds ${requirementOf('basic')}: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>. Without one ask for the task, or stream it.`,
  });
}
