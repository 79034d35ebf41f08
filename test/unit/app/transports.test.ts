import { expect, it } from 'vitest';
import { shareWhileInFlight } from '../../../src/app/transports.ts';

it('shares one computation among concurrent callers and computes again for the next', async () => {
  let calls = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const ask = shareWhileInFlight(async () => {
    calls += 1;
    await released;
    return calls;
  });
  const together = [ask(), ask(), ask()];
  release();
  expect(await Promise.all(together)).toEqual([1, 1, 1]);
  expect(await ask()).toBe(2);
});

it('shares a rejection and retries on the next call', async () => {
  let failing = true;
  const ask = shareWhileInFlight(async () => {
    if (failing) throw new Error('no');
    return 'yes';
  });
  expect(await Promise.allSettled([ask(), ask()])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  failing = false;
  expect(await ask()).toBe('yes');
});
