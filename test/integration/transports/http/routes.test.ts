import { CID } from 'multiformats/cid';
import { type Hex, keccak256, sha256, zeroHash } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getSchemaUid } from '../../../../src/chain/eas/schemas.ts';
import { callJsonRpc } from '../../../../src/dev/local-chain/contracts.ts';
import { formatDay } from '../../../../src/forecast/day.ts';
import { scorecardRoutes } from '../../../../src/http/routes/scorecard.ts';
import { allRoutes } from '../../../../src/http/routes.ts';
import { createApp, type HttpServer, listen } from '../../../../src/http/server.ts';
import { createLiveContext } from '../../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../../src/pipeline/pipeline.ts';
import { buildWagerEvidence } from '../../../../src/wager/wagers.ts';
import { asTier } from '../../../support/auth/login.ts';
import { REACHED } from '../../../support/clock/trusted-time.ts';
import { call } from '../../../support/http/serve.ts';
import { forgetful } from '../../../support/record/forgetful.ts';
import { runPastDay, type TestService, testService, today } from '../../../support/service/service.ts';
import { settledWager } from '../../pipeline/steps/wager-fixtures.ts';

const DAYS = 16;
let service: TestService;
let server: HttpServer;

beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  service.progress.complete();
  server = await listen(createApp(allRoutes(service.http), service.appOptions), 0, '127.0.0.1');
});
afterAll(async () => {
  await server.close();
  await service.stop();
});

const fetchFrom = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function get(path: string, headers: Record<string, string> = {}): Promise<any> {
  const response = await fetchFrom(path, { headers });
  expect(response.status, path).toBe(200);
  expect(response.headers.get('content-type')).toContain('application/json');
  return response.json();
}

async function problem(path: string, init?: RequestInit) {
  const response = await fetchFrom(path, init);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  const body = (await response.json()) as Record<string, unknown>;
  expect(body).toMatchObject({ status: response.status, success: false, instance: path.split('?')[0] });
  for (const member of ['type', 'title', 'detail', 'code', 'suggestedAction']) expect(body[member], member).toBeTypeOf('string');
  return body;
}

describe('the signal', () => {
  it.each(['', '?horizon=2d', '?horizon=3d', '?horizon=7d'])('is gated for the public, with market context: %s', async (query) => {
    const signal = await get(`/api/svc/open/signal${query}`);
    expect(signal).toMatchObject({
      signal: 'GATED',
      confidence: null,
      direction: null,
      horizon: query.split('=')[1] ?? '7d',
      source: 'simulated (seed 2)',
    });
    expect(signal.btcPrice).toBeGreaterThan(0);
    expect(signal.modelVersion).toBe(signal.model_version);
    expect(signal.modelVersion).toMatch(/^m0-d1\.\d{4}-\d\d-\d\d$/);
    expect(['Extreme Fear', 'Fear', 'Neutral', 'Greed', 'Extreme Greed']).toContain(signal.fearGreedLabel);
    expect(Number.isInteger(signal.fearGreed)).toBe(true);
    expect(signal.etfFlows7d).toBeTypeOf('number');
    expect(new Date(signal.timestamp).toISOString()).toBe(signal.timestamp);
  });
});

describe('the scorecard', () => {
  it.each(['1', '2', '3', '7'])('counts every forecast of horizon %s', async (horizon) => {
    const { success, summary, stats, predictions } = await get(`/api/svc/scorecard?horizon=${horizon}`);
    expect(success).toBe(true);
    expect(predictions).toHaveLength(DAYS);
    expect(summary.totalPredictions).toBe(DAYS);
    expect(summary.wins + summary.losses).toBe(summary.resolved);
    expect(summary.resolved + summary.holds + summary.pending + summary.voids).toBe(DAYS);
    expect(summary.pending).toBe(Number(horizon));
    expect(stats).toMatchObject({ total: DAYS, wins: summary.wins, losses: summary.losses });
    for (const entry of predictions) expect(['WIN', 'LOSS', 'HOLD', 'PENDING', 'VOID']).toContain(entry.status);
  });

  it('defaults to 7 days', async () => {
    expect((await get('/api/svc/scorecard')).horizon).toBe('7d');
  });

  it('compares with the market on quotes of one book, and names their owner', async () => {
    const { wagers } = service.pipeline;
    const before = (await get('/api/svc/scorecard')).predictionMarket;
    expect(before).toMatchObject({ venue: 'paper', quotesAreOurs: true });
    const docs = ['paper', 'polymarket', 'polymarket-dry-run'].map((venue, i) => ({ ...settledWager(today() - 40 + i, 'WIN'), venue }));
    await wagers.wagers.insertMany(docs);
    expect((await get('/api/svc/scorecard')).predictionMarket.settledMarkets).toBe(before.settledMarkets + 1);
    const venue = { ...service.venue, name: 'polymarket', sameBook: ['polymarket', 'polymarket-dry-run'] };
    const elsewhere = forgetful({ ...service.http, venue });
    const [route] = scorecardRoutes(elsewhere);
    const { body } = await call(route, { query: { horizon: 7 } });
    expect(body).toMatchObject({ predictionMarket: { venue: 'polymarket', quotesAreOurs: false, settledMarkets: 2 } });
    await wagers.wagers.deleteMany({ _id: { $in: docs.map(({ _id }) => _id) } });
  });
});

