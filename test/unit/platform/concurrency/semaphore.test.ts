import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Semaphore } from '../../../../src/platform/concurrency/semaphore.ts';

const refused = { code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that ends when it is told to. */
function work() {
  const held = Promise.withResolvers<string>();
  const begun = vi.fn(() => held.promise);
  return { begun, end: () => held.resolve('done') };
}

describe('turns', () => {
  it('are taken so many at once, then in order of coming, and no further ones wait than may', async () => {
    const turns = new Semaphore({ maxConcurrent: 1, maxQueued: 1 });
    const [first, second, third] = [work(), work(), work()];
    const running = [turns.run(first.begun), turns.run(second.begun)];
    await expect(turns.run(third.begun)).rejects.toMatchObject(refused);
    expect([first, second, third].map(({ begun }) => begun.mock.calls.length)).toEqual([1, 0, 0]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    first.end();
    second.end();
    expect(await Promise.all(running)).toEqual(['done', 'done']);
    expect(turns.isIdle).toBe(true);
  });

  it('are waited for as long as is said; who has gone by then takes none, and nobody else waits for it', async () => {
    const turns = new Semaphore({ maxConcurrent: 1, maxQueued: 1, maxWaitMs: 1_000 });
    const [slow, gone, next] = [work(), work(), work()];
    const running = turns.run(slow.begun);
    const given = expect(turns.run(gone.begun)).rejects.toMatchObject(refused);
    await vi.advanceTimersByTimeAsync(999);
    await expect(turns.run(next.begun)).rejects.toMatchObject(refused);
    await vi.advanceTimersByTimeAsync(1);
    await given;
    const after = turns.run(next.begun);
    slow.end();
    next.end();
    expect(await Promise.all([running, after])).toEqual(['done', 'done']);
    expect(gone.begun).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(turns.isIdle).toBe(true);
  });

  it('are not idle while somebody is at work, and are when that has failed', async () => {
    const turns = new Semaphore({ maxConcurrent: 1, maxQueued: 1 });
    const failing = turns.run(() => Promise.reject(new Error('broken')));
    expect(turns.isIdle).toBe(false);
    await expect(failing).rejects.toThrow('broken');
    expect(turns.isIdle).toBe(true);
  });
});
