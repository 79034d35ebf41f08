import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeAbout } from '../../../../../src/app/transports.ts';
import { createChain } from '../../../../../src/chain/client.ts';
import { formatDay } from '../../../../../src/forecast/day.ts';
import { STANDARDS } from '../../../../../src/http/routes/info.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { MODEL_SERIES } from '../../../../../src/market/inputs.ts';
import { STEP_JOBS } from '../../../../../src/pipeline/schedule.ts';
import { digestCoefficients } from '../../../../../src/record/model-card.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { rawKey } from '../../../../support/chain/raw-key.ts';
import { type RpcProxy, rpcProxy } from '../../../../support/chain/rpc-proxy.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { forgetful, knowing, NOTHING_KNOWN } from '../../../../support/record/forgetful.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

const DAYS = 3;
let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(DAYS, { RATE_LIMIT_PUBLIC: '777', RATE_LIMIT_WALLET: '888', RATE_LIMIT_RPC: '666' });
  for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

async function get(path: string, { url } = served): Promise<Body> {
  const response = await fetch(`${url}${path}`);
  expect(response.status, path).toBe(200);
  return response.json();
}

/** Paths of operations and protocol adapters. */
const pathsServed = () =>
  new Set([...allRoutes(service.http), ...service.adapters.flatMap(({ mounts }) => mounts)].map(({ path }) => path));
const callsOf = ({ counts }: RpcProxy) => [...counts.values()].reduce((sum, count) => sum + count, 0);
const pathOf = (url: string) => decodeURIComponent(new URL(url).pathname);

