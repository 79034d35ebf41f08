import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ContestDomain, ENTRY_LIMITS } from '../../../src/contest.ts';
import { allRoutes } from '../../../src/http/routes.ts';
import { createListener } from '../../../src/http/server.ts';
import { demoWallets } from '../../support/auth/login.ts';
import { contestDoor, STATUS, signedCommitment } from '../../support/contest/contest-api.ts';
import { type ContestService, youngContest } from '../../support/contest/contest-service.ts';
import { type Served, serveApp } from '../../support/http/serve.ts';

let world: ContestService;
let served: Served;
let domain: ContestDomain;
let markets: string[];
const { get } = contestDoor(() => served.url);

beforeAll(async () => {
  world = await youngContest();
  await world.contest.run();
  const { service, contest } = world;
  const http = { ...service.http, contest, now: () => new Date(world.clock.ms) };
  served = await serveApp(createListener(allRoutes(http), { ...service.appOptions, trustProxy: 1 }));
  const { openRound, signing } = await get(STATUS);
  domain = signing.domain;
  markets = openRound.markets.map(({ market }: { market: string }) => market);
});
afterAll(async () => {
  await served?.close();
  await world?.stop();
});

const invent = () => privateKeyToAccount(generatePrivateKey());

async function commit(account: PrivateKeyAccount, address: string, { market = markets[0]!, probabilityBps = 5_000 } = {}) {
  world.clock.ms += 1;
  const body = await signedCommitment(domain, account, { market, probabilityBps, issuedAtMs: world.clock.ms });
  const response = await fetch(`${served.url}/api/svc/prestake/commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Forwarded-For': address },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return { status: response.status, retryAfter: Number(response.headers.get('retry-after')), body: (await response.json()) as any };
}

const wallets = () => world.service.database.db.collection('contest_commitments').distinct('wallet');

/** For a thousand requests. */
const SLOW_MS = 240_000;

/** One invented wallet for each address, eight at a time while far from a bound; returns the number that entered. */
async function enter(addresses: string[], room = addresses.length): Promise<number> {
  let entered = 0;
  for (let start = 0; start < addresses.length; ) {
    const step = start + 16 <= room ? 8 : 1;
    const replies = await Promise.all(addresses.slice(start, start + step).map((address) => commit(invent(), address)));
    entered += replies.filter(({ status }) => status === 200).length;
    start += step;
  }
  return entered;
}

it(
  'invented wallets of one address, /24 or /48 enter up to its share, and no other range is affected',
  async () => {
    const { address, '/24': per24, '/48': per48 } = ENTRY_LIMITS;
    expect(await enter(Array(address + 5).fill('192.0.2.1'), address)).toBe(address);
    expect(
      await enter(
        Array.from({ length: per24 - address + 3 }, (_, index) => `192.0.2.${2 + (index % 8)}`),
        per24 - address,
      ),
    ).toBe(per24 - address);
    expect(
      await enter(
        Array.from({ length: per48 + 5 }, (_, index) => `2001:db8:1:${(0x100 * (index % 32)).toString(16)}::1`),
        per48,
      ),
    ).toBe(per48);
    expect(await enter(['192.0.3.1', '2001:db8:2::1'])).toBe(2);
  },
  SLOW_MS,
);

it(
  'beyond the open part invented wallets are refused with the reason; token holders enter, and entrants change their commitment',
  async () => {
    const { address, all, reserve, reservePerRange } = ENTRY_LIMITS;
    const entrant = invent();
    expect((await commit(entrant, '198.51.100.1')).status).toBe(200);
    const room = all - reserve - (await wallets()).length;
    const flood = Array.from({ length: room }, (_, index) => `203.${Math.floor(index / address)}.1.1`);
    expect(await enter(flood)).toBe(room);

    // The reserve is for ranges that have few entrants yet.
    expect(await commit(invent(), flood.at(-1)!)).toMatchObject({ status: 429, body: { scope: 'all', limit: all - reserve } });
    expect(await enter(Array.from({ length: reserve }, (_, index) => `10.${Math.floor(index / reservePerRange)}.1.1`))).toBe(reserve);
    const before = (await wallets()).length;
    expect(before).toBe(all);
    const refused = await commit(invent(), '10.250.1.1');
    expect(refused).toMatchObject({
      status: 429,
      body: {
        code: 'RATE_LIMITED',
        retryable: true,
        scope: 'all',
        limit: all,
        opensAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T00:00:00.000Z$/),
        suggestedAction: expect.stringMatching(/has entered/),
      },
    });
    const secondsLeft = (Date.parse(refused.body.opensAt) - world.clock.ms) / 1_000;
    expect(Math.abs(refused.retryAfter - secondsLeft)).toBeLessThan(60);
    expect((await wallets()).length).toBe(before);

    const { basic, premium } = demoWallets(world.service);
    for (const holder of [basic, premium]) expect((await commit(holder, '203.0.1.1')).status).toBe(200);

    // An entrant goes on: it replaces its commitment, and takes the other markets of the round, from any address.
    expect(await commit(entrant, '10.250.1.1', { probabilityBps: 7_000 })).toMatchObject({ status: 200, body: { replaced: true } });
    expect((await commit(entrant, '203.0.1.1', { market: markets[1]! })).status).toBe(200);
  },
  SLOW_MS,
);
