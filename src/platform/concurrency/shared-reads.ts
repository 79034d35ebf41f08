export type ReadFunction<Key, Value> = (key: Key) => Promise<Value>;

interface SharedRead<Value> {
  /** Resolves when the read in flight ends, or is no longer waited for. */
  ended: Promise<void>;
  /** The following read, shared by all callers that arrive meanwhile. */
  next?: Promise<Value>;
}

/** A database that does not respond to one read delays the next one by at most this. */
const MAX_SHARED_MS = 1_000;

/** No caller gets a value read before its call: it waits for the next read, which begins when the first ends or after `maxSharedMs`. */
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
