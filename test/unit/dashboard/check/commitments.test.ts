import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findBlocksBetween } from '../../../../src/dashboard/chain/blocks.ts';
import { listAttestedUids } from '../../../../src/dashboard/chain/logs.ts';
import { committed, evidence, made, OPEN, OPENS, openIn, PLACE, prediction, wrongIn } from './evidence.ts';

type Call = { id: number; method: string; params: never[] };

let endpoints = 0;

/** A separate endpoint by call; counts requests. */
function endpoint(answer: (call: Call) => object) {
  const posts: Call[][] = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: RequestInit) => {
    const asked = JSON.parse(String(body)) as Call | Call[];
    posts.push([asked].flat());
    return Response.json(Array.isArray(asked) ? asked.map(answer) : answer(asked));
  });
  return { posts, asked: { endpoint: `https://rpc.example/${++endpoints}`, signal: new AbortController().signal } };
}
afterEach(() => vi.unstubAllGlobals());

const hex = (number: number) => `0x${number.toString(16)}`;

/** Blocks with given times. */
const chainOf = (times: readonly number[]) =>
  endpoint(({ id, params: [name] }) => {
    const number = (name as string) === 'latest' ? times.length - 1 : Number(name);
    return { id, result: { number: hex(number), timestamp: hex(times[number]!) } };
  });

describe('findBlocksBetween', () => {
  it('returns a tight block range for even and uneven block times', async () => {
    const steps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 90_000 })), {
      minLength: 1,
      maxLength: 400,
    });
    const range = fc.tuple(fc.double({ min: -0.1, max: 1.1, noNaN: true }), fc.integer({ min: 1, max: 100_000 }));
    await fc.assert(
      fc.asyncProperty(steps, range, async (all, [share, span]) => {
        let time = 1_000_000;
        const times = [time, ...all.map((step) => (time += step))];
        const since = Math.round(times[0]! + share * (times.at(-1)! - times[0]!));
        const { asked, posts } = chainOf(times);
        const { from, to, newest } = await findBlocksBetween({ since, until: since + span }, asked);
        const within = times.flatMap((time, number) => (time >= since && time < since + span ? [number] : []));
        const range = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
        expect(range.filter((number) => within.includes(number))).toEqual(within);
        expect(range.length).toBeLessThanOrEqual(within.length + 16);
        expect(range.every((number) => number in times)).toBe(true);
        expect(newest).toEqual({ number: times.length - 1, time: times.at(-1) });
        expect(posts.length).toBeLessThanOrEqual(6);
      }),
    );
  });

  it('stops when block times are inconsistent', async () => {
    const { asked, posts } = endpoint(({ id, params: [name] }) => {
      const number = (name as string) === 'latest' ? 2 ** 40 : Number(name) && 2 ** 39;
      return { id, result: { number: hex(number), timestamp: hex(number) } };
    });
    await expect(findBlocksBetween({ since: 5, until: 9 }, asked)).rejects.toThrow('are inconsistent');
    expect(posts.length).toBeLessThan(20);
    const silent = endpoint(({ id }) => ({ id, result: null }));
    await expect(findBlocksBetween({ since: 5, until: 9 }, silent.asked)).rejects.toThrow('a block without a time');
  });
});

