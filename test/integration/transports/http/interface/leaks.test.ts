import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { formatDay } from '../../../../../src/forecast/day.ts';
import { route } from '../../../../../src/http/route.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createApp } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { asTier, demoWallets } from '../../../../support/auth/login.ts';
import { type Ask, type HttpAnswer, openAsk } from '../../../../support/http/ask.ts';
import { fetchOpenApi, type OpenApi, type Operation, operationsOf } from '../../../../support/http/openapi.ts';
import { serveApp } from '../../../../support/http/serve.ts';
import { createExampleClient } from '../../../../support/operations/client.ts';
import { buildPath, buildRequest, listOperations } from '../../../../support/operations/operations.ts';
import { forgetful, knowing } from '../../../../support/record/forgetful.ts';
import {
  distributionSecrets,
  GATED_MEMBERS,
  PLANTED_SIDES,
  paidSecrets,
  plant,
  premiumSecrets,
  type Secret,
  saltSecrets,
  secretsIn,
  untoldForecasts,
} from '../../../../support/record/planted-forecast.ts';
import { parameterValues, type Variant, variantsOf, walk } from '../../../../support/record/public-walk.ts';
import { sampleOf } from '../../../../support/record/samples.ts';
import type { TestService } from '../../../../support/service/service.ts';
import { NOW, TODAY, untoldService } from '../../../../support/service/unpublished-service.ts';

/** What changes from one request to the next whatever the record holds, by operation. */
const MOVING: Record<string, RegExp> = {
  getHealth: /"uptimeSeconds":\d+/g,
  getStatus: /"(?:uptimeSeconds|memoryMb)":\d+/g,
  getCacheStats: /"(?:hits|misses|hitRate|entries)":[\d.null]+/g,
  getLoginNonce: /"nonce":"\w+"/g,
  // Made again with every content, which takes a millisecond more or less.
  getSelfTestStatus: /"durationMs":\d+/g,
  getPolymarketComparison: /"durationMs":\d+/g,
};

/** Headers that follow the request, the connection, the moment, or the text, which is compared itself. */
const PASSING = new Set(['date', 'x-request-id', 'ratelimit', 'ratelimit-policy', 'connection', 'keep-alive', 'content-length']);

/** Calibrations that yield UP only, and both sides; the rest of the fit is public, its digest included. */
const CALIBRATIONS = [
  { calA: 0.3, calB: 0 },
  { calA: 0, calB: 1 },
];

/** Paid requests, which return what was bought. */
const BOUGHT = new Set(['getAnswerAgain', 'buyOffering', 'fetchJobDeliverable']);

let service: TestService;
let document: OpenApi;
let variants: Variant[];
let salts: Secret[];
const closing: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  service = await untoldService();
  await bookPayment(service);
  const { url } = await open(service.http);
  document = await fetchOpenApi(url);
  variants = variantsOf(document, await parameterValues(service));
  salts = await saltSecrets(service);
});
afterAll(async () => {
  vi.useRealTimers();
  for (const close of closing) await close();
  await service?.stop();
});

/** A payment, whose feedback file is public. */
function bookPayment({ http, infrastructure }: TestService): Promise<boolean> {
  const { ledger, merchant } = http.commerce;
  const { asset, payee } = merchant;
  const payer = infrastructure.demo!.wallets.buyer!.address;
  const facts = { channel: 'x402', offering: 'x402_signal', amountMicros: 1_000n, ref: null, resource: null } as const;
  const [nonce, txHash] = [`0x${'2'.repeat(64)}`, `0x${'3'.repeat(64)}`] as const;
  return ledger.record({ ...facts, cause: { kind: 'authorization', nonce }, asset, payee, payer, txHash, settledAt: http.now() });
}

/** Serves the service with other dependencies. */
async function open(deps: Services, more: Parameters<typeof createApp>[0] = []) {
  const served = await serveApp(createApp([...more, ...allRoutes(forgetful(deps))], { ...service.appOptions, limits: undefined }));
  const client = openAsk(served.url);
  closing.push(() => client.close(), served.close);
  return { url: served.url, ask: client.ask };
}

const partsWith = (changes: Partial<Services>): Services => ({ ...service.http, ...changes });

/** Public responses under the policy `immediate`. */
const revealing = () => partsWith({ viewFor: (caller) => ({ ...service.http.viewFor(caller), policy: 'immediate' }) });

