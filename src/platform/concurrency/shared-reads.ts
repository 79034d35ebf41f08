/** Reads what belongs to a key. */
export type ReadFunction<Key, Value> = (key: Key) => Promise<Value>;

/** Those who wait for a key. */
interface SharedRead<Value> {
  /** Resolves once the read under way is not waited for any longer. */
  ended: Promise<void>;
  /** The read after that one: who asks now shares it. */
  next?: Promise<Value>;
}

/** A store that does not answer one read holds up the others for so long. */
const MAX_SHARED_MS = 1_000;

/**
 * Reads that many ask for at once, made once for all who wait. Nobody is told what was read before he asked: who comes while a read is
 * under way waits for the next one, which begins when that one ends, or after `patienceMs`. What a read rejects with, all who share it
 * are told; so they share what it gives, and may not change it.
 */
export function shareReads<Key, Value>(read: ReadFunction<Key, Value>, maxSharedMs = MAX_SHARED_MS): ReadFunction<Key, Value> {
  const sharedByKey = new Map<Key, SharedRead<Value>>();

  async function startRead(key: Key): Promise<Value> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const shared: SharedRead<Value> = { ended };
    sharedByKey.set(key, shared);
    const timer = setTimeout(end, maxSharedMs);
    try {
      return await read(key);
    } finally {
      clearTimeout(timer);
      if (shared.next === undefined) sharedByKey.delete(key);
      end();
    }
  }

  return (key) => {
    const shared = sharedByKey.get(key);
    if (shared === undefined) return startRead(key);
    shared.next ??= shared.ended.then(() => startRead(key));
    return shared.next;
  };
}
