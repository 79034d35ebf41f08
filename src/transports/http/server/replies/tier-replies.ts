import { LRUCache } from 'lru-cache';
import type { Reply } from '../route.ts';
import { MAX_ANSWER_AGE_MS } from './answer-cache.ts';

const MAX_REPLIES = 256;

/** Replies that depend on the tier of the caller alone: computed once for concurrent requests, and used again until they are a second old. */
export class TierReplies {
  readonly #replies = new LRUCache<string, Promise<Reply>>({ max: MAX_REPLIES, ttl: MAX_ANSWER_AGE_MS, ttlAutopurge: true });

  has(key: string): boolean {
    return this.#replies.has(key);
  }

  /** @param key everything the reply depends on */
  get(key: string, compute: () => Promise<Reply>): Promise<Reply> {
    const known = this.#replies.get(key);
    if (known !== undefined) return known;
    const reply = compute();
    this.#replies.set(key, reply);
    reply.catch(() => this.#replies.delete(key));
    return reply;
  }
}
