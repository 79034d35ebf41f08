import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../../../src/auth/caller.ts';
import { createRateLimits, type RateLimits } from '../../../../../src/auth/rate-limits.ts';
import { OracleError } from '../../../../../src/errors.ts';
import { MAX_ANSWER_AGE_MS } from '../../../../../src/http/memo.ts';
import { type Route, route } from '../../../../../src/http/route.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createApp } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

const WALLETS = ['0x00000000000000000000000000000000000000aA', '0x00000000000000000000000000000000000000bB'] as const;

let service: TestService;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  service = await unresolvedService(2);
  service.progress.complete();
});
afterAll(async () => {
  for (const close of closing) await close();
  await service?.stop();
});

/** A caller by a token that names tier and wallet; anonymous without one. */
async function identify(authorization: string | undefined): Promise<Caller> {
  const [, tier, wallet] = /^Bearer (\w+) (\d)$/.exec(authorization ?? '') ?? [];
  return tier === undefined ? { tier: 'public' } : { tier: tier as Caller['tier'], wallet: WALLETS[Number(wallet)]! };
}

async function open(routes: readonly Route[], reusesAnswers = true, limits?: RateLimits) {
  const log = createLog({ level: 'silent', secrets: [] });
  const served: Served = await serveApp(createApp(routes, { log, identify, reusesAnswers, ...(limits === undefined ? {} : { limits }) }));
  closing.push(served.close);
  return (path: string, token?: string) =>
    fetch(served.url + path, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } });
}

const HOLDERS = ['premium 0', 'basic 1', 'premium 1', 'basic 0'] as const;
const CALLERS = [undefined, ...HOLDERS] as const;

it('are, for every shared route, tier and wallet, what the caller gets without sharing', async () => {
  const routes = allRoutes(service.http).filter(({ shared }) => shared !== undefined);
  expect(routes.length).toBeGreaterThan(8);
  const [shared, own] = [await open(routes), await open(routes, false)];
  for (const { path, access } of routes) {
    const wallets = new Set<unknown>();
    for (const token of [...CALLERS, ...CALLERS]) {
      const [answer, expected] = [await shared(path, token), await own(path, token)];
      expect(answer.status, `${path} ${token}`).toBe(expected.status);
      const [text, expectedText] = [await answer.text(), await expected.text()];
      expect(withoutTimes(text), `${path} ${token}`).toBe(withoutTimes(expectedText));
      if (text.startsWith('{')) wallets.add(JSON.parse(text).access?.wallet);
    }
    if (access !== 'public' && path.includes('/oracle')) expect(wallets).toContain(WALLETS[1]);
  }
});

/** Ages and times of an answer that was made at another moment. */
function withoutTimes(text: string): string {
  return text.replace(/"(instance|btcPrice|\w*[aA]geSeconds|\w*Seconds|age)":("[^"]*"|[\d.]+)/g, '"$1":0').replace(/T[\d:.]+Z/g, '');
}

interface Counted {
  wallet: string | null;
  count: number;
}

describe('a shared route', () => {
  it('runs once for concurrent token holders of a tier, for a second, and sees no wallet', async () => {
    const callers: Caller[] = [];
    const ask = await open([countingRoute(callers)]);
    const startedAt = performance.now();
    const read = async (token: string, path = '/shared') => (await (await ask(path, token)).json()) as Counted;
    const bodies = await Promise.all(HOLDERS.map((token) => read(token)));
    expect(callers.map(({ tier }) => tier).sort()).toEqual(['basic', 'premium']);
    expect(callers.every((caller) => Object.keys(caller).join() === 'tier')).toBe(true);
    expect(bodies.map(({ wallet }) => wallet)).toEqual([WALLETS[0], WALLETS[1], WALLETS[1], WALLETS[0]]);
    await expect.poll(async () => (await read('premium 0')).count).toBe(3);
    expect(performance.now() - startedAt).toBeGreaterThan(MAX_ANSWER_AGE_MS - 50);
    expect((await read('premium 0', '/shared?x=1')).count).toBe(4);
  });

  it('runs once for concurrent anonymous callers, and apart from token holders', async () => {
    const callers: Caller[] = [];
    const ask = await open([countingRoute(callers)]);
    const answers = await Promise.all([ask('/shared'), ask('/shared'), ask('/shared', 'basic 0')]);
    expect(callers.map(({ tier }) => tier).sort()).toEqual(['basic', 'public']);
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as Counted[];
    expect(bodies.map(({ wallet }) => wallet)).toEqual([null, null, WALLETS[0]]);
  });

  it('gives no caller the error of another', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    let runs = 0;
    const choosy: Route = {
      ...countingRoute([]),
      handle: async () => {
        runs += 1;
        if (runs > 1) return { body: { count: runs } };
        begin();
        await delay(50);
        throw new OracleError('RATE_LIMITED', 'This caller has used its limit');
      },
    };
    const ask = await open([choosy]);
    const first = ask('/shared');
    await begun;
    const others = [ask('/shared'), ask('/shared')];
    expect((await first).status).toBe(429);
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
    expect(runs).toBe(2);
  });

  it('that failed runs again for the next caller', async () => {
    let isBroken = true;
    const failing = route('GET /shared', 'share', {
      tag: 'service',
      summary: 'A reply',
      reply: null,
      shared: 'second',
      handle: async () => {
        if (isBroken) throw new Error('broken');
        return { raw: 'fine' };
      },
    });
    const ask = await open([failing]);
    expect((await ask('/shared', 'basic 0')).status).toBe(500);
    isBroken = false;
    expect((await ask('/shared', 'basic 0')).status).toBe(200);
  });
});

it('cost a tenth of a unit where they are computed already, and what the route declares otherwise', async () => {
  const log = createLog({ level: 'silent', secrets: [] });
  const limits = createRateLimits({
    counts: { add: async (_id, requests) => requests },
    limits: { public: 100, wallet: 1_000, rpc: 10, tasks: 10 },
    now: () => new Date(0),
    log,
  });
  const ask = await open([{ ...countingRoute([]), units: 7 }], true, limits);
  const left = async (token?: string) => Number(/r=(\d+)/.exec((await ask('/shared', token)).headers.get('RateLimit')!)![1]);
  expect(await left('premium 0')).toBe(993);
  // Of the other wallet, and of the same tier.
  expect(await left('premium 1')).toBe(999);
  expect(await left('basic 1')).toBe(992);
  expect(await left()).toBe(93);
});

function countingRoute(callers: Caller[]): Route {
  return {
    ...route('GET /shared', 'share', { tag: 'service', summary: 'A reply', reply: null, handle: () => ({ raw: '' }) }),
    shared: 'second',
    personalize: (body, { wallet }) => ({ ...body, wallet: wallet ?? null }),
    handle: async ({ caller }) => ({ body: { count: callers.push(caller) } }),
  };
}
