import { expect, it } from 'vitest';
import { shareWhileInFlight } from '../../../../src/app/transports/http-app.ts';

it('callers who ask at once share one answer, and the next one gets a new one', async () => {
  let asked = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const ask = shareWhileInFlight(async () => {
    asked += 1;
    await released;
    return asked;
  });
  const together = [ask(), ask(), ask()];
  release();
  expect(await Promise.all(together)).toEqual([1, 1, 1]);
  expect(await ask()).toBe(2);
});

it('a failure is shared and forgotten', async () => {
  let failing = true;
  const ask = shareWhileInFlight(async () => {
    if (failing) throw new Error('no');
    return 'yes';
  });
  expect(await Promise.allSettled([ask(), ask()])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  failing = false;
  expect(await ask()).toBe('yes');
});
