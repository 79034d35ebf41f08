import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCache, Semaphore, shareReads } from '../../../src/platform/concurrency.ts';

describe('createCache', () => {
  it('loads a key once, also for callers that come meanwhile', async () => {
    const cache = createCache<number>('test', 4);
    const load = vi.fn(async () => 5);
    expect(await Promise.all([cache.get('a', load), cache.get('a', load)])).toEqual([5, 5]);
    expect(load).toHaveBeenCalledTimes(1);
    expect(cache.statistics()).toEqual({ name: 'test', hits: 1, misses: 1, hitRate: 0.5, entries: 1 });
  });

  it('drops the entry unused for longest', async () => {
    const cache = createCache<string>('test', 2);
    for (const key of ['a', 'b', 'a', 'c']) await cache.get(key, async () => key);
    expect(await cache.get('a', async () => 'anew')).toBe('a');
    expect(await cache.get('b', async () => 'anew')).toBe('anew');
    expect(cache.statistics().entries).toBe(2);
  });

  it('does not remember a failure', async () => {
    const cache = createCache<number>('test', 2);
    await expect(cache.get('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await cache.get('a', async () => 1)).toBe(1);
    expect(cache.statistics()).toMatchObject({ hits: 0, misses: 2, entries: 1 });
  });
});
describe('semaphore', () => {
  const refused = { code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) };

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Work that ends on request. */
  function work() {
    const held = Promise.withResolvers<string>();
    const begun = vi.fn(() => held.promise);
    return { begun, end: () => held.resolve('done') };
  }

  describe('Semaphore', () => {
    it('runs up to maxConcurrent, then in order of arrival, and rejects beyond maxQueued', async () => {
      const semaphore = new Semaphore({ maxConcurrent: 1, maxQueued: 1 });
      const [first, second, third] = [work(), work(), work()];
      const running = [semaphore.run(first.begun), semaphore.run(second.begun)];
      await expect(semaphore.run(third.begun)).rejects.toMatchObject(refused);
      expect([first, second, third].map(({ begun }) => begun.mock.calls.length)).toEqual([1, 0, 0]);
      await vi.advanceTimersByTimeAsync(3_600_000);
      first.end();
      second.end();
      expect(await Promise.all(running)).toEqual(['done', 'done']);
      expect(semaphore.isIdle).toBe(true);
    });

    it('rejects after maxWaitMs without running the work', async () => {
      const semaphore = new Semaphore({ maxConcurrent: 1, maxQueued: 1, maxWaitMs: 1_000 });
      const [slow, gone, next] = [work(), work(), work()];
      const running = semaphore.run(slow.begun);
      const given = expect(semaphore.run(gone.begun)).rejects.toMatchObject(refused);
      await vi.advanceTimersByTimeAsync(999);
      await expect(semaphore.run(next.begun)).rejects.toMatchObject(refused);
      await vi.advanceTimersByTimeAsync(1);
      await given;
      const after = semaphore.run(next.begun);
      slow.end();
      next.end();
      expect(await Promise.all([running, after])).toEqual(['done', 'done']);
      expect(gone.begun).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(semaphore.isIdle).toBe(true);
    });

    it('is idle after running work has failed, and not before', async () => {
      const semaphore = new Semaphore({ maxConcurrent: 1, maxQueued: 1 });
      const failing = semaphore.run(() => Promise.reject(new Error('broken')));
      expect(semaphore.isIdle).toBe(false);
      await expect(failing).rejects.toThrow('broken');
      expect(semaphore.isIdle).toBe(true);
    });
  });
});

describe('shared reads', () => {
  interface Reading {
    key: string;
    /** The version of the store when it began. */
    version: number;
    over: boolean;
    /** Ends it, with its version or with itself as the error. */
    end(fails?: boolean): void;
  }

  /** A store whose reads end on request, with the version at their beginning. */
  function openStore() {
    const store = { version: 0, readings: [] as Reading[] };
    const ask = shareReads((key: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const { version } = store;
      const end = (fails = false) => {
        reading.over = true;
        if (fails) reject(reading);
        else resolve(version);
      };
      const reading: Reading = { key, version, over: false, end };
      store.readings.push(reading);
      return promise;
    }, 1_000);
    return { store, ask };
  }

  /** Lets everything happen that waits for nothing. */
  const settled = () => new Promise((done) => setImmediate(done));

  afterEach(() => {
    vi.useRealTimers();
  });

  it('reads at once for the first caller, and once more for all that arrive meanwhile', async () => {
    const { store, ask } = openStore();
    const first = ask('a');
    expect(store.readings).toHaveLength(1);
    store.version = 1;
    const others = [ask('a'), ask('a'), ask('a')];
    await settled();
    expect(store.readings).toHaveLength(1);
    store.readings[0].end();
    await expect(first).resolves.toBe(0);
    await settled();
    expect(store.readings).toHaveLength(2);
    store.readings[1].end();
    await expect(Promise.all(others)).resolves.toEqual([1, 1, 1]);
    await settled();
    expect(store.readings).toHaveLength(2);
  });

  it('rejects all callers that share a failed read, and no others', async () => {
    const { store, ask } = openStore();
    const first = ask('a');
    const others = Promise.allSettled([ask('a'), ask('a')]);
    store.readings[0].end(true);
    await expect(first).rejects.toBe(store.readings[0]);
    await settled();
    store.readings[1].end(true);
    for (const outcome of await others) expect(outcome).toEqual({ status: 'rejected', reason: store.readings[1] });
    const after = ask('a');
    store.readings[2].end();
    await expect(after).resolves.toBe(0);
  });

  it('continues after a read that throws synchronously', async () => {
    let broken = true;
    const ask = shareReads((key: string) => {
      if (broken) throw new Error('not there');
      return Promise.resolve(key);
    });
    const outcomes = await Promise.allSettled([ask('a'), ask('a')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    await expect(ask('a')).resolves.toBe('a');
  });

  it('waits at most a second for a read of another caller', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { store, ask } = openStore();
    const first = ask('a');
    const second = ask('a');
    await vi.advanceTimersByTimeAsync(999);
    expect(store.readings).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(store.readings).toHaveLength(2);
    const third = ask('a');
    store.readings[1].end();
    await expect(second).resolves.toBe(0);
    await settled();
    expect(store.readings).toHaveLength(3);
    // A late read resolves only its own caller.
    store.readings[0].end();
    await expect(first).resolves.toBe(0);
    const fourth = ask('a');
    await settled();
    expect(store.readings).toHaveLength(3);
    store.readings[2].end();
    await expect(third).resolves.toBe(0);
    await settled();
    store.readings[3].end();
    await expect(fourth).resolves.toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  const script = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ act: fc.constant('ask' as const), key: fc.constantFrom('a', 'b') }) },
      { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('end' as const, 'fail' as const), key: fc.constantFrom('a', 'b') }) },
      { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('write' as const, 'turn' as const), key: fc.constant('') }) },
    ),
    { maxLength: 60 },
  );

  it('resolves every caller by a read of its key that began after the call, with one read per key in flight', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const { store, ask } = openStore();
        const underWay = (key: string) => store.readings.filter((reading) => reading.key === key && !reading.over);
        const asked: Promise<void>[] = [];
        for (const { act, key } of steps) {
          if (act === 'ask') {
            const since = store.version;
            const isFresh = (version: number) => expect(version).toBeGreaterThanOrEqual(since);
            const failed = (reading: Reading) => {
              expect(reading.key).toBe(key);
              isFresh(reading.version);
            };
            asked.push(ask(key).then(isFresh, failed));
          } else if (act === 'write') store.version += 1;
          else if (act === 'turn') await settled();
          else underWay(key)[0]?.end(act === 'fail');
          for (const of of ['a', 'b']) expect(underWay(of).length).toBeLessThanOrEqual(1);
        }
        // A caller waits at most for the read in flight and the next one.
        for (let turn = 0; turn < 2; turn++) {
          await settled();
          for (const reading of store.readings) if (!reading.over) reading.end();
        }
        await Promise.all(asked);
        expect(store.readings.length).toBeLessThanOrEqual(asked.length);
      }),
      { numRuns: 300 },
    );
  });
});
