import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { composeAnswerState } from '../../../../../src/app/transports.ts';
import { challengeRoutes } from '../../../../../src/http/routes/challenge.ts';
import { rootRoutes } from '../../../../../src/http/routes/home.ts';
import { selfTestRoutes } from '../../../../../src/http/routes/self-tests.ts';
import { createApp, createStartingApp } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import type { InitialData } from '../../../../../src/page/first-screen.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { createStartupProgress } from '../../../../../src/platform/progress.ts';
import { call, serveApp } from '../../../../support/http/serve.ts';
import {
  distributionSecrets,
  PLANTED_SIDES,
  paidSecrets,
  plant,
  premiumSecrets,
  saltSecrets,
  secretsIn,
} from '../../../../support/record/planted-forecast.ts';
import type { TestService } from '../../../../support/service/service.ts';
import { NOW, untoldService } from '../../../../support/service/unpublished-service.ts';

let service: TestService;
beforeAll(async () => {
  service = await untoldService();
});
afterAll(async () => {
  vi.useRealTimers();
  await service?.stop();
});

/** Opens the page as a service that has rendered nothing yet. */
function openHome(changes: Partial<Services> = {}) {
  const [root] = rootRoutes({ ...service.http, ...changes }, []);
  return async () => {
    const reply = await call(root!, { accept: 'text/html' });
    const { encoded, headers } = reply as unknown as { encoded: { bytes: Buffer }; headers: Record<string, string> };
    return { html: encoded.bytes.toString(), etag: headers.ETag };
  };
}

function readInitial(html: string): InitialData {
  return JSON.parse(/<script type="application\/json" id="initial">(.*?)<\/script>/s.exec(html)![1]!) as InitialData;
}

it('has the call, the fan and the record, and the data that they are drawn from', async () => {
  const { html } = await openHome()();
  expect(html).toMatch(/Up or down: committed on chain at \d\d:\d\d UTC, revealed on \d+ \w{3}/);
  expect(html).toMatch(/data-part="tomorrow"><strong>[^<]*: (calm|usual|wild)<\/strong> <span>[^<]*likely\)<\/span> <span>[^<]*3\u00a0%/);
  expect(html).toMatch(/<polygon class="fan-band fan-90" points="0,/);
  expect(html).toMatch(/data-part="record">[^<]*(right|No outcome yet|No call yet)/);
  const { signals, range, records, price } = readInitial(html);
  expect(Object.keys(signals)).toEqual(['1d', '2d', '3d', '7d']);
  expect(signals['7d']).toMatchObject({ signal: 'GATED', direction: null, confidence: null });
  expect(range!.horizons!.map(({ horizon }) => horizon)).toEqual(['1d', '2d', '3d', '7d']);
  expect(Object.keys(records)).toEqual(['1d', '2d', '3d', '7d']);
  expect(price!.price).toBeGreaterThan(0);
});

it('has no value of an unresolved forecast, and the same bytes whatever they are', async () => {
  const salts = await saltSecrets(service);
  const pages = new Set<string>();
  for (const side of PLANTED_SIDES) {
    await plant(service, side);
    const secrets = [...paidSecrets(side), ...premiumSecrets(side), ...salts, ...(await distributionSecrets(service))];
    const { html } = await openHome()();
    expect(secretsIn(html, secrets)).toEqual([]);
    pages.add(html);
  }
  expect(pages.size).toBe(1);
});

it('would have them for a service that reveals at once', async () => {
  const viewFor: Services['viewFor'] = (caller) => ({ ...service.http.viewFor(caller), policy: 'immediate' });
  await plant(service, 'up');
  expect(secretsIn((await openHome({ viewFor })()).html, paidSecrets('up'))).not.toEqual([]);
});

it('is rendered once, until the record or the minute changes', async () => {
  let nowMs = NOW;
  const now = () => new Date(nowMs);
  const report = vi.spyOn(service.http.market, 'report');
  const options = { ...service.appOptions, limits: undefined, reusesAnswers: true, readState: composeAnswerState({ ...service, now }) };
  const served = await serveApp(createApp(rootRoutes({ ...service.http, now }, []), options));
  const open = async () => {
    const answer = await fetch(served.url, { headers: { accept: 'text/html' } });
    return { html: await answer.text(), etag: answer.headers.get('etag') };
  };
  try {
    const first = await open();
    expect((await open()).etag).toBe(first.etag);
    expect(report).toHaveBeenCalledTimes(1);
    nowMs += 60_000;
    await expect.poll(async () => (await open()) && report.mock.calls.length).toBe(2);
    const { forecasts, known } = service.pipeline.record;
    const newest = known.findLatest(7)!;
    await forecasts.updateOne({ _id: newest._id }, { $set: { state: 'VOID' } });
    await expect.poll(async () => (await open()).html).toContain('Void: committed too late, never counts');
    expect((await open()).etag).not.toBe(first.etag);
    await forecasts.updateOne({ _id: newest._id }, { $set: { state: newest.state } });
  } finally {
    report.mockRestore();
    await served.close();
  }
});

it('stays as it was while the database does not answer', async () => {
  let isReachable = true;
  const { market } = service.http;
  const report = ((...asked: Parameters<typeof market.report>) =>
    isReachable ? market.report(...asked) : Promise.reject(new MongoNetworkError('gone'))) as typeof market.report;
  // Every request is of another state.
  let reads = 0;
  const options = { ...service.appOptions, limits: undefined, reusesAnswers: true, readState: () => String(++reads) };
  const failing = { ...service.http, market: Object.assign(Object.create(market) as typeof market, { report }) };
  const served = await serveApp(createApp(rootRoutes(failing, []), options));
  const open = async () => await fetch(served.url, { headers: { accept: 'text/html' } });
  try {
    const first = await (await open()).text();
    isReachable = false;
    const later = await open();
    expect([later.status, await later.text()]).toEqual([200, first]);
  } finally {
    await served.close();
  }
});

it('cannot be ended by its data', async () => {
  const market = Object.assign(Object.create(service.http.market) as Services['market'], { source: '</script><script>alert(1)</script>' });
  const { html } = await openHome({ market })();
  expect(html).not.toContain('<script>alert');
  expect(JSON.stringify(readInitial(html))).toContain('</script><script>alert(1)</script>');
});

it('says in the same place that the service starts', async () => {
  const log = createLog({ level: 'silent', secrets: [] });
  const served = await serveApp(createStartingApp({ log, publicUrl: 'http://127.0.0.1', setup: createStartupProgress() }));
  try {
    const html = await (await fetch(served.url, { headers: { accept: 'text/html' } })).text();
    expect(html).toMatch(/data-part="call">.*The service is starting/);
    expect(html).not.toContain('id="initial"');
  } finally {
    await served.close();
  }
});

it.each([
  [challengeRoutes, /<h1>Models<.*m1 against m0-d1.*Scores of all distributions/s],
  [selfTestRoutes, /<h1>Self-tests<.*Walk forward/s],
] as const)('is a page in browsers, and JSON elsewhere: %o', async (routes, text) => {
  const page = (await call(routes(service.http)[0]!, { accept: 'text/html' })) as unknown as { encoded: { bytes: Buffer } };
  expect(page.encoded.bytes.toString()).toMatch(text);
  expect((await call(routes(service.http)[0]!)).body.success).toBe(true);
});