describe('listAttestedUids', () => {
  const uid = `0x${'ab'.repeat(32)}`;
  const search = { eas: `0x${'ea'.repeat(20)}`, attester: `0x${'0a'.repeat(20)}`, schema: `0x${'5c'.repeat(32)}`, most: 1_000 };
  /** An endpoint with a block range limit. */
  const reading = (most: number) => {
    const world = endpoint(({ id, params: [filter] }) => {
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      const isTooLong = Number(toBlock) - Number(fromBlock) >= most;
      return isTooLong ? { id, error: { message: 'range too large' } } : { id, result: [{ data: uid }] };
    });
    const ranges = () =>
      world.posts.flat().map(({ params: [filter] }) => {
        const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
        return [Number(fromBlock), Number(toBlock)];
      });
    return { ...world, ranges };
  };

  it('requests every block once, in ranges that endpoints accept', async () => {
    const { asked, ranges } = reading(10_000);
    expect(await listAttestedUids({ from: 5, to: 25_004, ...search }, asked)).toEqual([uid, uid, uid]);
    expect(ranges()).toEqual([
      [5, 10_004],
      [10_005, 20_004],
      [20_005, 25_004],
    ]);
  });

  it('halves a rejected range, down to a minimum', async () => {
    const { asked, ranges } = reading(2_000);
    expect(await listAttestedUids({ from: 0, to: 8_999, ...search }, asked)).toHaveLength(8);
    expect(ranges().slice(0, 3)).toEqual([
      [0, 8_999],
      [0, 4_499],
      [0, 2_249],
    ]);
    const picky = reading(10);
    await expect(listAttestedUids({ from: 0, to: 8_999, ...search }, picky.asked)).rejects.toThrow('it returns an error: range too large');
    expect(picky.posts).toHaveLength(5);
    const slow = reading(1_000);
    await expect(listAttestedUids({ from: 0, to: 49_999, ...search }, slow.asked)).rejects.toThrow('no more than 625 blocks at once');
    expect(slow.posts).toHaveLength(24);
  });

  it('stops at the limit, even when one response is too large', async () => {
    const { asked, posts } = endpoint(({ id, params: [filter] }) => {
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      const blocks = Array.from({ length: Number(toBlock) - Number(fromBlock) + 1 }, (_, index) => Number(fromBlock) + index);
      // All within twenty blocks, as an attester with something to hide would make them.
      const count = 200 * blocks.filter((block) => block >= 700 && block < 720).length;
      return { id, result: Array.from({ length: count }, () => ({ data: uid, padding: 'x'.repeat(600) })) };
    });
    expect((await listAttestedUids({ from: 0, to: 8_999, ...search }, asked)).length).toBeGreaterThan(1_000);
    expect(posts.length).toBeLessThan(24);
  });
});

describe('a second prediction for one day and horizon', () => {
  const first = prediction();
  const twin = prediction({}, `0x${'77'.repeat(32)}`);

  it('fails when it came in time', () => {
    expect(wrongIn(evidence({}, { first, rivals: committed(first, twin) }))).toEqual(['onePrediction']);
    // Even when the endpoint lists only the other one.
    expect(wrongIn(evidence({}, { first, rivals: committed(twin) }))).toEqual(['onePrediction']);
    const late = prediction({ time: OPENS / 1_000 }, `0x${'77'.repeat(32)}`);
    expect(wrongIn(evidence({}, { first, rivals: committed(first, late) }))).toEqual([]);
    const elsewhere = [{ day: PLACE.day + 1 }, { horizonDays: 3 }].map((place) =>
      prediction({ data: made(place, `0x${'77'.repeat(32)}`) }),
    );
    expect(wrongIn(evidence({}, { first, rivals: committed(first, ...elsewhere) }))).toEqual([]);
  });

  it('fails for a void row when it came in time', () => {
    const late = prediction({ time: OPENS / 1_000 + 60 });
    const row = { ...OPEN, status: 'VOID' };
    expect(wrongIn(evidence(row, { first: late, second: null, rivals: committed(late, twin) }))).toEqual(['onePrediction']);
    expect(wrongIn(evidence(row, { first: late, second: null, rivals: committed(late) }))).toEqual([]);
  });

  it('is left open until the window opens', () => {
    const rivals = { ...committed(first), newest: new Date(OPENS - 8_000_000) };
    expect(openIn(evidence(OPEN, { first, second: null, rivals, now: new Date(OPENS - 1) }))).toContain('onePrediction');
    expect(openIn(evidence(OPEN, { first, second: null, now: new Date(OPENS) }))).not.toContain('onePrediction');
  });
});
