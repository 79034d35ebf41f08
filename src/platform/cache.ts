export interface CacheStatistics {
  name: string;
  hits: number;
  misses: number;
  /** Share of the calls that were answered from memory; null before the first. */
  hitRate: number | null;
  entries: number;
}

export interface Cache<Value> {
  /** The remembered value of `key`, or what `load` gives. Callers that come while it loads share the one call. */
  get(key: string | number, load: () => Promise<Value>): Promise<Value>;
  statistics(): CacheStatistics;
}

/** Remembers up to `maxEntries` values, dropping the one unused for longest. A failure is never remembered. */
export function createCache<Value>(name: string, maxEntries: number): Cache<Value> {
  const entries = new Map<string | number, Promise<Value>>();
  let hits = 0;
  let misses = 0;

  function storeEntry(key: string | number, value: Promise<Value>): void {
    entries.delete(key);
    entries.set(key, value);
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries) return;
      entries.delete(oldest);
    }
  }

  function load(key: string | number, loader: () => Promise<Value>): Promise<Value> {
    const value = loader();
    value.catch(() => {
      if (entries.get(key) === value) entries.delete(key);
    });
    return value;
  }

  return {
    get(key, loader) {
      const known = entries.get(key);
      if (known) hits++;
      else misses++;
      const value = known ?? load(key, loader);
      storeEntry(key, value);
      return value;
    },
    statistics: () => ({ name, hits, misses, hitRate: hits + misses > 0 ? hits / (hits + misses) : null, entries: entries.size }),
  };
}