it('has a numeric base price everywhere, provisional until the window opens', async () => {
  const docs = service.pipeline.record.known.listByHorizon(7);
  const open = new Set(docs.flatMap(({ _id, btcAtSignalCents }) => (btcAtSignalCents === null ? [_id] : [])));
  const { predictions } = await get('/api/svc/scorecard?limit=100');
  const { data, attestations } = await get('/api/svc/onchain-oracle/history?limit=100');
  expect(attestations).toEqual(data);
  const { data: latest } = await get('/api/svc/onchain-oracle/latest');
  const verified = await get(`/api/svc/onchain-oracle/verify/${latest.uid}`);
  for (const { predictionId, btcAtSignal, provisional } of [...predictions, ...data, latest, verified]) {
    expect(btcAtSignal, predictionId).toBeTypeOf('number');
    expect(provisional, predictionId).toBe(open.has(predictionId));
  }
});

describe('the pages of the scorecard', () => {
  it('follow Link to the end, each forecast once, with the same figures on every page', async () => {
    const whole = await get('/api/svc/scorecard?horizon=2&limit=1000');
    expect(whole).toMatchObject({ count: DAYS, nextCursor: null });
    const entries: { sequence: number }[] = [];
    for (let next: string | null = '/api/svc/scorecard?horizon=2d&limit=5'; next !== null; ) {
      const response: Response = await fetchFrom(next);
      // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
      const { predictions, count, nextCursor, ...figures }: any = await response.json();
      expect([count, figures.summary, figures.stats]).toEqual([predictions.length, whole.summary, whole.stats]);
      entries.push(...predictions);
      const link = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
      next = link === undefined ? null : `${new URL(link).pathname}${new URL(link).search}`;
      expect(nextCursor).toBe(link === undefined ? null : String(predictions.at(-1).sequence));
    }
    expect(entries).toEqual(whole.predictions);
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: DAYS }, (_, index) => DAYS - index));
    expect((await get('/api/svc/scorecard?before=1')).predictions).toEqual([]);
  });

  it('are all forecasts in compact rows without limit, with the values of the pages', async () => {
    const whole = await get('/api/svc/scorecard?horizon=2');
    expect(whole).toMatchObject({ count: DAYS, nextCursor: null });
    const { predictions } = await get(`/api/svc/scorecard?horizon=2&limit=${DAYS}`);
    expect(predictions).toMatchObject(whole.predictions);
    expect(Object.keys(whole.predictions[0]).length).toBeLessThan(Object.keys(predictions[0]).length / 2);
    const longest = Math.max(...whole.predictions.map((row: object) => JSON.stringify(row).length));
    expect(longest).toBeLessThan(360);
  });

  it('show what a holder may see from the first answer after a change on', async () => {
    const headers = await asTier(service, 'basic');
    const [open] = (await get('/api/svc/scorecard', headers)).predictions;
    expect(open).toMatchObject({ signal: expect.stringMatching(/BUY|SELL|HOLD/), confidence: expect.any(Number) });
    expect((await get('/api/svc/scorecard')).predictions[0]).toMatchObject({ signal: 'GATED', direction: null, confidence: null });
  });

  it('stay below 40 kB with a limit, also at ten years of record', async () => {
    const { predictions, byRegime, byModelVersion, ...figures } = await get('/api/svc/scorecard?limit=20');
    const longest = (rows: object[]) => Math.max(...rows.map((row) => JSON.stringify(row).length));
    const bytes = JSON.stringify(figures).length + 20 * longest(predictions) + 7 * longest(byRegime) + 21 * longest(byModelVersion);
    expect(bytes).toBeLessThan(40_000);
  });
});