describe('/api/svc/info', () => {
  it('has the model of the newest forecast', async () => {
    const { model } = await get('/api/svc/info');
    const { modelVersion, values } = service.pipeline.record.known.findLatest(7)!;
    const doc = await service.http.models.get(modelVersion!);
    expect(model.fitted).toMatchObject({ version: modelVersion, coefficientsDigest: digestCoefficients(doc) });
    expect(model).toMatchObject({ name: 'm0-d1', trials: doc.trials, scores: ['trend', 'momentum', 'flow', 'value', 'vol'] });
    const { horizon, baseRate, trainedFrom, trainedTo, trainingDays } = model.fitted.horizons.at(-1);
    expect([horizon, baseRate]).toEqual(['7d', values!.climatology]);
    expect((Date.parse(trainedTo) - Date.parse(trainedFrom)) / 86_400_000 + 1).toBe(trainingDays);
    expect(trainedTo < formatDay(today() - DAYS)).toBe(true);
  });

  it('exposes coefficients publicly but hides the calibration that would reveal open forecasts', async () => {
    const { model } = await get('/api/svc/info');
    const doc = await service.http.models.get(model.fitted.version);
    for (const [index, { beta, meanX }] of doc.horizons.entries()) {
      const { coefficients, inputMeans } = model.fitted.horizons[index];
      expect([Object.values(coefficients), Object.values(inputMeans)]).toEqual([beta.slice(1), meanX]);
    }

    const [even, ...others] = doc.horizons.map((fit) => ({ ...fit, baseRate: 0.5, calA: 0, calB: 1 }));
    const fits = [even, ...others.map((fit) => ({ ...fit, baseRate: 0.6, calB: 0 }))];
    const models = Object.assign(Object.create(service.http.models), { get: async () => ({ ...doc, horizons: fits }) });
    const apart = await serve({ http: { ...service.http, models }, appOptions: service.appOptions });
    const slopesFor = async (tier: 'public' | 'basic') => {
      const answer = await fetch(`${apart.url}/api/svc/info`, { headers: await asTier(service, tier) });
      const { model: card }: Body = await answer.json();
      return card.fitted.horizons.map(({ calibration }: Body) => calibration?.slope ?? null);
    };
    expect(await slopesFor('public')).toEqual([null, null, null, null]);
    expect(await slopesFor('basic')).toEqual([1, 0, 0, 0]);
    await apart.close();
  });

  it('has a model card: inputs with lag and terms, regimes with rules, failures, and self-tests', async () => {
    const { model } = await get('/api/svc/info');
    expect(model.inputs.map(({ series }: Body) => series)).toEqual([...MODEL_SERIES]);
    expect(model.inputs[0]).toMatchObject({ lagDays: 1, enters: ['trend', 'momentum', 'value', 'vol'], source: 'simulated' });
    for (const { licences } of model.inputs) expect(licences).toEqual([{ of: 'simulated (seed 2)', licence: expect.any(String) }]);
    expect(model.regimes).toHaveLength(7);
    expect(model.regimes[0]).toMatchObject({ regime: 'CRISIS', theta: 0.06, rule: expect.stringContaining('-0.35') });
    expect(model.knownFailures.join(' ')).toMatch(/Direction: no skill.*147 variants.*SELL.*Masked/s);
    expect(model.knownFailures.join(' ')).toMatch(
      /183 of the direction \(147 \+ 32 \+ 4\), 40 of the distribution, 3 signal rules and 2 relative tests/,
    );
    expect(model.knownFailures.join(' ')).toMatch(
      /size of the move.*8\.3 % at 1d.*EWMA .* 6\.8, 6\.3 and 6\.0 %.*at 7d .*neither distinguishable from zero/is,
    );
    for (const lines of [model.method, model.intendedUse, model.notFor, model.limits]) expect(lines.length).toBeGreaterThan(1);
    for (const url of Object.values<string>(model.selfTests)) expect(pathsServed()).toContain(pathOf(url));
  });

  it('lists champion and challengers with their trials and data', async () => {
    const { versions } = (await get('/api/svc/info')).model;
    expect(versions).toMatchObject([
      { name: 'm0-d1', role: 'champion', distributionTrials: 28, reads: ['daily closes'] },
      { name: 'm1', role: 'challenger', distributionTrials: 39, reads: [expect.any(String), expect.stringContaining('highs and lows')] },
    ]);
    expect(versions[1].findings.join(' ')).toMatch(
      /1\.44 % at 1d.*Leaving out 7d was decided after that last look.*39 distributions: 28 /s,
    );
  });

  it('has the limits in force', async () => {
    const { limits } = await get('/api/svc/info');
    expect(limits).toMatchObject({
      gateBalance: { basic: '500000000', premium: '1000000000' },
      sessionTokenSeconds: 1_800,
      signatureWindowSeconds: 300,
      attestationHistory: { least: 1, most: 100, default: 30 },
      copyTradeHistory: { least: 1, most: 90, default: 30 },
      wagerHistory: { least: 1, most: 365, default: 60 },
      confidence: { least: 0.5, most: 0.99 },
      requests: { windowSeconds: 60, publicPerAddress: 777, perWallet: 888, chainCallsPerAddress: 666 },
      webSocket: { pingSeconds: 30, reconnectSeconds: 5 },
    });
    const { most } = limits.attestationHistory;
    await get(`/api/svc/onchain-oracle/history?limit=${most}`);
    expect((await fetch(`${served.url}/api/svc/onchain-oracle/history?limit=${most + 1}`)).status).toBe(400);
    const policy = (await fetch(`${served.url}/api/svc/info`)).headers.get('ratelimit-policy');
    expect(policy).toContain(`q=${limits.requests.publicPerAddress}`);
    const padding = (size: number) => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: 'x'.repeat(size) });
    const login = `${served.url}/api/svc/oracle/verify`;
    expect((await fetch(login, padding(limits.bodyBytes + 1))).status).toBe(413);
    expect((await fetch(login, padding(limits.bodyBytes))).status).toBe(400);
    expect((await fetch(`${served.url}/${'x'.repeat(limits.urlCharacters)}`)).status).toBe(414);
    expect((await fetch(`${served.url}/${'x'.repeat(limits.urlCharacters - 1)}`)).status).toBe(404);
  });

  it('has the schedule of the jobs', async () => {
    const { schedule } = await get('/api/svc/info');
    const card = Object.fromEntries(schedule.map(({ step, times }: { step: string; times: string[] }) => [step, times]));
    // Those that only look whether anything is overdue have no time of their own.
    const jobs = Object.entries(STEP_JOBS).filter(([name]) => !['catch-up', 'self-tests'].includes(name));
    expect(Object.keys(card).sort()).toEqual(jobs.map(([name]) => name).sort());
    for (const [name, { cron }] of jobs) {
      const [minutes, hours] = cron.split(' ');
      const each = hours.startsWith('*/')
        ? Array.from({ length: 24 / Number(hours.slice(2)) }, (_, i) => i * Number(hours.slice(2)))
        : [hours];
      expect(card[name], name).toEqual(each.map((hour) => `${String(hour).padStart(2, '0')}:${minutes.padStart(2, '0')}`));
    }
    expect(card.signal).toEqual(['21:35']);
  });

  it('states the skill honestly, with the verdict of the scorecard', async () => {
    const { skill } = await get('/api/svc/info');
    expect(skill.statement).toContain('close to chance');
    expect(skill.verdict).toBe((await get('/api/svc/scorecard?horizon=7')).summary.verdict);
    await get(`/api/svc/scorecard${new URL(skill.scorecard).search}`);
  });

  it('links to served documents, and lists every series with its role in the model', async () => {
    const { documents, data } = await get('/api/svc/info');
    expect(documents.map(({ url }: { url: string }) => pathOf(url)).filter((path: string) => !pathsServed().has(path))).toEqual([]);
    const inModel = data.series.filter((entry: Body) => entry.inModel).map((entry: Body) => entry.series);
    expect(inModel).toEqual(expect.arrayContaining(['btcClose', 'fearGreed', 'etfFlow']));
    expect(inModel).not.toContain('vix');
    expect(data.series.find((entry: Body) => entry.series === 'btcClose')).toMatchObject({ lagDays: 1, unit: 'USD' });
  });

  it('contains no secret and makes no chain call', async () => {
    const refuse = () => Promise.reject(new Error('the chain was asked'));
    const { http, appOptions: door } = service;
    const parts = { ...http, about: { ...http.about, contracts: refuse }, reputation: refuse };
    const apart = await serve({ http: parts, appOptions: door });
    const text = JSON.stringify(await get('/api/svc/info', apart));
    await apart.close();
    const { signers, saltSecret, encryptionSecret, rpcUrl, mongodbUri } = service.infrastructure;
    for (const secret of [...Object.values(signers).map(rawKey), saltSecret, encryptionSecret, rpcUrl, mongodbUri]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(text).not.toContain(secret);
    }
  });

  it('is available before the first forecast', async () => {
    const { http, appOptions: door } = service;
    const record = knowing(http.record, NOTHING_KNOWN);
    const before = await serve({ http: { ...forgetful({ ...http, record }), record }, appOptions: door });
    expect(await get('/api/svc/info', before)).toMatchObject({
      model: { fitted: null },
      skill: { verdict: expect.stringContaining('nothing resolved yet') },
    });
    await before.close();
  });
});

