import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ForecastRecord } from '../../../src/record/forecasts.ts';
import { RECORD_LAG_SECONDS } from '../../../src/record/projection.ts';
import { REACHED } from '../../support/clock/trusted-time.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 3;
const LAG_MS = RECORD_LAG_SECONDS * 1_000;
/** Between a look that fails and the flag, on a busy machine. */
const SLACK_MS = 1_500;

let database: FaultedDatabase;
let service: TestService;
let served: Served;
/** Another process, which dies after each of its writes. */
let other: ForecastRecord;
const stop = new AbortController();
let following: Promise<void>;

beforeAll(async () => {
  database = await faultedDatabase();
  service = await testService(DAYS, { MONGODB_URI: database.proxy.uri });
  for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day, []);
  const { db, config } = service;
  other = new ForecastRecord({ db: database.direct.db, saltSecret: service.http.saltSecret, horizons: HORIZONS });
  expect(db.databaseName).toBe(database.direct.db.databaseName);
  const { known } = service.pipeline.record;
  const log = createLog({ level: 'silent', secrets: [] });
  following = known.follow({ log, signal: stop.signal, onChanged: async () => undefined });
  served = await serve({ http: service.http, appOptions: { ...service.appOptions, limits: undefined, isStale: () => known.isStale } });
  expect(config.REPLAY_DAYS).toBe(DAYS);
});
afterAll(async () => {
  stop.abort();
  await following;
  await served?.close();
  await service?.stop();
  await database?.drop();
});

async function ask() {
  const response = await fetch(`${served.url}/api/svc/scorecard?limit=1`);
  const { predictions } = (await response.json()) as { predictions: { btcAtSignal: number }[] };
  return { status: response.status, opening: predictions[0]!.btcAtSignal, isStale: response.headers.get('x-stale') === 'true' };
}

async function readFailing(): Promise<string[]> {
  const { checks } = (await (await fetch(`${served.url}/ready`)).json()) as { checks: { name: string; ok: boolean }[] };
  return checks.flatMap(({ name, ok }) => (ok ? [] : [name]));
}

it('has a write of a process that was killed before it published it, within the lag', async () => {
  await other.recordOpeningClose(today() - 1, 4_200_000, REACHED);
  const writtenAt = performance.now();
  while ((await ask()).opening !== 42_000) expect(performance.now() - writtenAt).toBeLessThan(LAG_MS);
  expect((await ask()).isStale).toBe(false);
});

it.each([
  ['has lost the database', () => database.proxy.plan(() => 'cut-before'), () => database.proxy.plan(null)],
  ['gets no reply of the database', () => database.proxy.freeze(), () => database.proxy.thaw()],
])('gives no answer older than the lag without saying so, and is not ready, while it alone %s', async (_, begin, end) => {
  const day = today() - 1;
  const { opening: before } = await ask();
  begin();
  await database.direct.db.collection('forecasts').updateMany({ day }, { $set: { btcAtSignalCents: null } });
  await other.recordOpeningClose(day, 100 * before + 100_000, REACHED);
  const writtenAt = performance.now();
  const seen = { plain: 0, flagged: 0 };
  while (performance.now() - writtenAt < LAG_MS + 4_000) {
    const askedAt = performance.now();
    const { status, opening, isStale } = await ask();
    expect([status, opening]).toEqual([200, before]);
    seen[isStale ? 'flagged' : 'plain'] += 1;
    if (!isStale) expect(askedAt - writtenAt).toBeLessThan(LAG_MS + SLACK_MS);
    await delay(100);
  }
  expect(seen).toEqual({ plain: expect.toSatisfy((count: number) => count > 0), flagged: expect.toSatisfy((count: number) => count > 0) });
  expect(await readFailing()).toContain('record');
  end();
  const backAt = performance.now();
  for (let last = await ask(); last.opening === before || last.isStale; last = await ask()) {
    expect(performance.now() - backAt).toBeLessThan(2 * LAG_MS);
    await delay(50);
  }
  expect(await readFailing()).not.toContain('record');
});
