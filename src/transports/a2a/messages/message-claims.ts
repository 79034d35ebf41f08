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
  /** The task that the message opened or went on with. */
  taskId: string;
  /** SHA-256 of what it says. */
  digest: string;
  expiresAt: Date;
}

const COLLECTION = 'a2a_messages';
const MESSAGE_KEY = { owner: 1, messageId: 1 } as const;

export const MESSAGE_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: MESSAGE_KEY, unique: true }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** Which task each message belongs to: a message that comes again belongs to the same one. */
export class MessageClaims {
  readonly #messages: Collection<MessageDoc>;
  readonly #now: () => Date;

  constructor(db: Db, now: () => Date) {
    this.#messages = db.collection<MessageDoc>(COLLECTION);
    this.#now = now;
  }

  /** The task of a message that came before; null for a new one. @throws OracleError CONFLICT when it said something else */
  async find(owner: string, message: Message): Promise<string | null> {
    const found = await this.#messages.findOne({ owner, messageId: message.messageId }, { hint: MESSAGE_KEY });
    if (found === null) return null;
    if (found.digest !== computeMessageDigest(message)) throw messageIdReused();
    return found.taskId;
  }

  /** The message's task: the one given, or that of the same message which was faster. @throws OracleError CONFLICT */
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
  return new OracleError('CONFLICT', 'A message with this messageId came before and said something else', {
    field: 'message.messageId',
    suggestedAction: 'Give every message a messageId of its own, e.g. a UUID; repeat one only with the same content.',
  });
}
