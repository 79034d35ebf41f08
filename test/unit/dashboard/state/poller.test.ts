import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSession } from '../../../../src/page/browser/api.ts';
import { createHorizonSelection, createPoller, createStore } from '../../../../src/page/browser/state.ts';
import { type Answering, emptyStorage, refusal, stubPage } from '../page-globals.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const STATS = 'api/svc/onchain-oracle/stats?horizons=all';
const SCORECARD = 'api/svc/scorecard?horizon=7&limit=40';
const INFO = 'api/svc/info';

/** A page that stays open, with a service that answers every request unless overridden. */
async function openPage(answers: Record<string, Answering> = {}) {
  const health = { status: 'ok', setup: null, uptimeSeconds: 100 };
  const usual: Record<string, Answering> = { health: () => health, [STATS]: () => ({ totalAttestations: 1 }) };
  const page = stubPage(
    (path, authorization) => ({ ...usual, ...answers })[path]?.(path, authorization) ?? { horizon: '7d', predictions: [{}] },
  );
  const store = createStore({ session: createSession(emptyStorage()), horizon: createHorizonSelection() });
  const pulse = createPoller(store);
  await pulse.start();
  page.asked.length = 0;
  const asked = (path: string) => page.asked.filter((one) => one === path).length;
  return { page, store, pulse, health, asked, pass: (seconds: number) => vi.advanceTimersByTimeAsync(1_000 * seconds) };
}

describe('a page opened while the service starts', () => {
  it('requests only health until more is served, then everything', async () => {
    const health: Record<string, unknown> = { status: 'starting', setup: { what: 'starting', done: null, total: null } };
    const { pass, page } = await openPage({ health: () => health });
    await pass(20);
    expect(new Set(page.asked)).toEqual(new Set(['health']));
    page.asked.length = 0;
    Object.assign(health, { status: 'ok', uptimeSeconds: 20, setup: { what: 'replaying days of history', done: 3, total: 120 } });
    await pass(1);
    expect(page.asked).toEqual(expect.arrayContaining([INFO, STATS, SCORECARD]));
  });
});

describe('a page that came with answers', () => {
  const PRICE = 'api/btc-price';

  /** Opens the page with the price, with `seconds` between document and first poll. */
  async function openWithPrice(seconds: number) {
    const page = stubPage((path) =>
      path === 'health' ? { status: 'ok', setup: null, uptimeSeconds: 100 } : { horizon: '7d', predictions: [{}] },
    );
    const store = createStore({ session: createSession(emptyStorage()), horizon: createHorizonSelection() });
    store.prime('price', { price: 80_000 } as never);
    await vi.advanceTimersByTimeAsync(1_000 * seconds);
    await createPoller(store).start();
    return { store, asked: () => page.asked.filter((path) => path === PRICE).length };
  }

  it('requests them again after a minute, not at once', async () => {
    const { store, asked } = await openWithPrice(0);
    expect([asked(), store.listPrimed(), store.get('price').answer]).toEqual([0, ['price'], { price: 80_000 }]);
    await vi.advanceTimersByTimeAsync(80_000);
    expect([asked(), store.listPrimed()]).toEqual([1, []]);
  });

  it('requests them at once where the page is older, such as after it was hidden', async () => {
    expect((await openWithPrice(90)).asked()).toBe(1);
  });
});

describe('a page that stays open', () => {
  it('retries a failed resource after Retry-After until it succeeds', async () => {
    let refused = true;
    const { pass, asked, store } = await openPage({
      [SCORECARD]: () => (refused ? refusal(503, 'OVERLOADED', 90) : { horizon: '7d', predictions: [{}] }),
    });
    expect(store.get('signal').problem?.code).toBe('OVERLOADED');
    refused = false;
    await pass(80);
    expect(asked(SCORECARD)).toBe(0);
    await pass(60);
    expect(asked(SCORECARD)).toBe(1);
    expect([store.get('scorecard').problem, store.get('signal').problem]).toEqual([null, null]);
    await pass(600);
    expect(asked(SCORECARD)).toBe(1);
  });

  it('refreshes feeds every few minutes, self-tests every hour, and the record when it has changed', async () => {
    let totalAttestations = 1;
    const { pass, asked } = await openPage({ [STATS]: () => ({ totalAttestations }) });
    await pass(3_700);
    expect(asked('api/cache/stats')).toBeGreaterThanOrEqual(9);
    expect(asked('api/cache/stats')).toBeLessThanOrEqual(12);
    expect(asked('api/self-test/status')).toBe(1);
    expect(asked(STATS)).toBeGreaterThanOrEqual(50);
    expect(asked(SCORECARD)).toBe(0);
    totalAttestations = 2;
    await pass(75);
    expect(asked(SCORECARD)).toBe(1);
  });

  it('keeps polling after an error', async () => {
    const { pass, asked, pulse, page } = await openPage();
    pulse.onLook(() => {
      throw new Error('cannot be drawn');
    });
    await pass(200);
    expect(asked('health')).toBeGreaterThan(10);
    expect(asked(STATS)).toBeGreaterThan(1);
    expect(page.reported[0]).toEqual(new Error('cannot be drawn'));
  });

  it('polls again after an invalid health response', async () => {
    let health: unknown = 'null';
    const { pass, asked } = await openPage({ health: () => health });
    await pass(10);
    health = { status: 'ok', setup: null, uptimeSeconds: 1 };
    await pass(10);
    expect(asked(INFO)).toBe(1);
  });

  it.each([
    ['was seen to be away', [refusal(503, 'STEP_WAITING'), { status: 'ok', setup: null, uptimeSeconds: 200 }]],
    ['is another process', [{ status: 'ok', setup: null, uptimeSeconds: 3 }]],
  ])('refreshes everything when shown again after the service %s', async (_, answers) => {
    let health: unknown = { status: 'ok', setup: null, uptimeSeconds: 100 };
    const { page, pass, asked } = await openPage({ health: () => health });
    page.hidden = true;
    for (const answer of answers) {
      health = answer;
      await pass(20);
    }
    expect(asked(INFO)).toBe(0);
    page.hidden = false;
    page.seen();
    await pass(1);
    expect([INFO, SCORECARD, 'api/cache/stats'].map(asked)).toEqual([1, 1, 1]);
  });
});
