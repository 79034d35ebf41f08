import { isDatabaseUnreachable } from '../../../../platform/mongo.ts';
import type { Reply } from '../route.ts';

interface RevisionReplyOptions {
  /** Of the state that the reply depends on: equal keys, equal replies. */
  readKey(): Promise<string>;
  render(): Promise<Reply<never>>;
}

/** A reply that is the same for every caller: rendered when its key has changed. Without the database the last one stays. */
export function createRevisionReply({ readKey, render }: RevisionReplyOptions): () => Promise<Reply<never>> {
  let newest: { key: string; reply: Promise<Reply<never>> } | null = null;
  let last: Reply<never> | null = null;

  async function getNewest(): Promise<Reply<never>> {
    const key = await readKey();
    if (newest?.key === key) return newest.reply;
    const next = { key, reply: render() };
    newest = next;
    next.reply.catch(() => {
      if (newest === next) newest = null;
    });
    return next.reply;
  }

  return async () => {
    try {
      last = await getNewest();
      return last;
    } catch (error) {
      if (last === null || !isDatabaseUnreachable(error)) throw error;
      return last;
    }
  };
}
