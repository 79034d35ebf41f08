import { createHash } from 'node:crypto';
import { Message } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../../../platform/mongo.ts';
import { getExpiry } from '../tasks/retention.ts';

interface MessageDoc {
  owner: string;
  messageId: string;
  taskId: string;
  /** SHA-256 of the canonical message. */
  digest: string;
  expiresAt: Date;
}

const COLLECTION = 'a2a_messages';
const MESSAGE_KEY = { owner: 1, messageId: 1 } as const;

export const MESSAGE_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: MESSAGE_KEY, unique: true }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** Maps message ids to tasks, so that a repeated message reaches the same task (idempotency key: owner and `messageId`). */
export class MessageClaims {
  readonly #messages: Collection<MessageDoc>;
  readonly #now: () => Date;

  constructor(db: Db, now: () => Date) {
    this.#messages = db.collection<MessageDoc>(COLLECTION);
    this.#now = now;
  }

  /** Null for a new message. @throws OracleError CONFLICT if the id was used with other content */
  async find(owner: string, message: Message): Promise<string | null> {
    const found = await this.#messages.findOne({ owner, messageId: message.messageId }, { hint: MESSAGE_KEY });
    if (found === null) return null;
    if (found.digest !== computeMessageDigest(message)) throw messageIdReused();
    return found.taskId;
  }

  /** Returns `taskId`, or the task of the same message if a concurrent claim won. @throws OracleError CONFLICT */
  async claim(owner: string, message: Message, taskId: string): Promise<string> {
    const { messageId } = message;
    try {
      await this.#messages.insertOne({
        owner,
        messageId,
        taskId,
        digest: computeMessageDigest(message),
        expiresAt: getExpiry(owner, this.#now()),
      });
      return taskId;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    return (await this.find(owner, message)) ?? this.claim(owner, message, taskId);
  }

  async purge(now: Date): Promise<void> {
    await this.#messages.deleteMany({ expiresAt: { $lte: now } });
  }
}

function computeMessageDigest(message: Message): string {
  return createHash('sha256')
    .update(canonicalize(Message.toJSON(message)) ?? '')
    .digest('hex');
}

function messageIdReused(): OracleError {
  return new OracleError('CONFLICT', 'This messageId was used for a message with other content', {
    field: 'message.messageId',
    suggestedAction: 'Use a new messageId, e.g. a UUID; repeat one only with the same content.',
  });
}
