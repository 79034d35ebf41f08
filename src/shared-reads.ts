/** Reads what belongs to a key. */
export type Read<Key, Value> = (key: Key) => Promise<Value>;

/** Those who wait for a key. */
interface Line<Value> {
  /** Resolves once the read under way is not waited for any longer. */
  over: Promise<void>;
  /** The read after that one: who asks now shares it. */
  next?: Promise<Value>;
}

/** A store that does not answer one read holds up the others for so long. */
const PATIENCE_MS = 1_000;

/**
 * Reads that many ask for at once, made once for all who wait. Nobody is told what was read before he asked: who comes while a read is
 * under way waits for the next one, which begins when that one ends, or after `patienceMs`. What a read rejects with, all who share it
 * are told; so they share what it gives, and may not change it.
 */
export function sharedReads<Key, Value>(read: Read<Key, Value>, patienceMs = PATIENCE_MS): Read<Key, Value> {
  const lines = new Map<Key, Line<Value>>();

  async function begin(key: Key): Promise<Value> {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const line: Line<Value> = { over };
    lines.set(key, line);
    const timer = setTimeout(end, patienceMs);
    try {
      return await read(key);
    } finally {
      clearTimeout(timer);
      if (line.next === undefined) lines.delete(key);
      end();
    }
  }

  return (key) => {
    const line = lines.get(key);
    if (line === undefined) return begin(key);
    line.next ??= line.over.then(() => begin(key));
    return line.next;
  };
}
