import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { shareReads } from '../../../../src/platform/concurrency.ts';

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
