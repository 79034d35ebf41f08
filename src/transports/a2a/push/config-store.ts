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

export const MAX_PUSH_CONFIGS_PER_TASK = 5;

const COLLECTION = 'a2a_push_configs';
const TASK_KEY = { owner: 1, taskId: 1, slot: 1 } as const;

export const PUSH_CONFIG_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: TASK_KEY, unique: true }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

interface PushConfigDoc {
  /** JSON of owner, task id and config id. */
  _id: string;
  owner: string;
  taskId: string;
  /** 0 to 4, unique per task: enforces the limit under concurrent registrations. */
  slot: number;
  /** Protocol version of the registration, used for its notifications. */
  wireVersion: string;
  /** Encrypted configuration, bound to this `_id`. The URL may be as secret as the token. */
  sealed: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface PushConfigStoreDeps {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
}

/** Push notification configurations, scoped by owner; the tenant is ignored. */
export class PushConfigStore implements PushNotificationStore {
  readonly #configs: Collection<PushConfigDoc>;
  readonly #deps: PushConfigStoreDeps;

  constructor(deps: PushConfigStoreDeps) {
    this.#deps = deps;
    this.#configs = deps.db.collection(COLLECTION);
  }

  /** An empty `config.id` is set: in 0.3 to the task id, else to a new id. @throws OracleError CONFLICT if the task has the maximum */
  async save(taskId: string, context: ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    if (config.id === '') config.id = isLegacyVersion(context.requestedVersion) ? taskId : randomUUID();
    const [owner, now] = [getOwner(context), this.#deps.now()];
    const _id = buildConfigKey(owner, taskId, config.id);
    const content = {
      wireVersion: context.requestedVersion,
      sealed: this.#deps.secretBox.seal('a2a-push-credentials', _id, JSON.stringify(TaskPushNotificationConfig.toJSON(config))),
      expiresAt: getExpiry(owner, now),
    };
    // A lost slot was taken by a concurrent insert, so the loop ends after at most one round per slot.
    for (;;) {
      const { matchedCount } = await this.#configs.updateOne({ _id }, { $set: content }, { hint: { _id: 1 } });
      if (matchedCount > 0) return;
      const slot = await this.#freeSlot(owner, taskId);
      if (slot === undefined) throw tooManyConfigs();
      if (await this.#insert({ _id, owner, taskId, slot, ...content, createdAt: now })) return;
    }
  }

  /** @throws OracleError CONFLICT if the task has the maximum without this id */
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

  /** In order of registration. */
  async loadWithMetadata(taskId: string, context: ServerCallContext): Promise<StoredPushNotificationConfig[]> {
    const found = await this.#listByTask(getOwner(context), taskId);
    return found
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.slot - b.slot)
      .map(({ _id, sealed, wireVersion }) => ({ config: this.#decrypt(_id, sealed), wireVersion }));
  }

  /** In 0.3, a missing config id means the id of the task. */
  async delete(taskId: string, context: ServerCallContext, configId: string = taskId): Promise<void> {
    await this.#configs.deleteOne({ _id: buildConfigKey(getOwner(context), taskId, configId) }, { hint: { _id: 1 } });
  }

  async extendExpiry(taskId: string, context: ServerCallContext): Promise<void> {
    const owner = getOwner(context);
    const expiresAt = getExpiry(owner, this.#deps.now());
    await this.#configs.updateMany({ owner, taskId }, { $set: { expiresAt } }, { hint: TASK_KEY });
  }

  async deleteForTask(owner: string, taskId: string): Promise<void> {
    await this.#configs.deleteMany({ owner, taskId }, { hint: TASK_KEY });
  }

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
  return new OracleError('CONFLICT', `A task can have ${MAX_PUSH_CONFIGS_PER_TASK} push notification configurations`, {
    suggestedAction: 'Delete one of them first.',
    details: { limit: MAX_PUSH_CONFIGS_PER_TASK },
  });
}