describe('attestations', () => {
  it('are listed newest first, and all verify on chain', async () => {
    const { data, attestations, count, total } = await get('/api/svc/onchain-oracle/history?horizons=all&limit=100');
    expect(attestations).toEqual(data);
    expect(count).toBe(data.length);
    expect(total).toBeGreaterThan(100);
    const times = data.map(({ attestedAt }: { attestedAt: string }) => attestedAt);
    expect(times).toEqual(times.toSorted().reverse());
    for (const { uid, type, resolved } of data) {
      const verified = await get(`/api/svc/onchain-oracle/verify/${uid}`);
      expect(verified, uid).toMatchObject({
        success: true,
        uid,
        verified: true,
        onChain: true,
        type,
        attester: service.http.wallets.attester.address,
      });
      expect(verified.data).toMatchObject({ uid, attester: service.http.wallets.attester.address, schemaVersion: '1' });
      expect(verified.data.decoded.length).toBe(type === 'prediction' ? 8 : 10);
      if (resolved) expect(verified.checks.map(({ check }: { check: string }) => check)).toContain('opening');
    }
  });

  it('are limited by `limit`, 30 by default', async () => {
    expect((await get('/api/svc/onchain-oracle/history?horizons=all')).count).toBe(30);
    expect((await get('/api/svc/onchain-oracle/history?limit=1')).count).toBe(1);
  });

  it('default to 7 days: one prediction per day, under both names', async () => {
    const { data, horizons, attestations } = await get('/api/svc/onchain-oracle/history?limit=100');
    expect(attestations).toEqual(data);
    expect(horizons).toEqual(['7d']);
    expect(new Set(data.map(({ horizon }: { horizon: string }) => horizon))).toEqual(new Set(['7d']));
    const dates = data.flatMap(({ type, date }: { type: string; date: string }) => (type === 'prediction' ? [date] : []));
    expect([dates.length, new Set(dates).size]).toEqual([DAYS, DAYS]);
  });

  it.each(['limit=7', 'limit=7&horizons=all', 'limit=5&horizons=2d,7', 'limit=3&horizon=1'])(
    'are paged by Link to the end, each once and newest first: %s',
    async (query) => {
      const entries: Record<string, string>[] = [];
      let [total, count] = [0, 0];
      for (let next: string | null = `/api/svc/onchain-oracle/history?${query}`; next !== null; ) {
        const response: Response = await fetchFrom(next);
        // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
        const body: any = await response.json();
        const link = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
        entries.push(...body.data);
        total = body.total;
        count += body.count;
        expect(body.attestations).toEqual(body.data);
        expect(link === undefined ? null : new URL(link).searchParams.get('before')).toBe(body.nextCursor);
        expect(body.nextCursor).toBe(link === undefined ? null : body.data.at(-1).uid);
        next = link === undefined ? null : `${new URL(link).pathname}${new URL(link).search}`;
      }
      const docs = await service.pipeline.record.forecasts.find({}).toArray();
      const chosen = docs.filter(({ horizonDays }) => entries.some(({ horizon }) => horizon === `${horizonDays}d`));
      const uids = chosen.flatMap(({ attestation, reveal }) => [attestation, reveal].flatMap((one) => one?.uid ?? []));
      expect(entries.map(({ uid }) => uid).toSorted()).toEqual(uids.toSorted());
      expect([total, count]).toEqual([uids.length, uids.length]);
      const times = entries.map(({ attestedAt }) => attestedAt);
      expect(times).toEqual(times.toSorted().reverse());
    },
  );

  it('reject a foreign cursor, and two horizon parameters', async () => {
    for (const [query, field] of [
      [`before=0x${'1'.repeat(64)}`, 'before'],
      ['before=12', 'before'],
      ['horizon=7d&horizons=all', 'horizons'],
      ['horizons=7d,9d', 'horizons'],
      ['horizons=', 'horizons'],
      ['horizon=all', 'horizon'],
    ])
      expect(await problem(`/api/svc/onchain-oracle/history?${query}`), query).toMatchObject({ status: 400, code: 'INPUT_INVALID', field });
  });

  it('precede their window, in a gapless sequence linked to their predecessor', async () => {
    for (const horizonDays of [1, 2, 3, 7]) {
      const docs = service.pipeline.record.known.listByHorizon(horizonDays);
      let previous: string | null = null;
      for (const [index, doc] of docs.entries()) {
        const onChain = await service.http.attestations.read(doc.attestation!.uid);
        expect(onChain!.at.getTime()).toBeLessThan(doc.windowOpensAt.getTime());
        expect(onChain!.decoded.find(({ name }) => name === 'sequence')!.value).toBe(index + 1);
        expect(onChain!.refUid).toBe(previous ?? `0x${'0'.repeat(64)}`);
        previous = doc.attestation!.uid;
      }
    }
  });

  it('return 404 for an unknown uid and 400 for a malformed one', async () => {
    expect(await problem(`/api/svc/onchain-oracle/verify/0x${'1'.repeat(64)}`)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    for (const uid of ['0x12', `0x${'g'.repeat(64)}`, `0x${'1'.repeat(65)}`, 'latest']) {
      expect(await problem(`/api/svc/onchain-oracle/verify/${uid}`)).toMatchObject({ status: 400, field: 'uid' });
    }
  });

  it('outside the record return 404 with attester and schema, for any Accept', async () => {
    const day = today() - 400;
    const times = { windowOpensAt: new Date((day + 1) * 86_400_000), resolvesAt: new Date((day + 8) * 86_400_000) };
    const digests = { commitment: zeroHash, inputsDigest: zeroHash, metadata: zeroHash, refUid: zeroHash };
    const stray = { sequence: 1, day, horizonDays: 7, ...times, ...digests };
    const [{ uid }] = await service.pipeline.attester.attestPredictions('attest:stray', [stray], REACHED);
    for (const Accept of ['application/json', 'text/html', '*/*']) {
      const body = await problem(`/api/svc/onchain-oracle/verify/${uid}`, { headers: { Accept } });
      const schema = { schemaUid: getSchemaUid('prediction'), schemaName: 'prediction' };
      const details = { ofThisService: false, attester: service.http.wallets.attester.address, ...schema };
      expect(body).toMatchObject({ status: 404, code: 'NOT_FOUND', field: 'uid', retryable: false, ...details });
      for (const member of ['data', 'uid', 'verified', 'decoded']) expect(body).not.toHaveProperty(member);
    }
  });

  it('have a latest one and statistics', async () => {
    expect((await get('/api/svc/onchain-oracle/latest')).data).toMatchObject({ type: 'prediction', horizon: '7d', resolved: false });
    for (const [query, horizons] of [
      ['', ['7d']],
      ['?horizon=2', ['2d']],
      ['?horizons=all', ['1d', '2d', '3d', '7d']],
    ] as const) {
      const stats = await get(`/api/svc/onchain-oracle/stats${query}`);
      expect(stats).toMatchObject({ horizons, totalAttestations: stats.predictions + stats.resolutions });
      expect(stats.data).toMatchObject({ totalPublished: horizons.length * DAYS, totalResolved: stats.resolutions });
      expect(BigInt(stats.data.totalGasWei)).toBeGreaterThan(0n);
      const { total } = await get(`/api/svc/onchain-oracle/history?limit=1&horizons=${horizons.join(',')}`);
      expect(total).toBe(stats.totalAttestations);
    }
    expect((await get('/api/svc/onchain-oracle/latest?horizon=2d')).data).toMatchObject({ type: 'prediction', horizon: '2d' });
    expect((await get('/api/svc/onchain-oracle/latest?horizons=all')).data.horizon).toBe('7d');
  });

  it('name metadata that hashes to the on-chain digest', async () => {
    const { data } = await get('/api/svc/onchain-oracle/latest');
    const bytes = new Uint8Array(await (await fetchFrom(`/ipfs/${data.cid}`)).arrayBuffer());
    const { data: onChain } = await get(`/api/svc/onchain-oracle/verify/${data.uid}`);
    const metadata = onChain.decoded.find(({ name }: { name: string }) => name === 'metadata').value;
    expect(sha256(bytes)).toBe(metadata);
    expect(Buffer.from(CID.parse(data.cid).multihash.digest).toString('hex')).toBe(metadata.slice(2));
    expect(await problem('/ipfs/bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')).toMatchObject({ status: 404 });
  });
});

describe('the agent', () => {
  it('has an on-chain identity and reputation', async () => {
    const identity = await get('/api/svc/agent/identity');
    expect(identity).toMatchObject({ registered: true, agentId: 0, chain: 'eip155:84532', wallet: service.http.wallets.attester.address });
    const reputation = await get('/api/svc/agent/reputation');
    expect(reputation).toMatchObject({ registered: true, agentId: 0 });
    expect(reputation.positive + reputation.negative).toBe(reputation.totalFeedback);
    const registration = await get('/.well-known/agent-registration.json');
    expect(registration.registrations[0]).toEqual({ agentId: 0, agentRegistry: `eip155:84532:${identity.registries.identity}` });
  });
});

describe('evidence of an outcome', () => {
  it('is served once reported, and hashes to the on-chain value', async () => {
    const { wagers } = service.pipeline;
    const date = formatDay(today() - 30);
    expect(await problem(`/api/svc/agent/feedback/${date}`)).toMatchObject({ status: 404 });
    await wagers.wagers.insertOne(settledWager(today() - 30, 'WIN'));
    expect(await problem(`/api/svc/agent/feedback/${date}`)).toMatchObject({ status: 404 });
    await runStep(service.pipeline, 'reputation', today(), createLiveContext(service.pipeline, new Date()));
    const bytes = new Uint8Array(await (await fetchFrom(`/api/svc/agent/feedback/${date}`)).arrayBuffer());
    const { feedbackTxHash } = (await wagers.wagers.findOne({ _id: date, feedbackTxHash: { $ne: null } }))!;
    const { input } = await callJsonRpc<{ input: string }>(service.infrastructure.rpcUrl, 'eth_getTransactionByHash', feedbackTxHash);
    expect(input).toContain(keccak256(bytes).slice(2));
    const { registries, chain } = await get('/api/svc/agent/identity');
    expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({
      agentRegistry: `${chain}:${registries.identity}`,
      agentId: 0,
      clientAddress: `${chain}:${service.pipeline.reporter.address}`,
      createdAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      ...{ value: 10_000, valueDecimals: 2, date },
    });
    await wagers.wagers.deleteOne({ _id: date });
  });

  it('keeps the bytes that an earlier version reported, without header, also after a crash', async () => {
    const { wagers, reporter } = service.pipeline;
    const served = async (date: string) => new Uint8Array(await (await fetchFrom(`/api/svc/agent/feedback/${date}`)).arrayBuffer());
    const wager = settledWager(today() - 31, 'LOSS');
    const { json, hash } = buildWagerEvidence(wager);
    expect(json).not.toContain('agentRegistry');
    await wagers.wagers.insertOne({ ...wager });
    await reporter.report(`feedback:${wager._id}`, { outcome: 'LOSS', endpoint: '', feedbackHash: hash }, REACHED);
    await runStep(service.pipeline, 'reputation', today(), createLiveContext(service.pipeline, new Date()));
    expect(keccak256(await served(wager._id))).toBe(hash);
    await wagers.wagers.deleteOne({ _id: wager._id });
  });
});

describe('operation', () => {
  it('reports liveness, readiness and status', async () => {
    expect(await get('/health')).toMatchObject({ status: 'ok' });
    expect(await get('/ready')).toMatchObject({ ready: true });
    const status = await get('/api/status');
    expect(status).toMatchObject({ ready: true, market: { source: 'simulated (seed 2)' }, record: { days: DAYS, replayedDays: DAYS } });
    // Whether an order waits says that there is one: that the day is no HOLD.
    const steps = status.steps.map(({ step }: { step: string }) => step);
    expect(steps).toEqual(expect.arrayContaining(['signal', 'attest', 'open-window']));
    expect(steps).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(?:wager|settle)$/)]));
    expect((await get('/api/cache/stats')).caches.length).toBeGreaterThan(2);
    const attesterAddress = service.http.wallets.attester.address;
    const [attester] = status.wallets;
    const balance = await callJsonRpc<Hex>(service.infrastructure.rpcUrl, 'eth_getBalance', attesterAddress, 'latest');
    expect(attester).toMatchObject({ role: 'attester', address: attesterAddress, balanceWei: BigInt(balance).toString() });
    expect(attester.daysLeft).toBeGreaterThan(0);
    expect(status.wallets.map(({ role }: { role: string }) => role)).toEqual(['attester', 'reporter', 'provider']);
  });

  it('is not ready during startup', async () => {
    service.progress.startStep('replaying days of history', { done: 3, total: 16 });
    const response = await fetchFrom('/ready');
    service.progress.complete();
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      ready: false,
      checks: expect.arrayContaining([{ name: 'setup', ok: false, detail: 'replaying days of history: 3 of 16' }]),
    });
  });

  it('lists its operations', async () => {
    const { resources } = await get('/');
    expect(resources.map(({ url }: { url: string }) => new URL(url).pathname)).toContain('/api/svc/scorecard');
  });
});

