import fc from 'fast-check';
import { type Client, createClient, custom, numberToHex } from 'viem';
import { expect, it } from 'vitest';
import { type AuditChain, findFirstBlocks } from '../../../src/audit/chain-record.ts';

/** A chain whose blocks have these times in seconds; counts the rounds of a search. */
function chainOf(timeOf: (number: number) => number, length: number) {
  const rounds = { count: 0, blocks: 0 };
  let pending = false;
  const request = async ({ params }: { params: [string] }) => {
    if (!pending) rounds.count += 1;
    rounds.blocks += 1;
    pending = true;
    await new Promise((resolve) => setImmediate(resolve));
    pending = false;
    const number = params[0] === 'latest' ? length - 1 : Number(params[0]);
    return { number: numberToHex(number), timestamp: numberToHex(timeOf(number)), transactions: [] };
  };
  const client: Client = createClient({ transport: custom({ request }, { retryCount: 0 }) });
  return { chain: { client, chainId: 1, parallel: 10, addresses: {} } as unknown as AuditChain, rounds };
}

const at = (seconds: number) => new Date(seconds * 1_000);

it('returns the first blocks for even and uneven block times', async () => {
  const steps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 90_000 })), {
    minLength: 1,
    maxLength: 400,
  });
  await fc.assert(
    fc.asyncProperty(steps, fc.double({ min: -0.1, max: 1.1, noNaN: true }), async (all, share) => {
      let time = 1_000_000;
      const times = all.map((step) => (time += step));
      const since = Math.round(times[0] + share * (time - times[0]));
      const { chain } = chainOf((number) => times[number], times.length);
      const expected = times.findIndex((one) => one >= since);
      const found = await findFirstBlocks(chain, [at(since), at(time + 1)]);
      expect(found).toEqual({
        first: [expected < 0 ? times.length : expected, times.length],
        newest: { number: times.length - 1, at: at(time) },
      });
    }),
    { numRuns: 60 },
  );
});

it('needs two rounds on a long chain with even block times', async () => {
  const { chain, rounds } = chainOf((number) => 1_700_000_000 + 2 * number, 40_000_000);
  const { first } = await findFirstBlocks(chain, [at(1_750_000_001), at(1_760_000_000)]);
  expect(first).toEqual([25_000_001, 30_000_000]);
  expect(rounds.count).toBe(2);
  expect(rounds.blocks).toBeLessThan(40);
});

it('ends soon whatever times an endpoint claims', async () => {
  await fc.assert(
    fc.asyncProperty(fc.func(fc.nat({ max: 2_000_000_000 })), fc.nat({ max: 2_000_000_000 }), async (timeOf, since) => {
      const { chain, rounds } = chainOf(timeOf, 2 ** 40);
      await findFirstBlocks(chain, [at(since)]);
      expect(rounds.count).toBeLessThan(16);
    }),
    { numRuns: 60 },
  );
});
