import { randomUUID } from 'node:crypto';
import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { PushNotificationStore, ServerCallContext, StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../../../platform/mongo.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import { getOwner } from '../agent-user.ts';
import { getExpiry } from '../tasks/retention.ts';
import { isLegacyVersion } from './notification.ts';

/** Callbacks that one task can have. */
export const MAX_PUSH_CONFIGS_PER_TASK = 5;

const COLLECTION = 'a2a_push_configs';
const TASK_KEY = { owner: 1, taskId: 1, slot: 1 } as const;

export const PUSH_CONFIG_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: TASK_KEY, unique: true }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

interface PushConfigDoc {
  /** JSON of owner, task and id: there is one of each. */
  _id: string;
  owner: string;
  taskId: string;
  /** 0 to 4, each once a task: what holds the limit under parallel registrations. */
  slot: number;
  /** The protocol's version that it was registered in, and gets its notifications in. */
  wireVersion: string;
  /** The whole configuration: its URL may be as secret as its token. Opens for this `_id` only. */
  sealed: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface PushConfigStoreDeps {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
}

/** Where clients want to be told about their tasks. Scoped to the owner alone: a tenant that is named widens nothing. */
export class PushConfigStore implements PushNotificationStore {
  readonly #configs: Collection<PushConfigDoc>;
  readonly #deps: PushConfigStoreDeps;

  constructor(deps: PushConfigStoreDeps) {
    this.#deps = deps;
    this.#configs = deps.db.collection(COLLECTION);
  }

  /**
   * Keeps a configuration, in the place of the one with the same id if there is one. An empty `config.id` is set: to a new one, or as protocol 0.3 has it, to that
   * of the task.
   * @throws OracleError CONFLICT when the task has all it can have.
   */
  async save(taskId: string, context: ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    if (config.id === '') config.id = isLegacyVersion(context.requestedVersion) ? taskId : randomUUID();
    const [owner, now] = [getOwner(context), this.#deps.now()];
    const _id = buildConfigKey(owner, taskId, config.id);
    const content = {
      wireVersion: context.requestedVersion,
      sealed: this.#deps.secretBox.seal('a2a-push-credentials', _id, JSON.stringify(TaskPushNotificationConfig.toJSON(config))),
      expiresAt: getExpiry(owner, now),
    };
    // A place that is lost was won by somebody else: for a task that is only added to, the loop ends after as many rounds as places.
    for (;;) {
      const { matchedCount } = await this.#configs.updateOne({ _id }, { $set: content }, { hint: { _id: 1 } });
      if (matchedCount > 0) return;
      const slot = await this.#freeSlot(owner, taskId);
      if (slot === undefined) throw tooManyConfigs();
      if (await this.#insert({ _id, owner, taskId, slot, ...content, createdAt: now })) return;
    }
  }

  /** @throws OracleError CONFLICT when the task of a configuration has all it can have, and not this one. */
  async requireCapacity({ taskId, id }: TaskPushNotificationConfig, context: ServerCallContext): Promise<void> {
    if (taskId === '') return;
    const owner = getOwner(context);
    const found = await this.#listByTask(owner, taskId);
    if (found.length >= MAX_PUSH_CONFIGS_PER_TASK && !found.some(({ _id }) => _id === buildConfigKey(owner, taskId, id)))
      throw tooManyConfigs();
  }

  async load(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    return (await this.loadWithMetadata(taskId, context)).map(({ config }) => config);
  }

  /** In the order of their registration. */
  async loadWithMetadata(taskId: string, context: ServerCallContext): Promise<StoredPushNotificationConfig[]> {
    const found = await this.#listByTask(getOwner(context), taskId);
    return found
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.slot - b.slot)
      .map(({ _id, sealed, wireVersion }) => ({ config: this.#decrypt(_id, sealed), wireVersion }));
  }

  /** Ends one, or what is not there. Without its id the one that is named as its task, as protocol 0.3 has it. */
  async delete(taskId: string, context: ServerCallContext, configId: string = taskId): Promise<void> {
    await this.#configs.deleteOne({ _id: buildConfigKey(getOwner(context), taskId, configId) }, { hint: { _id: 1 } });
  }

  /** Keeps what a task has as long as the task, which has just changed. */
  async extendExpiry(taskId: string, context: ServerCallContext): Promise<void> {
    const owner = getOwner(context);
    const expiresAt = getExpiry(owner, this.#deps.now());
    await this.#configs.updateMany({ owner, taskId }, { $set: { expiresAt } }, { hint: TASK_KEY });
  }

  /** Deletes all that a task has. */
  async deleteForTask(owner: string, taskId: string): Promise<void> {
    await this.#configs.deleteMany({ owner, taskId }, { hint: TASK_KEY });
  }

  /** Deletes what has expired, and tells how many there were. */
  async purge(now: Date): Promise<number> {
    return (await this.#configs.deleteMany({ expiresAt: { $lte: now } }, { hint: { expiresAt: 1 } })).deletedCount;
  }

  #decrypt(id: string, sealed: string): TaskPushNotificationConfig {
    return TaskPushNotificationConfig.fromJSON(JSON.parse(this.#deps.secretBox.open('a2a-push-credentials', id, sealed)));
  }

  async #listByTask(owner: string, taskId: string): Promise<PushConfigDoc[]> {
    return this.#configs.find({ owner, taskId }, { hint: TASK_KEY }).toArray();
  }

  async #freeSlot(owner: string, taskId: string): Promise<number | undefined> {
    const taken = new Set((await this.#listByTask(owner, taskId)).map(({ slot }) => slot));
    return Array.from({ length: MAX_PUSH_CONFIGS_PER_TASK }, (_, slot) => slot).find((slot) => !taken.has(slot));
  }

  async #insert(doc: PushConfigDoc): Promise<boolean> {
    try {
      await this.#configs.insertOne(doc);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}

function buildConfigKey(owner: string, taskId: string, id: string): string {
  return JSON.stringify([owner, taskId, id]);
}

function tooManyConfigs(): OracleError {
  return new OracleError(
    'CONFLICT',
    `A task can have ${MAX_PUSH_CONFIGS_PER_TASK} push notification configurations, and this one has them`,
    {
      suggestedAction: 'Delete one of them first.',
      details: { limit: MAX_PUSH_CONFIGS_PER_TASK },
    },
  );
}
