import { randomUUID } from 'node:crypto';
import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { PushNotificationStore, ServerCallContext, StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../../mongo.ts';
import type { SecretBox } from '../../secret-box.ts';
import { ownerOf } from '../owner.ts';
import { keptUntil } from '../task-retention.ts';
import { isOlder } from './notification.ts';

/** Callbacks that one task can have. */
export const PUSH_CONFIGS_PER_TASK = 5;

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

export interface PushConfigStoreParts {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
}

/** Where clients want to be told about their tasks. Scoped to the owner alone: a tenant that is named widens nothing. */
export class PushConfigStore implements PushNotificationStore {
  readonly #configs: Collection<PushConfigDoc>;
  readonly #parts: PushConfigStoreParts;

  constructor(parts: PushConfigStoreParts) {
    this.#parts = parts;
    this.#configs = parts.db.collection(COLLECTION);
  }

  /**
   * Keeps a configuration, in the place of the one with the same id if there is one. An empty `config.id` is set: to a new one, or as protocol 0.3 has it, to that
   * of the task.
   * @throws OracleError CONFLICT when the task has all it can have.
   */
  async save(taskId: string, context: ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    if (config.id === '') config.id = isOlder(context.requestedVersion) ? taskId : randomUUID();
    const [owner, now] = [ownerOf(context), this.#parts.now()];
    const _id = keyOf(owner, taskId, config.id);
    const content = {
      wireVersion: context.requestedVersion,
      sealed: this.#parts.secretBox.seal('a2a-push-credentials', _id, JSON.stringify(TaskPushNotificationConfig.toJSON(config))),
      expiresAt: keptUntil(owner, now),
    };
    // A place that is lost was won by somebody else: for a task that is only added to, the loop ends after as many rounds as places.
    for (;;) {
      const { matchedCount } = await this.#configs.updateOne({ _id }, { $set: content }, { hint: { _id: 1 } });
      if (matchedCount > 0) return;
      const slot = await this.#freeSlot(owner, taskId);
      if (slot === undefined) throw full();
      if (await this.#insert({ _id, owner, taskId, slot, ...content, createdAt: now })) return;
    }
  }

  /** @throws OracleError CONFLICT when the task of a configuration has all it can have, and not this one. */
  async requireRoom({ taskId, id }: TaskPushNotificationConfig, context: ServerCallContext): Promise<void> {
    if (taskId === '') return;
    const owner = ownerOf(context);
    const found = await this.#ofTask(owner, taskId);
    if (found.length >= PUSH_CONFIGS_PER_TASK && !found.some(({ _id }) => _id === keyOf(owner, taskId, id))) throw full();
  }

  async load(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    return (await this.loadWithMetadata(taskId, context)).map(({ config }) => config);
  }

  /** In the order of their registration. */
  async loadWithMetadata(taskId: string, context: ServerCallContext): Promise<StoredPushNotificationConfig[]> {
    const found = await this.#ofTask(ownerOf(context), taskId);
    return found
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.slot - b.slot)
      .map(({ _id, sealed, wireVersion }) => ({ config: this.#opened(_id, sealed), wireVersion }));
  }

  /** Ends one, or what is not there. Without its id the one that is named as its task, as protocol 0.3 has it. */
  async delete(taskId: string, context: ServerCallContext, configId: string = taskId): Promise<void> {
    await this.#configs.deleteOne({ _id: keyOf(ownerOf(context), taskId, configId) }, { hint: { _id: 1 } });
  }

  /** Keeps what a task has as long as the task, which has just changed. */
  async renew(taskId: string, context: ServerCallContext): Promise<void> {
    const owner = ownerOf(context);
    const expiresAt = keptUntil(owner, this.#parts.now());
    await this.#configs.updateMany({ owner, taskId }, { $set: { expiresAt } }, { hint: TASK_KEY });
  }

  /** Deletes all that a task has. */
  async forget(owner: string, taskId: string): Promise<void> {
    await this.#configs.deleteMany({ owner, taskId }, { hint: TASK_KEY });
  }

  /** Deletes what has expired, and tells how many there were. */
  async purge(now: Date): Promise<number> {
    return (await this.#configs.deleteMany({ expiresAt: { $lte: now } }, { hint: { expiresAt: 1 } })).deletedCount;
  }

  #opened(id: string, sealed: string): TaskPushNotificationConfig {
    return TaskPushNotificationConfig.fromJSON(JSON.parse(this.#parts.secretBox.open('a2a-push-credentials', id, sealed)));
  }

  async #ofTask(owner: string, taskId: string): Promise<PushConfigDoc[]> {
    return this.#configs.find({ owner, taskId }, { hint: TASK_KEY }).toArray();
  }

  async #freeSlot(owner: string, taskId: string): Promise<number | undefined> {
    const taken = new Set((await this.#ofTask(owner, taskId)).map(({ slot }) => slot));
    return Array.from({ length: PUSH_CONFIGS_PER_TASK }, (_, slot) => slot).find((slot) => !taken.has(slot));
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

function keyOf(owner: string, taskId: string, id: string): string {
  return JSON.stringify([owner, taskId, id]);
}

function full(): OracleError {
  return new OracleError('CONFLICT', `A task can have ${PUSH_CONFIGS_PER_TASK} push notification configurations, and this one has them`, {
    suggestedAction: 'Delete one of them first.',
    details: { limit: PUSH_CONFIGS_PER_TASK },
  });
}
