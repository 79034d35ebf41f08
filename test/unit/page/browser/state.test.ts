import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSession } from '../../../../src/page/browser/api.ts';
import { createHorizonSelection, createPoller, createStore } from '../../../../src/page/browser/state.ts';
import { type Answering, emptyStorage, refusal, stubPage } from './page-globals.ts';

describe('poller', () => {
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

    it('refreshes feeds every few minutes, and the record when it has changed', async () => {
      let totalAttestations = 1;
      const { pass, asked } = await openPage({ [STATS]: () => ({ totalAttestations }) });
      await pass(3_700);
      expect(asked('api/cache/stats')).toBeGreaterThanOrEqual(9);
      expect(asked('api/cache/stats')).toBeLessThanOrEqual(12);
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
});

describe('store', () => {
  afterEach(() => vi.unstubAllGlobals());

  const LATER = new Date(Date.now() + 3_600_000).toISOString();
  const readerOf = (token: string) => ({ token, wallet: '0x1', tier: 'basic', expiresAt: LATER });

  function storeOf(answering: Answering) {
    const page = stubPage(answering);
    const session = createSession(emptyStorage());
    const horizon = createHorizonSelection();
    return { page, session, horizon, store: createStore({ session, horizon }) };
  }

  const horizonOf = (path: string) => `${/horizon=(\d)/.exec(path)?.[1]}d`;
  const record = (path: string) => ({ horizon: horizonOf(path), predictions: [{}] });

  describe('store', () => {
    it('drops the answer of a request in flight when the resource is forgotten', async () => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const { store } = storeOf(() => promise);
      const pending = store.refreshAll(['scorecard']);
      store.forget('scorecard');
      resolve(record('horizon=7'));
      await pending;
      expect(store.get('scorecard').answer).toBeNull();
    });

    it('refreshes only what is shown, and the rest when it is shown', async () => {
      const { store, page } = storeOf(record);
      await store.show(['scorecard']);
      await store.refreshAll(['scorecard', 'wagers']);
      expect(page.asked.filter((path) => path.includes('wagers'))).toEqual([]);
      await store.show(['scorecard', 'wagers']);
      await store.show(['scorecard', 'wagers']);
      expect(page.asked.filter((path) => path.includes('wagers'))).toHaveLength(1);
      expect(page.asked.filter((path) => path.includes('scorecard'))).toHaveLength(1);
    });

    it('counts failing requests, without what is only not there yet or was never requested', async () => {
      const { store } = storeOf((path) =>
        path.includes('scorecard') || path.includes('wagers') ? refusal(500, 'INTERNAL') : record(path),
      );
      await store.refreshAll(['scorecard', 'signal', 'wagers', 'info']);
      expect(store.countFailing()).toEqual({ failing: 2, of: 3 });
    });

    it('waits for an answer that is on its way, and rejects with the problem of a failed request', async () => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const { store } = storeOf((path) => (path.includes('wagers') ? refusal(500, 'INTERNAL') : promise));
      const [answered, failed] = [store.whenAnswered('info'), store.whenAnswered('wagers')];
      const refused = expect(failed).rejects.toMatchObject({ code: 'INTERNAL' });
      const pending = store.refreshAll(['info', 'wagers']);
      resolve({ version: '1' });
      await Promise.all([pending, refused]);
      expect(await answered).toEqual({ version: '1' });
      expect(await store.whenAnswered('info')).toEqual({ version: '1' });
    });

    it('rejects an answer of another horizon', async () => {
      const { store, horizon } = storeOf(() => record('horizon=7'));
      await store.refreshAll(['scorecard']);
      expect(store.get('scorecard').problem).toBeNull();
      horizon.set(2);
      store.forget('scorecard');
      await store.refreshAll(['scorecard', 'signal']);
      expect(store.get('scorecard')).toMatchObject({ answer: null, problem: { code: 'UNEXPECTED' } });
    });

    it('explains why a call cannot be requested: failed or empty record', async () => {
      let scorecard: unknown = refusal(503, 'OVERLOADED', 10);
      const { store, page } = storeOf(() => scorecard);
      await store.refreshAll(['signal', 'scorecard']);
      expect(store.get('signal').problem?.code).toBe('OVERLOADED');
      scorecard = { horizon: '7d', predictions: [] };
      await store.refreshAll(['signal', 'scorecard']);
      expect(store.get('signal').problem?.code).toBe('STEP_WAITING');
      expect(page.asked.filter((path) => path.includes('signal'))).toEqual([]);
    });

    it('records the session of the request, so that an anonymous answer says nothing about a wallet', async () => {
      const { store, session } = storeOf(record);
      await store.refreshAll(['scorecard']);
      expect(store.get('scorecard').requestedBy).toBeNull();
      session.set(readerOf('one'));
      await store.refreshAll(['scorecard']);
      expect(store.get('scorecard').requestedBy?.token).toBe('one');
    });

    it('ends the session of a rejected token and retries anonymously', async () => {
      const { store, session } = storeOf((path, authorization) =>
        authorization === null ? record(path) : refusal(401, 'UNAUTHENTICATED'),
      );
      session.set(readerOf('one'));
      await store.refreshAll(['scorecard']);
      expect(session.current).toBeNull();
      expect(store.get('scorecard')).toMatchObject({ problem: null, requestedBy: null });
    });

    it('ends the session of a token that a public response calls invalid', async () => {
      const headers = { 'www-authenticate': 'Bearer realm="oracle", error="invalid_token"' };
      const { store, session, page } = storeOf((path, authorization) =>
        Response.json(record(path), authorization === null ? {} : { headers }),
      );
      session.set(readerOf('one'));
      await store.refreshAll(['scorecard']);
      expect([session.current, page.asked.length]).toEqual([null, 2]);
      expect(store.get('scorecard')).toMatchObject({ problem: null, requestedBy: null });
    });

    it('does not end a session when the token of the previous one is rejected', async () => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const { store, session } = storeOf((path, authorization) => (authorization === 'Bearer one' ? promise : record(path)));
      session.set(readerOf('one'));
      const pending = store.refreshAll(['scorecard']);
      session.set(readerOf('two'));
      resolve(refusal(401, 'UNAUTHENTICATED'));
      await pending;
      expect(session.current?.token).toBe('two');
      expect(store.get('scorecard')).toMatchObject({ problem: null, requestedBy: { token: 'two' } });
    });

    it('reads the newest rows of the scorecard, and all of its pages once they are needed', async () => {
      const newest = { horizon: '7d', count: 1, predictions: [{ sequence: 3 }], nextCursor: '3' };
      const pages: Record<string, object> = {
        'api/svc/scorecard?horizon=7&limit=40': newest,
        'api/svc/scorecard?horizon=7&limit=1000': {
          horizon: '7d',
          count: 2,
          predictions: [{ sequence: 3 }, { sequence: 2 }],
          nextCursor: '2',
        },
        'api/svc/scorecard?horizon=7&limit=1000&before=2': { horizon: '7d', count: 1, predictions: [{ sequence: 1 }], nextCursor: null },
      };
      const { store } = storeOf((path) => pages[path] ?? refusal(404, 'NOT_FOUND'));
      await store.refreshAll(['scorecard']);
      expect(store.get('scorecard').answer).toEqual(newest);
      store.needWhole();
      const predictions = [{ sequence: 3 }, { sequence: 2 }, { sequence: 1 }];
      const whole = { horizon: '7d', count: 3, predictions, nextCursor: null };
      await vi.waitFor(() => expect(store.get('scorecard').answer).toEqual(whole));
      await store.refreshAll(['scorecard']);
      expect(store.get('scorecard').answer).toEqual(whole);
    });

    it('notifies every section even when one throws', async () => {
      const { store, page } = storeOf(record);
      const answers: unknown[] = [];
      store.watch('scorecard', ({ answer }) => {
        if (answer !== null) throw new Error('cannot be drawn');
      });
      store.watch('scorecard', ({ answer }) => answers.push(answer));
      await store.refreshAll(['scorecard']);
      expect(answers).toEqual([null, { horizon: '7d', predictions: [{}] }]);
      expect(page.reported).toEqual([new Error('cannot be drawn')]);
    });

    it('handles a malformed response', async () => {
      const { store } = storeOf(() => ({ horizon: '7d' }));
      await store.refreshAll(['scorecard', 'signal']);
      expect(store.get('signal').problem?.code).toBe('UNEXPECTED');
    });
  });
});