/** Examples and documents were written elsewhere, and may have any figure; that they are the same whatever stands here is tried below. */
const WRITTEN_ELSEWHERE = new Set(['getOpenApi', 'getDocument']);

/** Secrets found in responses, one line each. */
function leaksIn(answers: Answers, secrets: readonly Secret[]): string[] {
  const asked = variants.filter(({ label, operationId }) => answers.has(label) && !WRITTEN_ELSEWHERE.has(operationId));
  return asked.flatMap((variant) =>
    secretsIn(comparable(answers.get(variant.label)!, variant), secrets).map((what) => `${variant.label}: ${what}`),
  );
}

/** An answer without what changes anyway: status, headers and bytes. */
function comparable({ status, headers, text }: HttpAnswer, { operationId }: Pick<Variant, 'operationId'>, others = MOVING): string {
  const moving = others[operationId];
  const kept = Object.entries(headers).filter(([name]) => !PASSING.has(name) && !(moving && /^(?:etag|content-length)$/.test(name)));
  return `${status}\n${JSON.stringify(kept.map(readTerms))}\n${moving === undefined ? text : text.replaceAll(moving, '')}`;
}

/** Nonce and times of the challenge, and the signed offer, whose end of validity moves. */
const MOVING_TERMS = /"(?:nonce|issuedAt|expirationTime|signature)":"[^"]*"|"validUntil":\d+/g;

/** Terms of a 402 are in base64. */
function readTerms([name, value]: [string, unknown]): [string, unknown] {
  return name === 'payment-required' ? [name, Buffer.from(String(value), 'base64').toString().replaceAll(MOVING_TERMS, '')] : [name, value];
}

type Answers = ReadonlyMap<string, HttpAnswer>;
type AnswersBySide = ReadonlyMap<(typeof PLANTED_SIDES)[number], Answers>;

/** All variants in turn for each content of the unresolved forecasts. */
async function walkEachSide(ask: Ask, asked: readonly Variant[] = variants): Promise<AnswersBySide> {
  const bySide = new Map<(typeof PLANTED_SIDES)[number], Answers>();
  for (const side of PLANTED_SIDES) {
    await plant(service, side);
    bySide.set(side, await walk(ask, asked));
  }
  return bySide;
}

/** Variants whose answer depends on the content of the unresolved forecasts. */
function differences(bySide: AnswersBySide, asked: readonly Variant[] = variants): string[] {
  const isDifferent = (variant: Variant) =>
    new Set([...bySide.values()].map((answers) => comparable(answers.get(variant.label)!, variant))).size > 1;
  return asked.filter(isDifferent).map(({ label }) => label);
}

const variantsAt = (paths: readonly string[]) => variants.filter(({ path }) => paths.some((start) => path.startsWith(start)));

let anonymousAnswers: Promise<AnswersBySide> | undefined;

/** What an anonymous caller reads of the service as it is: several tests look at the same answers. */
function walkAnonymously(): Promise<AnswersBySide> {
  anonymousAnswers ??= open(service.http).then(({ ask }) => walkEachSide(ask));
  return anonymousAnswers;
}

const tierAnswers = new Map<string, Promise<Answers>>();

/** What a token holder reads of the service with the contents of one side. */
function walkAsTier(tier: 'basic' | 'premium'): Promise<Answers> {
  const answers =
    tierAnswers.get(tier) ??
    plant(service, 'up').then(async () => {
      const { ask } = await open(service.http);
      return walk(ask, variants, await asTier(service, tier));
    });
  tierAnswers.set(tier, answers);
  return answers;
}