describe('the coefficients digest', () => {
  it('changes with each coefficient', async () => {
    const { modelVersion } = service.pipeline.record.known.findLatest(7)!;
    const doc = await service.http.models.get(modelVersion!);
    const [first, ...others] = doc.horizons;
    const nudged = { ...first, beta: [...first.beta.slice(0, -1), first.beta.at(-1)! + 1e-12] };
    expect(digestCoefficients({ horizons: [nudged, ...others] })).not.toBe(digestCoefficients(doc));
    expect(digestCoefficients({ horizons: structuredClone(doc.horizons) })).toBe(digestCoefficients(doc));
  });
});

describe('/api/claw/ecosystem', () => {
  it('has live contract states with the figures of the record', async () => {
    const { contracts, chain } = await get('/api/claw/ecosystem');
    expect(chain).toEqual({ id: 84532, caip2: 'eip155:84532', local: true });
    expect(Object.values(contracts).map((contract: Body) => contract.state)).toEqual(Array(7).fill('live'));
    expect(contracts.eas).toMatchObject({
      predictions: 4 * DAYS,
      attester: service.http.wallets.attester.address,
      address: service.http.chain.addresses.eas,
    });
    const stats = await get('/api/svc/onchain-oracle/stats?horizons=all');
    expect([contracts.eas.resolutions, contracts.eas.latestAttestation]).toEqual([stats.resolutions, stats.latestAttestation]);
    expect(contracts.schemaRegistry.schemas).toEqual([
      expect.objectContaining({ name: 'prediction', registered: true }),
      expect.objectContaining({ name: 'resolution', registered: true }),
    ]);
    expect(contracts.identityRegistry).toMatchObject({ agentId: 0, owner: service.http.wallets.attester.address });
    expect(contracts.gateToken.decimals).toBe(18);
    expect(contracts.agentCommerce).toMatchObject({ paymentToken: contracts.stablecoin.address });
  });

  it('is served without the chain, with each contract unreachable', async () => {
    const proxy = await rpcProxy(service.infrastructure.rpcUrl);
    const { http, appOptions: door } = service;
    const { chainId, addresses } = http.chain;
    const chain = await createChain({ rpcUrl: proxy.url, chainId, confirmations: 1, pollingIntervalMs: 20, addresses });
    let instant = 1_800_000_000_000;
    const about = composeAbout({ ...http, chain, agentId: 0, now: () => new Date(instant) });
    const cutOff = await serve({ http: { ...http, about }, appOptions: door });
    proxy.hooks = { onRequest: () => 'drop' };
    const { contracts } = await get('/api/claw/ecosystem', cutOff);
    expect(Object.values(contracts).map((contract: Body) => contract.state)).toEqual(Array(7).fill('unreachable'));
    expect(contracts.eas).toMatchObject({ predictions: 4 * DAYS, version: null, reason: expect.any(String) });

    proxy.hooks = {};
    instant += 60_000;
    const after = await get('/api/claw/ecosystem', cutOff);
    expect(after.contracts.eas.state).toBe('live');
    const calls = callsOf(proxy);
    instant += 59_000 - (instant % 60_000);
    expect((await get('/api/claw/ecosystem', cutOff)).checkedAt).toBe(after.checkedAt);
    expect(callsOf(proxy)).toBe(calls);
    await cutOff.close();
    await proxy.close();
  });

  it('marks exactly the served standards as live', async () => {
    const { standards } = await get('/api/claw/ecosystem');
    expect(standards.map(({ id }: { id: string }) => id)).toEqual(STANDARDS.map(({ id }) => id));
    const missing = standards.flatMap(({ endpoints }: Body) => endpoints.map(pathOf)).filter((path: string) => !pathsServed().has(path));
    expect(missing).toEqual([]);
    const live = Object.fromEntries(standards.map(({ id, live }: Body) => [id, live]));
    expect(live).toMatchObject({
      eas: true,
      'erc-8004': true,
      'eip-1271': true,
      'eip-4361': true,
      'eip-712': true,
      openapi: true,
      'rfc-9457': true,
    });
    for (const [id, door] of [
      ['x402', '/oracle'],
      ['a2a', '/a2a'],
      ['mcp', '/mcp'],
    ])
      expect(live[id], id).toBe(pathsServed().has(door));
  });
});