describe('invalid input', () => {
  it.each([
    ['/api/svc/open/signal?horizon=4d', 'horizon'],
    ['/api/svc/open/signal?horizon=77', 'horizon'],
    ['/api/svc/open/signal?horizon=', 'horizon'],
    ['/api/svc/open/signal?horizon=7d&horizon=3d', 'horizon'],
    ['/api/svc/scorecard?horizon=7dd', 'horizon'],
    ['/api/svc/scorecard?horizon=4', 'horizon'],
    ['/api/svc/onchain-oracle/history?limit=0', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=101', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=-1', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=1.5', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=1e1', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=abc', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=3&limit=4', 'limit'],
    ['/ipfs/notacid', 'cid'],
    ['/api/svc/agent/feedback/2026-02-30', 'date'],
  ])('%s returns an error that names %s', async (path, field) => {
    expect(await problem(path)).toMatchObject({ status: 400, code: 'INPUT_INVALID', field, retryable: false });
  });

  it.each([
    ['/api/svc/onchain-oracle/history?offset=30', 'offset', 'before'],
    ['/api/svc/onchain-oracle/history?cursor=abc', 'cursor', 'before'],
    ['/api/svc/scorecard?page=2', 'page', 'horizon'],
    ['/api/svc/wagers?pageSize=10', 'pageSize', 'limit'],
    ['/api/svc/wagers?per_page=10', 'per_page', 'limit'],
    ['/api/svc/open/signal?limit=10', 'limit', 'horizon'],
    ['/api/btc-price?From=1', 'From', 'no query parameters'],
    ['/api/svc/challenge?page=2', 'page', 'no query parameters'],
  ])('%s is rejected, since an ignored page would repeat forever', async (path, field, taken) => {
    const { detail, ...rest } = await problem(path);
    expect(rest).toMatchObject({ status: 400, code: 'INPUT_INVALID', field });
    expect(detail).toContain(taken);
  });

  it.each(['/health?from=balancer', '/ready?start=1', '/?from=letter', '/api/svc/widget?size=large'])(
    '%s is not a paging parameter',
    async (path) => {
      expect((await fetchFrom(path)).status).toBe(200);
    },
  );

  it.each([
    ['/api/svc/open/signal?horizn=3d', 'horizn', 'horizon'],
    ['/api/svc/scorecard?Limit=3', 'Limit', 'limit'],
    ['/api/svc/open/range?horizonss=all', 'horizonss', 'horizons'],
    ['/api/svc/daily-brief?dat=2026-11-20', 'dat', 'date'],
    ['/api/svc/widget?theem=dark', 'theem', 'theme'],
    ['/f?form=2026-11-20', 'form', 'from'],
  ])('%s is rejected, since it was meant for another parameter', async (path, field, meant) => {
    const { detail, suggestedAction, ...rest } = await problem(path);
    expect(rest).toMatchObject({ status: 400, code: 'INPUT_INVALID', field });
    expect(detail).toBe(`query parameter "${field}": is unknown; did you mean "${meant}"?`);
    expect(suggestedAction).toContain(`"${meant}"`);
  });

  it('in undeclared parameters is ignored', async () => {
    const tags =
      '_ cb t ts ver version nocache cachebust rand random utm_source utm_medium utm_campaign utm_term utm_content gclid fbclid mc_cid ref source campaign';
    for (const path of ['/api/svc/scorecard?horizon=7', '/api/svc/open/range?horizons=all', '/api/svc/skills?x=y']) {
      await get(`${path}&colour=blue&${tags.replaceAll(' ', '=1&')}=1`);
    }
  });

  it('in path or method returns 404 or 405', async () => {
    expect(await problem('/api/svc/nothing')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await problem('/api/svc/scorecard', { method: 'POST' })).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(await problem('/ipfs/%E0%A4%A')).toMatchObject({ status: 400 });
  });
});
