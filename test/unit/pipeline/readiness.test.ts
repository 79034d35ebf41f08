import { expect, it } from 'vitest';
import { checkReadiness, type ReadinessDeps } from '../../../src/pipeline/readiness.ts';
import { timeAt } from '../../support/clock/trusted-time.ts';

const NOW = new Date('2026-08-20T21:36:00Z');
const MINUTE_S = 60;

/** Result for a chain whose newest block has that age. */
async function chainCheck(ageSeconds: number, localChain: boolean) {
  const getBlock = async () => ({ number: 7n, timestamp: BigInt(NOW.getTime() / 1000 - ageSeconds) });
  const deps = {
    ...{ chain: { client: { getBlock } }, localChain, now: () => NOW, setup: () => null, pingDatabase: async () => {} },
    time: timeAt(NOW.getTime()),
    market: { coverage: async () => ({ firstDay: 0, lastDay: 1 }) },
  } as unknown as ReadinessDeps;
  const checks = await checkReadiness(deps);
  expect(checks.filter(({ name }) => name !== 'chain').every(({ ok }) => ok)).toBe(true);
  return checks.find(({ name }) => name === 'chain');
}

it('a stalled node is not ready, unless the chain is local', async () => {
  const detail = expect.stringContaining('block 7 is 6 minutes old');
  expect(await chainCheck(6 * MINUTE_S, false)).toEqual({ name: 'chain', ok: false, detail });
  for (const [ageSeconds, local] of [
    [5 * MINUTE_S, false],
    [-2, false],
    [6 * MINUTE_S, true],
  ] as const) {
    expect(await chainCheck(ageSeconds, local)).toEqual({ name: 'chain', ok: true, detail: 'block 7' });
  }
});
