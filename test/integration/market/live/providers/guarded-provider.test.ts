import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import type { Provider } from '../../../../../src/market/live/provider.ts';
import { answerInSequence, answerOk, answerWithStatus, createGuardedProviders } from './guarded-providers.ts';

const REQUEST = { path: '/x' };
const changedShape = new OracleError('FEED_INVALID', 'Kraken: price is missing', { field: 'price' });

const failures = async (provider: Provider, count: number) => {
  for (let call = 0; call < count; call += 1) await provider.request(REQUEST).catch(() => {});
};

/** The time of day stands still, and goes on when the test says so; timers run. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 5) }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe('circuit breaker', () => {
  it('opens after five consecutive failures and sends no request', async () => {
    const { host, kraken } = await createGuardedProviders(answerWithStatus(404));
    await failures(kraken, 4);
    expect(kraken.health().circuit).toBe('closed');
    await failures(kraken, 1);
    expect(kraken.health().circuit).toBe('open');
    await expect(kraken.request(REQUEST)).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: 'Kraken is suspended until 2026-01-05T00:01:00.000Z after repeated failures; the last: Kraken: /x answered 404',
    });
    expect(host.requests('kraken')).toHaveLength(5);
    expect(kraken.health()).toMatchObject({ calls: 5, failures: 5, lastFailureAtMs: Date.now() });
  });

  it('stays closed when a call succeeds in between', async () => {
    const { kraken } = await createGuardedProviders(
      answerInSequence(...Array(4).fill(answerWithStatus(404)), answerOk, answerWithStatus(404)),
    );
    await failures(kraken, 9);
    expect(kraken.health()).toMatchObject({ circuit: 'closed', failures: 8 });
  });

  it('half-opens after a minute for one attempt and opens again on failure', async () => {
    const { host, kraken } = await createGuardedProviders(answerWithStatus(500));
    await failures(kraken, 5);
    pass(59_999);
    await failures(kraken, 1);
    expect(host.requests('kraken')).toHaveLength(15);
    pass(1);
    await expect(kraken.request(REQUEST)).rejects.toThrow('/x answered 500');
    expect(host.requests('kraken')).toHaveLength(16);
    await expect(kraken.request(REQUEST)).rejects.toThrow('is suspended until 2026-01-05T00:02:00.000Z');
  });

  it('queues calls behind the trial call and closes when it succeeds', async () => {
    const { host, kraken } = await createGuardedProviders(answerInSequence(...Array(5).fill(answerWithStatus(404)), answerOk));
    await failures(kraken, 5);
    pass(60_000);
    host.fault('kraken', 'slow');
    const calls = [kraken.request(REQUEST), kraken.request(REQUEST), kraken.request(REQUEST)];
    await vi.waitFor(() => expect(host.requests('kraken')).toHaveLength(6));
    expect(kraken.health().circuit).toBe('half-open');
    host.heal('kraken');
    await Promise.all(calls);
    expect(host.requests('kraken')).toHaveLength(8);
    expect(kraken.health()).toMatchObject({ circuit: 'closed', lastError: null, lastOkAtMs: Date.now() });
  });

  it('rejects calls that were queued when it opened', async () => {
    const { kraken } = await createGuardedProviders(answerOk, { minIntervalMs: 20 });
    const run = vi.fn().mockRejectedValue(changedShape);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => kraken.call('candles', run)));
    expect(run).toHaveBeenCalledTimes(5);
    const refusal = expect.objectContaining({ message: expect.stringContaining('Kraken is suspended until') });
    expect(results.slice(5).map((result) => result.status === 'rejected' && result.reason)).toEqual([refusal, refusal, refusal]);
    expect(kraken.health()).toMatchObject({ calls: 5, failures: 5 });
  });

  it('does not affect another provider', async () => {
    const { host, kraken, fred } = await createGuardedProviders(answerOk);
    host.fault('kraken', 'unavailable-for-legal-reasons');
    await failures(kraken, 5);
    expect(kraken.health().circuit).toBe('open');
    await fred.request(REQUEST);
    expect(fred.health()).toMatchObject({ circuit: 'closed', calls: 1, failures: 0 });
  });
});

describe('Retry-After', () => {
  it.each([
    ['by the next attempt', 3, 2],
    ['by the next call', 1, 1],
  ])('delays %s when short', async (_, attempts, requestsOfFirst) => {
    const { host, kraken } = await createGuardedProviders(answerInSequence(answerWithStatus(429, { 'retry-after': '1' }), answerOk), {
      attempts,
    });
    const startedAt = performance.now();
    await failures(kraken, 1);
    expect(host.requests('kraken')).toHaveLength(requestsOfFirst);
    await kraken.request(REQUEST);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
  });

  it.each([
    ['90', '2026-01-05T00:01:30.000Z', 90_000],
    ['Mon, 05 Jan 2026 00:00:45 GMT', '2026-01-05T00:00:45.000Z', 45_000],
  ])('of %s opens the circuit for its duration', async (retryAfter, until, waitMs) => {
    const { host, kraken, lines } = await createGuardedProviders(
      answerInSequence(answerWithStatus(503, { 'retry-after': retryAfter }), answerOk),
    );
    await expect(kraken.request(REQUEST)).rejects.toThrow('Kraken: /x answered 503');
    pass(waitMs - 1);
    await expect(kraken.request(REQUEST)).rejects.toThrow(`is suspended until ${until}`);
    expect(host.requests('kraken')).toHaveLength(1);
    pass(1);
    await kraken.request(REQUEST);
    expect(kraken.health().circuit).toBe('closed');
    expect(lines.map(({ msg }) => msg)).toEqual(['provider failing', 'provider circuit opened', 'provider recovered']);
  });
});

describe('call', () => {
  it('records a parsing error as a failure without a retry', async () => {
    const { kraken } = await createGuardedProviders(answerOk);
    const run = vi.fn(async () => {
      await kraken.request(REQUEST);
      throw changedShape;
    });
    await expect(kraken.call('candles', run)).rejects.toBe(changedShape);
    expect(run).toHaveBeenCalledTimes(1);
    expect(kraken.health()).toMatchObject({ calls: 1, failures: 1, lastError: 'Kraken: price is missing' });
  });

  it('does not retry other errors and keeps their cause', async () => {
    const { kraken } = await createGuardedProviders(answerOk);
    const cause = new TypeError('undefined is no function');
    const run = vi.fn().mockRejectedValue(cause);
    await expect(kraken.call('candles', run)).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE', cause });
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('times out and aborts the operation', async () => {
    const { kraken } = await createGuardedProviders(answerOk, { attemptTimeoutMs: 20, attempts: 1 });
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    const run = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => resolve());
      return new Promise<never>(() => {});
    };
    await expect(kraken.call('candles', run)).rejects.toThrow('Kraken: candles timed out');
    await aborted;
  });

  it('shares its attempt with nested requests, also when half-open', async () => {
    const { host, kraken } = await createGuardedProviders(answerInSequence(answerWithStatus(500), answerOk));
    const both = async () => [(await kraken.request(REQUEST)).body, (await kraken.request(REQUEST)).body];
    expect(await kraken.call('two pages', both)).toEqual([{ price: 1 }, { price: 1 }]);
    expect(host.requests('kraken')).toHaveLength(3);
    expect(kraken.health()).toMatchObject({ calls: 1, failures: 0 });
    for (let call = 0; call < 5; call += 1) await kraken.call('x', () => Promise.reject(changedShape)).catch(() => {});
    pass(60_000);
    expect(await kraken.call('two pages', both)).toEqual([{ price: 1 }, { price: 1 }]);
    expect(kraken.health().circuit).toBe('closed');
  });
});

describe('throttle', () => {
  it('spaces concurrent, repeated and nested attempts', async () => {
    const minIntervalMs = 40;
    const arrivals: number[] = [];
    const first = answerInSequence(answerWithStatus(500), answerOk);
    const { kraken } = await createGuardedProviders(
      (request) => {
        arrivals.push(performance.now());
        return first(request);
      },
      { minIntervalMs },
    );
    const pages = async () => [await kraken.request(REQUEST), await kraken.request(REQUEST)];
    await Promise.all([kraken.request(REQUEST), kraken.request(REQUEST), kraken.call('pages', pages)]);
    expect(arrivals).toHaveLength(5);
    // From the first to the last only: each arrival is late by its own way through the loop.
    expect(arrivals[4] - arrivals[0]).toBeGreaterThanOrEqual(4 * minIntervalMs - 15);
  });

  it('uses the slot of a call for its first request', async () => {
    const { kraken } = await createGuardedProviders(answerOk, { minIntervalMs: 60_000 });
    await kraken.call('page', () => kraken.request(REQUEST));
  });
});

describe('the log', () => {
  it('logs one broken endpoint once while others succeed', async () => {
    let broken = true;
    const { kraken, lines } = await createGuardedProviders((request) =>
      broken && request.path === '/broken' ? answerWithStatus(404)(request) : answerOk(request),
    );
    for (let round = 0; round < 20; round++) {
      await expect(kraken.request({ path: '/broken' })).rejects.toThrow('answered 404');
      await kraken.request(REQUEST);
    }
    expect(lines.map(({ msg }) => msg)).toEqual(['provider failing']);
    expect(kraken.health()).toMatchObject({ circuit: 'closed', failures: 20, lastError: 'Kraken: /broken answered 404' });
    broken = false;
    await kraken.request({ path: '/broken' });
    expect(lines.map(({ msg }) => msg)).toEqual(['provider failing', 'provider recovered']);
    expect(kraken.health().lastError).toBeNull();
  });

  it('has one line per state change', async () => {
    const { host, kraken, lines } = await createGuardedProviders(answerOk);
    await failures(kraken, 2);
    host.fault('kraken', 'unavailable-for-legal-reasons');
    await failures(kraken, 2);
    host.fault('kraken', 'truncated');
    pass(1_000);
    await failures(kraken, 10);
    pass(60_000);
    await failures(kraken, 3);
    host.heal('kraken');
    pass(60_000);
    await failures(kraken, 2);
    const provider = 'kraken';
    expect(lines).toEqual([
      expect.objectContaining({ level: 40, provider, error: 'Kraken: /x answered 451', msg: 'provider failing' }),
      expect.objectContaining({ level: 40, provider, failedCalls: 5, until: '2026-01-05T00:01:01.000Z', msg: 'provider circuit opened' }),
      expect.objectContaining({ level: 30, provider, failedCalls: 6, downForMs: 121_000, msg: 'provider recovered' }),
    ]);
  });
});

describe('a problem of valid responses', () => {
  const problem = new OracleError('FEED_INVALID', 'Kraken: the range of 2026-01-04 is missing');

  it('is in health and log until it ends, without an effect on the circuit', async () => {
    const { kraken, lines } = await createGuardedProviders(answerOk);
    await kraken.request(REQUEST);
    for (let round = 0; round < 20; round++) {
      kraken.recordProblem('daily ranges', problem);
      await kraken.request(REQUEST);
    }
    expect(kraken.health()).toMatchObject({ circuit: 'closed', failures: 0, lastError: problem.message, lastFailureAtMs: Date.now() });
    kraken.recordProblem('daily ranges', null);
    expect(kraken.health().lastError).toBeNull();
    expect(lines.map(({ msg }) => msg)).toEqual(['provider failing', 'provider recovered']);
  });

  it('that never began ends without a log line', async () => {
    const { kraken, lines } = await createGuardedProviders(answerOk);
    kraken.recordProblem('daily ranges', null);
    expect([lines, kraken.health().lastFailureAtMs]).toEqual([[], null]);
  });
});

describe('abort signal', () => {
  const stopping = new OracleError('SHUTTING_DOWN', 'The service is stopping: test');

  it('aborts a pending call and rejects later ones', async () => {
    const controller = new AbortController();
    const { host, kraken, lines } = await createGuardedProviders(answerOk, {}, controller.signal);
    host.fault('kraken', 'slow');
    const call = kraken.request(REQUEST);
    await vi.waitFor(() => expect(host.requests('kraken')).toHaveLength(1));
    controller.abort(stopping);
    await expect(call).rejects.toBe(stopping);
    await expect(kraken.request(REQUEST)).rejects.toBe(stopping);
    expect(host.requests('kraken')).toHaveLength(1);
    expect(kraken.health()).toMatchObject({ calls: 0, failures: 0 });
    expect(lines).toEqual([]);
  });

  it.each([
    ['stands in line', { minIntervalMs: 3_600_000 }],
    ['waits for its next attempt', { backoffMinMs: 3_600_000, backoffMaxMs: 3_600_000 }],
  ])('aborts a call that %s', async (_, timing) => {
    const controller = new AbortController();
    const { host, kraken } = await createGuardedProviders(answerWithStatus(500), timing, controller.signal);
    const calls = Promise.allSettled([kraken.request(REQUEST), kraken.request(REQUEST)]);
    await vi.waitFor(() => expect(host.requests('kraken').length).toBeGreaterThan(0));
    controller.abort(stopping);
    for (const result of await calls) expect(result).toEqual({ status: 'rejected', reason: stopping });
  });

  it('rejects an operation that ignores the signal', async () => {
    const controller = new AbortController();
    const { kraken } = await createGuardedProviders(answerOk, {}, controller.signal);
    const call = kraken.call('candles', () => {
      controller.abort(stopping);
      return new Promise<never>(() => {});
    });
    await expect(call).rejects.toBe(stopping);
  });
});

describe('rows left out', () => {
  it('are counted with the reason of the last, once, and only of a call that succeeds', async () => {
    const { kraken } = await createGuardedProviders(answerInSequence(answerWithStatus(500), answerOk, answerWithStatus(404), answerOk));
    const readRow = () =>
      kraken.call('rows', async () => {
        kraken.leaveOut(changedShape);
        await kraken.request(REQUEST);
      });
    await readRow();
    const counted = { rowsLeftOut: 1, lastLeftOut: 'Kraken: price is missing', lastLeftOutAtMs: Date.now() };
    expect(kraken.health()).toMatchObject({ ...counted, calls: 1, failures: 0, lastError: null });
    pass(1_000);
    await expect(readRow()).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
    await kraken.request(REQUEST);
    expect(kraken.health()).toMatchObject(counted);
  });
});
