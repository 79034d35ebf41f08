import { expect, it } from 'vitest';
import { createThrottle } from '../../../../../src/market/live/providers.ts';

const HOUR_MS = 3_600_000;

it('grants the first slot immediately and rejects queued callers with the abort reason', async () => {
  const controller = new AbortController();
  const pace = createThrottle(HOUR_MS, controller.signal);
  await pace.acquire();
  const waiting = Promise.allSettled([pace.acquire(), pace.acquire()]);
  const reason = new Error('stopping');
  controller.abort(reason);
  expect(await waiting).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
});

it('spaces slots and keeps their order', async () => {
  const pace = createThrottle(15, new AbortController().signal);
  const startedAt = performance.now();
  const order: number[] = [];
  await Promise.all([1, 2, 3].map((caller) => pace.acquire().then(() => order.push(caller))));
  expect(order).toEqual([1, 2, 3]);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(30);
});

it('a pause delays callers that are already queued', async () => {
  // Longer than this process may wait for a core before it asks for the pause.
  const pace = createThrottle(200, new AbortController().signal);
  const startedAt = performance.now();
  await pace.acquire();
  const second = pace.acquire();
  pace.pause(300);
  await second;
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(300);
});

it('a shorter pause does not shorten a longer one', async () => {
  const pace = createThrottle(60, new AbortController().signal);
  const startedAt = performance.now();
  await pace.acquire();
  pace.pause(1);
  await pace.acquire();
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(60);
});