describe('the walk', () => {
  it('finds none of the planted values before they are planted', async () => {
    const { ask } = await open(revealing());
    const answers = await walk(ask, variants);
    expect(leaksIn(answers, PLANTED_SIDES.flatMap(paidSecrets))).toEqual([]);
  });

  it('covers a record with resolved, pending, open, late, void, and decided but unrevealed forecasts', async () => {
    const { forecasts } = service.pipeline.record;
    const untold = await untoldForecasts(service);
    expect(untold.length).toBeGreaterThan(12);
    expect(untold.filter(({ resolvesAt }) => resolvesAt.getTime() <= NOW).length).toBeGreaterThan(4);
    expect(untold.filter(({ resolution }) => resolution !== null)).toHaveLength(1);
    expect(untold.filter(({ state }) => state === 'VOID')).toHaveLength(1);
    expect(untold.filter(({ windowOpensAt }) => windowOpensAt.getTime() > NOW)).toHaveLength(4);
    expect((await forecasts.countDocuments()) - untold.length).toBeGreaterThan(20);
    const { rounds } = await service.http.contest.listRounds({ limit: 10, offset: 0 });
    expect(rounds.map(({ state }) => state)).toEqual(['OPEN', 'RUNNING', 'RESOLVED']);
    const wagers = await service.pipeline.wagers.wagers.find({ pModel: { $ne: null } }).toArray();
    expect(wagers.filter(({ day, winner }) => day >= TODAY - 9 && winner !== null).length).toBeGreaterThan(0);
    await plant(service, 'up');
    expect(await service.http.reports.weekly.listDays()).toHaveLength(2);
    expect(await service.http.reports.briefs.findLastDay()).toBe(TODAY);
  });

  it('gets a success from every public operation', async () => {
    const answers = (await walkAnonymously()).get('up')!;
    expect([...answers].filter(([, { status }]) => status >= 500 && status !== 501).map(([label]) => label)).toEqual([]);
    const isOpen = (security: readonly object[]) => security.length === 0 || security.some((scheme) => Object.keys(scheme).length === 0);
    const readable = operationsOf(document).filter(
      (operation) => operation.method === 'get' && operation['x-access'] === 'public' && isOpen(operation.security),
    );
    const silent = readable.filter(({ operationId }) =>
      variants.every((variant) => variant.operationId !== operationId || answers.get(variant.label)!.status !== 200),
    );
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('covers every readable operation, media type and parameter value', async () => {
    const reads = operationsOf(document).filter(({ method }) => method === 'get');
    expect(new Set(variants.map(({ operationId }) => operationId))).toEqual(new Set(reads.map(({ operationId }) => operationId)));
    const paths = variants.map(({ path }) => path);
    for (const horizon of ['2d', '3d', '7d']) expect(paths).toContain(`/api/svc/open/signal?horizon=${horizon}`);
    for (const horizon of [1, 2, 3, 7]) expect(paths).toContain(`/api/svc/scorecard?horizon=${horizon}`);
    for (const { attestation } of await untoldForecasts(service))
      expect(paths).toContain(`/api/svc/onchain-oracle/verify/${attestation!.uid}`);
    expect(variants).toContainEqual(
      expect.objectContaining({ path: `/api/svc/daily-brief?date=${formatDay(TODAY)}`, accept: 'text/markdown' }),
    );
  });
});

describe('an anonymous caller', () => {
  it('finds no value of an unresolved forecast in any response or header', async () => {
    for (const [side, answers] of await walkAnonymously()) expect(leaksIn(answers, [...paidSecrets(side), ...salts])).toEqual([]);
  });

  it('gets identical bytes and ETags for any unresolved forecast', async () => {
    expect(differences(await walkAnonymously())).toEqual([]);
  });

  it('gets identical bytes and ETags for any model calibration', async () => {
    await plant(service, 'up');
    const version = service.pipeline.record.known.findLatest(7)!.modelVersion!;
    const stored = await service.http.models.get(version);
    const found = new Map<string, Set<string>>();
    for (const calibration of CALIBRATIONS) {
      const doc = { ...stored, horizons: stored.horizons.map((fit) => ({ ...fit, baseRate: 0.5, ...calibration })) };
      const models = Object.assign(Object.create(service.http.models) as Services['models'], { get: async () => doc });
      const { ask } = await open(partsWith({ models }));
      const answers = await walk(ask, variants);
      for (const variant of variants) {
        const answer = comparable(answers.get(variant.label)!, variant, { ...MOVING, getInfo: /"coefficientsDigest":"0x\w{64}"/g });
        found.set(variant.label, (found.get(variant.label) ?? new Set()).add(answer));
      }
    }
    expect([...found].filter(([, answers]) => answers.size > 1).map(([label]) => label)).toEqual([]);
    expect([...found.get('GET /api/svc/info as application/json')!][0]).toContain('"calibration":null');
  });

  it('reads GATED wherever an unresolved forecast is named', async () => {
    const untold = new Set((await untoldForecasts(service)).map(({ _id }) => _id));
    let named = 0;
    for (const [label, { headers, text }] of (await walkAnonymously()).get('up')!) {
      if (!headers['content-type']?.includes('json')) continue;
      for (const view of objectsIn(JSON.parse(text))) {
        if (!untold.has(view.predictionId as string)) continue;
        named += 1;
        expect(view.signal, label).toBe('GATED');
        for (const name of GATED_MEMBERS) expect(view[name] ?? null, `${name} of ${label}`).toBeNull();
      }
    }
    expect(named).toBeGreaterThan(50);
  });

  it('reads the size of the move wherever an unresolved forecast is named with it, whatever the forecast says', async () => {
    const stored = new Map((await untoldForecasts(service)).map(({ _id, move }) => [_id, move]));
    const named = new Map<string, number>();
    for (const answers of (await walkAnonymously()).values()) {
      for (const [label, { headers, text }] of answers) {
        if (!headers['content-type']?.includes('json')) continue;
        for (const { predictionId, moveSize, pBig } of objectsIn(JSON.parse(text))) {
          const move = stored.get(predictionId as string);
          if (move === undefined || moveSize === undefined) continue;
          expect({ moveSize, pBig }, label).toEqual({ moveSize: move!.moveSize, pBig: move!.pBig });
          const [path] = label.slice('GET '.length).split(/[? ]/) as [string];
          named.set(path, (named.get(path) ?? 0) + 1);
        }
      }
    }
    expect([...named.keys()]).toEqual(expect.arrayContaining(['/api/svc/open/signal', '/api/svc/scorecard']));
  });

  it('finds none in the requests and their echoes', async () => {
    const { url, ask } = await open(service.http);
    await plant(service, 'up');
    const world = createExampleClient({ url, rpcUrl: service.infrastructure.rpcUrl, wallets: demoWallets(service), nowMs: () => NOW });
    const writes = listOperations(document as unknown as Parameters<typeof listOperations>[0]).filter(
      (operation) => operation.method !== 'get' && operation['x-access'] === 'public' && !BOUGHT.has(operation.operationId),
    );
    expect(writes.length).toBeGreaterThan(3);
    for (const operation of writes) {
      const call = await sampleOf(world, operation, 'basic');
      const { method = 'GET', body } = buildRequest(operation, call, {});
      const answer = await ask(buildPath(operation, call), {
        method,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      });
      expect(secretsIn(comparable(answer, operation), [...paidSecrets('up'), ...salts]), operation.operationId).toEqual([]);
    }
  });
});

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (value === null || typeof value !== 'object') return [];
  const inner = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner];
}

