import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SKILLS } from '../../../../skills/index.ts';
import { createSkillRunner } from '../../../../skills/runner.ts';
import type { Context } from '../../../../src/context.ts';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { createApp } from '../../../../src/http/server.ts';
import type { Services } from '../../../../src/http/services.ts';
import { createMcpAdapter } from '../../../../src/mcp/server.ts';
import { createLocalBackend } from '../../../../src/mcp/tools.ts';
import { OUTCOME_STEPS } from '../../../../src/pipeline/pipeline.ts';
import { asTier } from '../../../support/auth/login.ts';
import { followProcessClock } from '../../../support/clock/trusted-time.ts';
import { serve, serveApp } from '../../../support/http/serve.ts';
import { postMcp, rpc } from '../../../support/mcp/mcp.ts';
import {
  distributionSecrets,
  PLANTED_SIDES,
  paidSecrets,
  plant,
  premiumSecrets,
  saltSecrets,
  secretsIn,
  untoldForecasts,
} from '../../../support/record/planted-forecast.ts';
import { runPastDay, type TestService, testService } from '../../../support/service/service.ts';

const DAYS = 10;
const TODAY = parseDay('2026-03-12');
const NOW = toInstantMs(TODAY, 22);
/** Days whose outcomes are due and not resolved. */
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

/** Every tool, resource, prompt and completion around every unresolved forecast. */
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
    ...['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list', 'skills/list'].map((method) => rpc(method)),
    ...['2d', '3d', '7d'].flatMap((horizon) =>
      [{}, { form: 'full' }, { access: 'pay' }].map((choice) => tool('predict_btc_direction', { horizon, ...choice })),
    ),
    ...untold.map(({ _id }) => tool('verify_prediction', { predictionId: _id, form: 'full' })),
    ...untold.slice(0, 4).map(({ _id }) => tool('verify_prediction', { predictionId: _id })),
    ...['1d', '2d', '3d', '7d'].flatMap((horizon) => [
      tool('get_track_record', { horizon }),
      ...filters.map((filter) => tool('get_track_record', { horizon, ...filter, form: 'full' })),
    ]),
    ...SKILLS.flatMap(({ id, examples }) => examples.map(({ input }) => tool(id, input))),
    ...uris.map((uri) => rpc('resources/read', { uri })),
    ...completions.map((params) => rpc('completion/complete', params)),
    rpc('prompts/get', { name: 'daily_briefing' }),
    rpc('prompts/get', { name: 'check_prediction', arguments: { date: '2026-03-12' } }),
  ];
}

/** Status and answer of each request. */
async function answers(url: string, headers: Record<string, string> = {}): Promise<string[]> {
  const received = [];
  for (const request of requests) {
    const { status, text } = await postMcp(url, request, headers);
    received.push(`${JSON.stringify(request)} ${status} ${text}`);
  }
  return received;
}

async function open(): Promise<string> {
  const { url, close } = await serve(service, []);
  closing.push(close);
  return url;
}

/** The same adapter for a service that reveals at once. */
async function openRevealing(): Promise<string> {
  const { http } = service;
  const viewFor: Services['viewFor'] = (caller) => ({ ...http.viewFor(caller), policy: 'immediate' });
  const parts = { ...http, viewFor } as Services & Context;
  const runSkill = createSkillRunner(parts);
  const door = createMcpAdapter({
    ...{ version: '1', publicUrl: 'http://127.0.0.1:3000', checkOrigin: () => undefined, payments: 'call' },
    backendFor: (context) => createLocalBackend({ runSkill }, context),
  });
  const { url, close } = await serveApp(createApp([], service.appOptions, [door]));
  closing.push(close);
  return url;
}

const receivedOf = (texts: readonly string[], secrets: Parameters<typeof secretsIn>[1]) => [
  ...new Set(texts.flatMap((text) => secretsIn(text, secrets))),
];

let anonymousAnswers: Promise<string[][]> | undefined;

/** What an anonymous caller gets for each content of the unresolved forecasts: several tests look at the same answers. */
function askAnonymously(): Promise<string[][]> {
  anonymousAnswers ??= open().then(async (url) => {
    const received = [];
    for (const side of PLANTED_SIDES) {
      await plant(service, side);
      received.push(await answers(url));
    }
    return received;
  });
  return anonymousAnswers;
}

describe('an anonymous caller of MCP', () => {
  it('gets identical answers to every request, whatever an unresolved forecast says', async () => {
    const salts = await saltSecrets(service);
    const worlds = await askAnonymously();
    for (const received of worlds) {
      expect(received.filter((text) => / 200 /.test(text))).toHaveLength(requests.length);
      expect(receivedOf(received, salts)).toEqual([]);
      expect(received).toEqual(worlds[0]);
    }
  });

  it('gets different ones from a service that reveals at once, so the test detects leaks', async () => {
    const url = await openRevealing();
    await plant(service, 'up');
    const up = await answers(url);
    expect(receivedOf(up, paidSecrets('up'))).toEqual(expect.arrayContaining(['confidence', 'pUp']));
    expect(receivedOf(up, await saltSecrets(service)).length).toBeGreaterThan(4);
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

it.each([null, 'basic', 'premium'] as const)('no answer of MCP has a distribution of an unresolved forecast (tier: %s)', async (tier) => {
  const anonymous = tier === null ? (await askAnonymously())[0] : null;
  // The side of the first answers.
  await plant(service, 'up');
  const received = anonymous ?? (await answers(await open(), await asTier(service, tier!)));
  expect(receivedOf(received, await distributionSecrets(service))).toEqual([]);
});

describe('a Basic caller of MCP', () => {
  it('gets the forecast, and no Premium value', async () => {
    const url = await open();
    await plant(service, 'up');
    const received = await answers(url, await asTier(service, 'basic'));
    expect(receivedOf(received, paidSecrets('up'))).toEqual(expect.arrayContaining(['confidence', 'pUp']));
    expect(receivedOf(received, premiumSecrets('up'))).toEqual([]);
  });
});
