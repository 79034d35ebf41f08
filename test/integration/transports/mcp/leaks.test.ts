import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SkillDeps } from '../../../../skills/skill.ts';
import { createSkillRunner } from '../../../../skills/runner.ts';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { OUTCOME_STEPS } from '../../../../src/pipeline/step-registry.ts';
import type { HttpDeps } from '../../../../src/transports/http/deps.ts';
import { createApp } from '../../../../src/transports/http/server/app.ts';
import { createMcpAdapter } from '../../../../src/transports/mcp/adapter.ts';
import { createLocalBackend } from '../../../../src/transports/mcp/backends/local.ts';
import { asTier } from '../../../support/login.ts';
import { postMcp, rpc } from '../../../support/mcp.ts';
import { PLANTED_SIDES, paidSecrets, plant, premiumSecrets, saltSecrets, secretsIn, untoldForecasts } from '../../../support/planted.ts';
import { serve, serveApp } from '../../../support/serve.ts';
import { runPastDay, type TestService, testService } from '../../../support/service.ts';
import { followProcessClock } from '../../../support/trusted-time.ts';

const DAYS = 10;
const TODAY = parseDay('2026-03-12');
const NOW = toInstantMs(TODAY, 22);
/** The days whose outcomes are due and not there yet. */
const LATE_DAYS = 2;

let service: TestService;
let requests: ReturnType<typeof rpc>[];
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) {
    vi.setSystemTime(toInstantMs(day, 21, 35));
    await runPastDay(service, day, day < TODAY - LATE_DAYS ? OUTCOME_STEPS : ['open-window', 'settle']);
  }
  vi.setSystemTime(NOW);
  followProcessClock(service);
  await runPastDay(service, TODAY, []);
  await service.infrastructure.localChain!.setNextBlockTime(NOW);
  requests = await everythingThatCanBeAsked();
});
afterAll(async () => {
  vi.useRealTimers();
  for (const close of closing) await close();
  await service?.stop();
});

/** Every tool, resource, prompt and completion, around every forecast that is not told yet. */
async function everythingThatCanBeAsked() {
  const untold = await untoldForecasts(service);
  const tool = (name: string, input: object) => rpc('tools/call', { name, arguments: input });
  const regimes = [...new Set(untold.map(({ regime }) => regime))];
  const filters = [
    {},
    ...regimes.map((regime) => ({ regime })),
    ...['PENDING', 'HOLD', 'WIN', 'LOSS', 'VOID'].map((status) => ({ status })),
  ];
  const uris = [
    'oracle://methodology',
    ...['2d', '3d', '7d'].map((horizon) => `oracle://signal/${horizon}`),
    ...['1d', '2d', '3d', '7d'].map((horizon) => `oracle://scorecard/${horizon}`),
    ...untold.map(({ attestation }) => `oracle://attestations/${attestation!.uid}`),
  ];
  const completions = ['date', 'uid'].flatMap((name) =>
    ['', '2', '0x', '2026-03'].map((value) => ({ ref: { type: 'ref/prompt', name: 'check_prediction' }, argument: { name, value } })),
  );
  return [
    ...['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map((method) => rpc(method)),
    ...['2d', '3d', '7d'].map((horizon) => tool('predict_btc_direction', { horizon })),
    ...untold.map(({ _id }) => tool('verify_prediction', { predictionId: _id })),
    ...['1d', '2d', '3d', '7d'].flatMap((horizon) => filters.map((filter) => tool('get_track_record', { horizon, ...filter }))),
    tool('get_market_context', {}),
    ...uris.map((uri) => rpc('resources/read', { uri })),
    ...completions.map((params) => rpc('completion/complete', params)),
    rpc('prompts/get', { name: 'daily_briefing' }),
    rpc('prompts/get', { name: 'check_prediction', arguments: { date: '2026-03-12' } }),
  ];
}

/** What each request is answered, with its status. */
async function answers(url: string, headers: Record<string, string> = {}): Promise<string[]> {
  const told = [];
  for (const request of requests) {
    const { status, text } = await postMcp(url, request, headers);
    told.push(`${JSON.stringify(request)} ${status} ${text}`);
  }
  return told;
}

async function open(): Promise<string> {
  const { url, close } = await serve(service, []);
  closing.push(close);
  return url;
}

/** The same door of a service that tells everybody at once. */
async function openRevealing(): Promise<string> {
  const { http } = service;
  const viewFor: HttpDeps['viewFor'] = (caller) => ({ ...http.viewFor(caller), policy: 'immediate' });
  const parts = { ...http, viewFor } as HttpDeps & SkillDeps;
  const runSkill = createSkillRunner(parts);
  const door = createMcpAdapter({
    ...{ version: '1', publicUrl: 'http://127.0.0.1:3000', checkOrigin: () => undefined },
    backendFor: (asker) => createLocalBackend({ signals: parts, runSkill, methodology: '' }, asker),
  });
  const { url, close } = await serveApp(createApp([], service.appOptions, [door]));
  closing.push(close);
  return url;
}

const toldOf = (texts: readonly string[], secrets: Parameters<typeof secretsIn>[1]) => [
  ...new Set(texts.flatMap((text) => secretsIn(text, secrets))),
];

describe('an anonymous caller of MCP', () => {
  it('reads the same of everything that can be asked, whatever an unresolved forecast says', async () => {
    const url = await open();
    const salts = await saltSecrets(service);
    const worlds = [await answers(url)];
    for (const side of PLANTED_SIDES) {
      await plant(service, side);
      worlds.push(await answers(url));
    }
    for (const told of worlds) {
      expect(told.filter((text) => / 200 /.test(text))).toHaveLength(requests.length);
      expect(toldOf(told, salts)).toEqual([]);
      expect(told).toEqual(worlds[0]);
    }
  });

  it('would find it in a service that reveals at once: these tests find a leak', async () => {
    const url = await openRevealing();
    await plant(service, 'up');
    const up = await answers(url);
    expect(toldOf(up, paidSecrets('up'))).toEqual(expect.arrayContaining(['confidence', 'pUp']));
    expect(toldOf(up, await saltSecrets(service)).length).toBeGreaterThan(4);
    await plant(service, 'down');
    const down = await answers(url);
    const different = requests
      .filter((_, index) => up[index] !== down[index])
      .map(({ method, params }) => `${method} ${params.name ?? params.uri}`);
    for (const what of [
      'tools/call verify_prediction',
      'tools/call get_track_record',
      'resources/read oracle://signal/7d',
      'resources/read oracle://scorecard/7d',
    ])
      expect(different).toContain(what);
  });
});

describe('a Basic caller of MCP', () => {
  it('is told the forecast, and nothing of what is for Premium', async () => {
    const url = await open();
    await plant(service, 'up');
    const told = await answers(url, await asTier(service, 'basic'));
    expect(toldOf(told, paidSecrets('up'))).toEqual(expect.arrayContaining(['confidence', 'pUp']));
    expect(toldOf(told, premiumSecrets('up'))).toEqual([]);
  });
});