describe('the leak tests detect', () => {
  it('a service that reveals at once', async () => {
    const { ask } = await open(revealing());
    await plant(service, 'up');
    const leaks = leaksIn(await walk(ask, variants), [...paidSecrets('up'), ...salts]);
    for (const path of ['/api/svc/open/signal', '/api/svc/signal', '/api/svc/scorecard', '/api/svc/widget', '/api/svc/crowd-vs-oracle']) {
      expect(
        leaks.some((line) => line.startsWith(`GET ${path} `)),
        path,
      ).toBe(true);
    }
    for (const what of ['confidence', 'pUp', 'salt of', 'model probability of the wager']) {
      expect(
        leaks.some((line) => line.includes(what)),
        what,
      ).toBe(true);
    }
    const paths = ['/api/svc/open/signal', '/api/svc/onchain-oracle/latest', '/api/svc/prediction-markets', '/api/svc/widget'];
    const asked = variantsAt(paths);
    const different = differences(await walkEachSide(ask, asked), asked);
    for (const path of paths) {
      expect(
        different.some((line) => line.startsWith(`GET ${path} `)),
        path,
      ).toBe(true);
    }
  });

  it('a service that counts wagers of unresolved days', async () => {
    const record = knowing(service.http.record, { getLastPublicDay: () => TODAY });
    const { ask } = await open(partsWith({ record }));
    const paths = ['/api/svc/scorecard', '/api/svc/crowd-vs-oracle', '/api/svc/wagers'];
    const asked = variantsAt(paths);
    const different = differences(await walkEachSide(ask, asked), asked);
    for (const path of paths) {
      expect(
        different.some((line) => line.startsWith(`GET ${path}`)),
        path,
      ).toBe(true);
    }
  });

  it('a leak in a length, a status or a header', async () => {
    const side = async () => (await untoldForecasts(service))[0].values!.direction;
    const careless = route('GET /careless', 'careless', {
      tag: 'service',
      summary: 'What a leak is tried on',
      reply: z.object({}),
      handle: async () => ({ body: {}, headers: { 'X-Length': (await side()) === 'UP' ? '1' : '22' } }),
    });
    const { ask } = await open(service.http, [careless]);
    const variant = { operationId: 'careless', path: '/careless', accept: 'application/json', label: 'careless' };
    expect(differences(await walkEachSide(ask, [variant]), [variant])).toEqual(['careless']);
  });
});

