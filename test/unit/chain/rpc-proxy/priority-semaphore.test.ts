import { describe, expect, it } from 'vitest';
import { createPrioritySemaphore } from '../../../../src/chain/rpc-proxy.ts';

const never = new AbortController().signal;

/** Work that goes on until it is ended. */
function work(log: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const run = () => {
    log.push(name);
    return promise;
  };
  return { run, end: resolve, fail: reject };
}

describe('priority semaphore', () => {
  it('runs up to the limit concurrently and the rest in order, also after a failure', async () => {
    const runQueued = createPrioritySemaphore({ atOnce: 2, waiting: 10 });
    const begun: string[] = [];
    const works = ['a', 'b', 'c', 'd'].map((name) => work(begun, name));
    const ended = works.map(({ run }) => runQueued(run, never).catch(() => 'failed'));
    expect(begun).toEqual(['a', 'b']);
    works[1].fail(new Error('no'));
    expect(await ended[1]).toBe('failed');
    expect(begun).toEqual(['a', 'b', 'c']);
    works[0].end();
    await ended[0];
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    works[2].end();
    works[3].end();
    await Promise.all(ended);
    await runQueued(async () => begun.push('e'), never);
    expect(begun).toHaveLength(5);
  });

  it('rejects immediately when the queue is full', async () => {
    const runQueued = createPrioritySemaphore({ atOnce: 1, waiting: 1 });
    const first = work([], 'a');
    const [one, two] = [runQueued(first.run, never), runQueued(async () => 'done', never)];
    await expect(runQueued(async () => 'done', never)).rejects.toThrow('too many wait');
    first.end();
    await one;
    expect(await two).toBe('done');
  });

  it('removes aborted work from the queue without affecting other work', async () => {
    const runQueued = createPrioritySemaphore({ atOnce: 1, waiting: 5 });
    const begun: string[] = [];
    const first = work(begun, 'a');
    const impatient = new AbortController();
    const one = runQueued(first.run, never);
    const two = runQueued(async () => begun.push('b'), impatient.signal);
    const three = runQueued(async () => begun.push('c'), never);
    impatient.abort(new Error('enough'));
    await expect(two).rejects.toThrow('enough');
    first.end();
    await Promise.all([one, three]);
    expect(begun).toEqual(['a', 'c']);
    await expect(runQueued(async () => 'done', impatient.signal)).rejects.toThrow('enough');
    expect(await runQueued(async () => 'done', never)).toBe('done');
  });
});
