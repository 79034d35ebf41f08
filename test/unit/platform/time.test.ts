import { expect, it, vi } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/forecast/day.ts';
import { createTrustedTime, type TimeSources } from '../../../src/platform/time.ts';

const INSTANT = Date.parse('2026-08-21T00:00:00Z');
const WHAT = 'The opening of a window';

/** Clocks at these distances from the instant, in milliseconds; each reading of the chain takes the next one. */
function clocks(distances: { process?: number; database?: number; blocks?: (number | OracleError)[] }, more: Partial<TimeSources> = {}) {
  const { process = 1_000, database = 1_000, blocks = [0] } = distances;
  const reads = { database: 0, chain: 0 };
  const time = createTrustedTime({
    now: () => new Date(INSTANT + process),
    databaseNow: async () => {
      reads.database += 1;
      return new Date(INSTANT + database);
    },
    newestBlockAt: async () => {
      const block = blocks[Math.min(reads.chain, blocks.length - 1)];
      reads.chain += 1;
      if (block instanceof OracleError) throw block;
      return new Date(INSTANT + block);
    },
    ...more,
  });
  return { time, reads };
}

it.each([
  ['2 d ahead of', 2 * DAY_MS],
  ['1 min 1 s ahead of', 61_000],
  ['2 d behind', -2 * DAY_MS],
  ['1 min 1 s behind', -61_000],
])('proves nothing while the process is %s the database', async (difference, skewMs) => {
  const { time, reads } = clocks({ process: skewMs, database: 0, blocks: [DAY_MS] });
  const waiting = { code: 'STEP_WAITING', message: expect.stringContaining(`this process's clock is ${difference} the database's`) };
  await expect(time.requireReached(INSTANT - 3 * DAY_MS, WHAT)).rejects.toMatchObject(waiting);
  await expect(time.proveUnreached(INSTANT + 3 * DAY_MS)).rejects.toMatchObject(waiting);
  await expect(time.describe()).rejects.toMatchObject(waiting);
  expect(await time.findDisagreement()).toContain(difference);
  expect(reads.chain).toBe(0);
});

it.each([30_000, -30_000])('does not mind %d ms between process and database', async (skewMs) => {
  const { time } = clocks({ process: skewMs, database: 0, blocks: [0] });
  expect(await time.findDisagreement()).toBeNull();
  expect((await time.requireReached(INSTANT - MINUTE_MS, WHAT)).ms).toBe(INSTANT - MINUTE_MS);
  expect((await time.proveUnreached(INSTANT + MINUTE_MS))!.ms).toBe(INSTANT + MINUTE_MS);
  expect(await time.describe()).toContain(skewMs > 0 ? '30.0 s ahead of' : '30.0 s behind');
});

it.each([
  ["this process's clock", { process: -20_000, database: 10_000, blocks: [10_000] }],
  ["the database's clock", { process: 10_000, database: -20_000, blocks: [10_000] }],
  ['the newest block', { process: 10_000, database: 10_000, blocks: [-20_000] }],
])('does not prove an instant that %s has not passed', async (clock, distances) => {
  const { time } = clocks(distances);
  const message = `${WHAT} is at 2026-08-21T00:00:00.000Z, and ${clock} is at 2026-08-20T23:59:40`;
  await expect(time.requireReached(INSTANT, WHAT)).rejects.toMatchObject({
    code: 'STEP_WAITING',
    message: expect.stringContaining(message),
  });
});

it.each([
  { process: 20_000, database: -20_000 },
  { process: -20_000, database: 20_000 },
  { process: 0, database: -1_000 },
])('does not prove that an instant lies ahead which one of the clocks has reached: %o', async (distances) => {
  expect(await clocks(distances).time.proveUnreached(INSTANT)).toBeNull();
});

it('waits for the next block when the newest is one block behind', async () => {
  const { time, reads } = clocks({ blocks: [-2_000, 0] });
  expect((await time.requireReached(INSTANT, WHAT)).ms).toBe(INSTANT);
  expect(reads.chain).toBe(2);
});

it('ends waiting for a block with the process', async () => {
  const { time } = clocks({ blocks: [-2_000] }, { signal: AbortSignal.abort() });
  await expect(time.requireReached(INSTANT, WHAT)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
});

it('passes on that database or chain do not answer', async () => {
  const silent = new OracleError('DATABASE_UNAVAILABLE', 'no answer');
  const databaseNow = async (): Promise<Date> => {
    throw silent;
  };
  await expect(clocks({}, { databaseNow }).time.requireReached(INSTANT, WHAT)).rejects.toBe(silent);
  await expect(clocks({}, { databaseNow }).time.findDisagreement()).rejects.toBe(silent);
  const unreachable = new OracleError('CHAIN_UNREACHABLE', 'no answer');
  await expect(clocks({ blocks: [unreachable] }).time.requireReached(INSTANT, WHAT)).rejects.toBe(unreachable);
});

it('asks database and chain once for the steps of a few seconds', async () => {
  const { time, reads } = clocks({ process: 5_000, database: 5_000, blocks: [5_000] });
  for (let step = 0; step < 100; step++) await time.requireReached(INSTANT - step, WHAT);
  expect(reads).toEqual({ database: 1, chain: 1 });
});

it('sees a jump of the process clock although the database was asked just before', async () => {
  const changes: (string | null)[] = [];
  let jumpMs = 0;
  const { time, reads } = clocks({}, { now: () => new Date(INSTANT + 1_000 + jumpMs), onChange: (reason) => changes.push(reason) });
  await time.requireReached(INSTANT, WHAT);
  jumpMs = DAY_MS;
  await expect(time.requireReached(INSTANT, WHAT)).rejects.toMatchObject({ code: 'STEP_WAITING' });
  await expect(time.requireReached(INSTANT, WHAT)).rejects.toMatchObject({ code: 'STEP_WAITING' });
  jumpMs = 0;
  await time.requireReached(INSTANT, WHAT);
  expect(reads.database).toBe(1);
  expect(changes).toEqual([expect.stringContaining('1 d ahead of'), null]);
});

it('does not count the time that an answer of the database takes as a difference', async () => {
  const monotonic = vi.spyOn(performance, 'now');
  for (const ms of [0, 10_000, 10_000]) monotonic.mockReturnValueOnce(ms);
  expect(await clocks({ process: 65_000, database: 0 }).time.findDisagreement()).toBeNull();
  for (const ms of [0, 1_000, 1_000]) monotonic.mockReturnValueOnce(ms);
  expect(await clocks({ process: 65_000, database: 0 }).time.findDisagreement()).toContain('1 min 4 s ahead of');
  monotonic.mockRestore();
});

it('a proof covers its instant and earlier ones', async () => {
  const { time } = clocks({});
  const reached = await time.requireReached(INSTANT, WHAT);
  reached.requireCovers(INSTANT, WHAT);
  expect(() => reached.requireCovers(INSTANT + 1, WHAT)).toThrow(WHAT);
  const ahead = (await time.proveUnreached(INSTANT + MINUTE_MS))!;
  ahead.requireBefore(INSTANT + MINUTE_MS, WHAT);
  expect(() => ahead.requireBefore(INSTANT + MINUTE_MS - 1, WHAT)).toThrow(WHAT);
});
