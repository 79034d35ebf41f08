import { describe, expect, it } from 'vitest';
import { ownService } from '../../support/service/own-service.ts';
import { spawnNode } from '../../support/service/service.ts';

const DAYS = 12;
/** Days in the record of a first start: those replayed, and that of the start where it or the test came after its 21:35 UTC. */
const RECORDED_DAYS = [DAYS, DAYS + 1];
const { environment, start, get } = ownService(DAYS);

/** What a service says of its own start. */
async function lookAt(url: string) {
  const page = await fetch(url, { headers: { Accept: 'text/html' } });
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  const get = async (path: string): Promise<any> => (await fetch(url + path)).json();
  const [health, ready, status] = await Promise.all([get('health'), get('ready'), get('api/status')]);
  return { page, health, ready, status };
}

describe('a first start', () => {
  it('that is killed in mid-replay is continued by the next one, with nothing twice', async () => {
    const first = spawnNode(['bin/start.mjs'], environment({ PORT: '0', FEEDS: 'simulated' }));
    const seen = Promise.withResolvers<Awaited<ReturnType<typeof lookAt>>>();
    let output = '';
    first.child.stderr!.on('data', async (text: string) => {
      output += text;
      if (!/ 5\/12 /.test(text)) return;
      await lookAt(/^Page +(http:\S+)/m.exec(output)![1]).then(seen.resolve, seen.reject);
      first.child.kill('SIGKILL');
    });
    const { page, health, ready, status } = await seen.promise;
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL' });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(health).toMatchObject({ status: 'ok', setup: { what: 'replaying days of history', done: expect.any(Number), total: DAYS } });
    expect(health.setup.done).toBeGreaterThan(4);
    const left = { name: 'setup', ok: false, detail: expect.stringMatching(/^replaying days of history: \d+ of 12$/) };
    expect(ready).toMatchObject({ ready: false, checks: expect.arrayContaining([left]) });
    expect(status).toMatchObject({ ready: false });
    await start();
    const { stats, predictions } = await get('/api/svc/scorecard?horizon=1');
    const days = stats.total;
    expect(RECORDED_DAYS).toContain(days);
    expect(predictions.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: days }, (_, index) => days - index),
    );
    // From 21:35 to 21:38 the forecasts of today are not on chain yet.
    const attested = predictions.filter(({ attestationUid }: { attestationUid: string | null }) => attestationUid !== null).length;
    expect(attested).toBeGreaterThanOrEqual(DAYS);
    expect((await get('/api/svc/onchain-oracle/stats?horizons=all')).predictions).toBe(4 * attested);
    const { data } = await get('/api/svc/onchain-oracle/history?horizons=all&limit=100');
    for (const { uid } of data) expect((await get(`/api/svc/onchain-oracle/verify/${uid}`)).verified).toBe(true);
  });
});
