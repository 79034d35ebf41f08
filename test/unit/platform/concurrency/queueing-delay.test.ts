import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchQueueingDelay } from '../../../../src/platform/load-shedder.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch(ping: () => Promise<unknown>) {
  const delays: number[] = [];
  const stopping = new AbortController();
  watchQueueingDelay({ ping, observe: (delayMs) => delays.push(Math.round(delayMs)), signal: stopping.signal });
  return { delays, stop: () => stopping.abort() };
}

it('is the time that the database takes to answer', async () => {
  const { delays } = watch(() => new Promise((resolve) => setTimeout(resolve, 30)));
  await vi.advanceTimersByTimeAsync(300);
  expect(delays).toEqual([0, 30, 30]);
});

it('grows while the database does not answer', async () => {
  const { delays } = watch(() => new Promise(() => undefined));
  await vi.advanceTimersByTimeAsync(500);
  expect(delays).toEqual([0, 100, 200, 300, 400]);
});

it('is none where the database rejects at once', async () => {
  const { delays } = watch(() => Promise.reject(new Error('closed')));
  await vi.advanceTimersByTimeAsync(300);
  expect(delays).toEqual([0, 0, 0]);
});

it('is the time that the event loop is blocked', async () => {
  const clock = { ms: 0 };
  const delays: number[] = [];
  const { signal } = new AbortController();
  watchQueueingDelay({ ping: async () => undefined, observe: (delayMs) => delays.push(delayMs), signal, now: () => clock.ms });
  clock.ms = 250;
  await vi.advanceTimersByTimeAsync(100);
  expect(delays).toEqual([150]);
});

it('is no longer measured once the process stops', async () => {
  const { delays, stop } = watch(async () => undefined);
  stop();
  await vi.advanceTimersByTimeAsync(300);
  expect(delays).toEqual([]);
});
