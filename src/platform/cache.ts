import { LRUCache } from 'lru-cache';

export interface CacheStatistics {
  name: string;
  hits: number;
  misses: number;
  /** Share of reads served from memory; null before the first read. */
  hitRate: number | null;
  entries: number;
}

export interface Cache<Value> {
  /** Returns the cached value of `key`, or the result of `load`. Concurrent readers of a key share one load. */
  get(key: string | number, load: () => Promise<Value>): Promise<Value>;
  statistics(): CacheStatistics;
}

/** Least-recently-used cache of at most `maxEntries` values. A rejected load is evicted, so the next read retries. */
export function createCache<Value>(name: string, maxEntries: number): Cache<Value> {
  const entries = new LRUCache<string | number, Promise<Value>>({ max: maxEntries });
  let hits = 0;
  let misses = 0;
  return {
    get(key, load) {
      const cached = entries.get(key);
      if (cached !== undefined) {
        hits++;
        return cached;
      }
      misses++;
      const value = load();
      entries.set(key, value);
      value.catch(() => {
        if (entries.peek(key) === value) entries.delete(key);
      });
      return value;
    },
    statistics: () => ({ name, hits, misses, hitRate: hits + misses > 0 ? hits / (hits + misses) : null, entries: entries.size }),
  };
}