describe('the committed distributions', () => {
  const walkPublicly = async () => (await walkAnonymously()).get('up')!;

  it.each([null, 'basic', 'premium'] as const)('of an unresolved forecast are in no answer (tier: %s)', async (tier) => {
    const answers = tier === null ? await walkPublicly() : await walkAsTier(tier);
    // The side of these answers.
    await plant(service, 'up');
    const secrets = await distributionSecrets(service);
    expect(secrets.length).toBeGreaterThan(10);
    expect(leaksIn(answers, secrets)).toEqual([]);
  });

  it('of an unresolved forecast are in no answer of a service that reveals the rest at once', async () => {
    const { ask } = await open(revealing());
    const answers = await walk(ask, variants, await asTier(service, 'premium'));
    expect(leaksIn(answers, await distributionSecrets(service))).toEqual([]);
  });

  it('of a resolved forecast are in the public list, so the test detects leaks', async () => {
    const resolved = await service.pipeline.record.forecasts.find({ reveal: { $ne: null } }).toArray();
    const secrets = await distributionSecrets(service, resolved);
    const found = leaksIn(await walkPublicly(), secrets).filter((line) => line.startsWith('GET /api/svc/distributions'));
    expect(found.length).toBeGreaterThan(8);
  });
});

it('no read changes what all callers share in memory', async () => {
  const { known } = service.pipeline.record;
  await known.load();
  const shared = () => [known.listDays(), known.listAll(), known.listAll().map((doc) => known.findScores(doc)), known.listWagers()];
  const before = structuredClone(shared());
  const { ask } = await open(service.http);
  await walk(ask, variants, await asTier(service, 'premium'));
  expect(shared()).toEqual(before);
});

describe('a Basic token', () => {
  const gated = (access: Operation['x-access']) => operationsOf(document).filter((operation) => operation['x-access'] === access);

  it('opens no operation of Premium or of the operator', async () => {
    const { ask } = await open(service.http);
    const headers = await asTier(service, 'basic');
    expect(gated('premium').length).toBeGreaterThan(2);
    for (const [access, statuses] of [
      ['premium', [403]],
      ['admin', [401, 404]],
    ] as const) {
      const names = new Set(gated(access).map(({ operationId }) => operationId));
      const answers = await walk(
        ask,
        variants.filter(({ operationId }) => names.has(operationId)),
        headers,
      );
      for (const [label, { status }] of answers) expect(statuses, label).toContain(status);
    }
  });

  it('reads no Premium value, unlike a Premium token', async () => {
    const found = async (tier: 'basic' | 'premium') => leaksIn(await walkAsTier(tier), premiumSecrets('up'));
    expect(await found('basic')).toEqual([]);
    const lines = await found('premium');
    for (const what of ['quantile p05', 'quantile p95', 'threshold', 'climatology', 'category score', 'stake']) {
      expect(
        lines.some((line) => line.includes(what)),
        what,
      ).toBe(true);
    }
    const inScorecard = lines.filter((line) => line.startsWith('GET /api/svc/scorecard'));
    for (const level of ['p10', 'p50', 'p90'])
      expect(
        inScorecard.some((line) => line.endsWith(`quantile ${level}`)),
        level,
      ).toBe(true);
  });

  it('reads Basic values in the Basic operations', async () => {
    const { ask } = await open(service.http);
    await plant(service, 'up');
    const answers = await walk(
      ask,
      variants.filter(({ operationId }) => operationId === 'getOracleSignal'),
      await asTier(service, 'basic'),
    );
    expect(leaksIn(answers, paidSecrets('up')).filter((line) => line.includes('confidence')).length).toBeGreaterThan(2);
  });
});
