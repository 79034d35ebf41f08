import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSession } from '../../../../src/page/browser/api.ts';
import { createHorizonSelection, createStore } from '../../../../src/page/browser/state.ts';
import { type Answering, emptyStorage, refusal, stubPage } from '../page-globals.ts';

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
    const { store } = storeOf((path) => (path.includes('scorecard') || path.includes('wagers') ? refusal(500, 'INTERNAL') : record(path)));
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
    const { store, session } = storeOf((path, authorization) => (authorization === null ? record(path) : refusal(401, 'UNAUTHENTICATED')));
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
    store.needWholeRecord();
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
