import type { Collection, Db } from 'mongodb';
import { type CollectionIndexes, ignoreDuplicate } from '../../../platform/mongo.ts';
import { CHAT_FORMATS } from '../formats/chats/chat-formats.ts';
import type { WebhookDoc } from '../registry/webhook.ts';

/** `_id` is the key of the target. */
interface ChatPaceDoc {
  _id: string;
  /** Earliest next message, by the database's clock. */
  nextAt: Date;
}

type Addressee = Pick<WebhookDoc, 'chat' | 'targetKey'>;

const COLLECTION = 'webhook_chat_pace';
const BY_TIME = { nextAt: 1 } as const;
const BY_ID = { hint: { _id: 1 } } as const;

export const CHAT_PACE_INDEXES = [{ collection: COLLECTION, indexes: [{ key: BY_TIME }] }] as const satisfies CollectionIndexes[];

/** Spaces the messages to one chat, over all webhooks that lead to it and all processes: the chat counts them together. */
export class ChatPaceStore {
  readonly #pace: Collection<ChatPaceDoc>;

  constructor(db: Db) {
    this.#pace = db.collection(COLLECTION);
  }

  /** 0: the next message may be sent now, and takes the turn; otherwise the milliseconds until one may. Always 0 for other receivers. */
  async reserve({ chat, targetKey: _id }: Addressee): Promise<number> {
    if (chat === undefined) return 0;
    const taken = [{ $set: { nextAt: { $add: ['$$NOW', CHAT_FORMATS[chat.format].getIntervalMs(chat)] } } }];
    for (;;) {
      const { matchedCount } = await this.#pace.updateOne({ _id, $expr: { $lte: ['$nextAt', '$$NOW'] } }, taken, BY_ID);
      if (matchedCount === 1) return 0;
      const waitMs = await this.#readWaitMs(_id);
      if (waitMs !== null) return waitMs;
      await this.#pace.updateOne({ _id }, { $setOnInsert: { nextAt: new Date(0) } }, { upsert: true, ...BY_ID }).catch(ignoreDuplicate);
    }
  }

  /** No message to this chat for so long: it has asked for that. */
  async pause({ chat, targetKey }: Addressee, ms: number): Promise<void> {
    if (chat === undefined || ms === 0) return;
    const later = [{ $set: { nextAt: { $max: ['$nextAt', { $add: ['$$NOW', ms] }] } } }];
    await this.#pace.updateOne({ _id: targetKey }, later, BY_ID);
  }

  async purge(now: Date): Promise<void> {
    await this.#pace.deleteMany({ nextAt: { $lte: new Date(now.getTime() - PURGE_MARGIN_MS) } }, { hint: BY_TIME });
  }

  async #readWaitMs(_id: string): Promise<number | null> {
    const stages = [{ $match: { _id } }, { $project: { waitMs: { $subtract: ['$nextAt', '$$NOW'] } } }];
    const [row] = await this.#pace.aggregate<{ waitMs: number }>(stages, BY_ID).toArray();
    return row === undefined ? null : Math.max(1, row.waitMs);
  }
}

/** More than clocks differ by. */
const PURGE_MARGIN_MS = 3_600_000;
