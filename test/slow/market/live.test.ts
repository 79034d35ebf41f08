import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatDay } from '../../../src/forecast/day.ts';
import { PROVIDER_IDS } from '../../../src/market/live/provider.ts';
import { MARKET_REPORTS } from '../../../src/market/reports/reports.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { hostedMarket, startLiveHost } from '../../support/market/live-host.ts';
import type { ProviderHost } from '../../support/market/provider-host.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';
import { selfTestAnswers } from '../../support/service/self-tests.ts';
import { spawnNode, today } from '../../support/service/service.ts';

const DAYS = 8;

let host: ProviderHost;
let dataDir: string;
let running: RunningService | undefined;

beforeEach(async () => {
  host = await startLiveHost();
  dataDir = await mkdtemp(join(tmpdir(), 'oracle-live-'));
});
afterEach(async () => {
  running?.child.kill('SIGTERM');
  await running?.ended;
  running = undefined;
  await host.close();
  await removeFolder(dataDir);
});

const environment = (feeds: string) => ({
  DATA_DIR: dataDir,
  FEEDS: feeds,
  REPLAY_DAYS: String(DAYS),
  PROVIDER_URLS: host.providerUrls,
});
const start = async (feeds: string) => {
  running = await startService(environment(feeds));
  return running;
};
// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
const get = async (path: string): Promise<any> => (await fetch(`${running!.url}${path}`)).json();

describe('a service on live feeds', () => {
  it('goes through the whole day: history, replay, forecast, commitment, and every report with its source and age', async () => {
    const { output } = await start('auto');
    expect(output()).toMatch(/Fetching history .*\d+\/\d+/);
    const { predictions, source } = await get('/api/svc/scorecard?horizon=1');
    expect(source).toBe('live');
    expect(predictions.length).toBeGreaterThanOrEqual(DAYS);
    expect(predictions.at(-1)).toMatchObject({ date: formatDay(today() - DAYS), replayed: true });

    const signal = await spawnNode(['bin/pipeline.mjs', 'signal', formatDay(today()), '--early'], environment('live')).ended;
    expect(signal).toMatchObject({ code: 0, output: expect.stringMatching(/forecast at/) });
    const attest = await spawnNode(['bin/pipeline.mjs', 'attest'], environment('live')).ended;
    expect(attest, attest.output).toMatchObject({ code: 0 });
    const open = await get('/api/svc/open/signal');
    expect(open).toMatchObject({ source: 'live', status: 'PENDING', signal: 'GATED', replayed: false });
    expect(open.timestamp.slice(0, 10)).toBe(formatDay(today()));
    expect(Math.abs(open.btcPrice / (await hostedMarket.spot(Date.now())).priceUsd - 1)).toBeLessThan(0.02);

    for (const { path } of MARKET_REPORTS) {
      const report = await get(path);
      expect(report, path).toMatchObject({ success: true, kind: 'live', source: 'live' });
      expect(report.ageSeconds, path).toBeGreaterThanOrEqual(0);
    }
    const venues = async () => (await get('/api/svc/prediction-markets')).markets.map(({ venue }: { venue: string }) => venue);
    // Strikes come with the collector's first round; answers are kept for a minute.
    await vi.waitFor(async () => expect(new Set(await venues())).toEqual(new Set(['polymarket', 'kalshi', 'paper'])), {
      timeout: 65_000,
      interval: 1_000,
    });
    for (const answer of (await selfTestAnswers(get)).slice(1)) expect(answer).toMatchObject({ source: 'live', simulated: false });
    const { market } = await get('/api/status');
    expect(market.providers.find(({ provider }: { provider: string }) => provider === 'kraken')).toMatchObject({ circuit: 'closed' });
    expect(market.series.find(({ series }: { series: string }) => series === 'sp500')).toMatchObject({
      source: 'yahoo',
      providers: [
        { provider: 'yahoo', circuit: 'closed' },
        { provider: 'fred', circuit: 'closed' },
      ],
    });
  });

  it('stays up without any provider, reports it, and recovers; a second start sends few requests', async () => {
    for (const id of PROVIDER_IDS) host.fault(id, 'server-error');
    const run = spawnNode(['bin/start.mjs'], { ...environment('live'), PORT: '0' });
    let output = '';
    for (const stream of [run.child.stdout!, run.child.stderr!]) {
      stream.on('data', (text: string) => {
        output += text;
      });
    }
    running = { ...run, url: '', output: () => output };
    await vi.waitUntil(() => output.includes('market history is incomplete'), { timeout: 40_000, interval: 50 });
    expect(run.child.exitCode).toBeNull();
    for (const id of PROVIDER_IDS) host.heal(id);
    await vi.waitUntil(() => /is up: http/.test(output), { timeout: 60_000, interval: 50 });
    running.url = /is up: (http:\S+)/.exec(output)![1];
    expect((await get('/api/svc/scorecard')).predictions.length).toBeGreaterThanOrEqual(DAYS);
    expect(output.match(/provider failing/g)?.length ?? 0).toBeLessThanOrEqual(PROVIDER_IDS.length);

    run.child.kill('SIGTERM');
    await run.ended;
    const asked = () => PROVIDER_IDS.reduce((sum, id) => sum + host.requests(id).length, 0);
    const before = asked();
    await start('live');
    expect(asked() - before).toBeLessThan(40);
  });

  it('auto: falls back to the simulation within three seconds if no venue answers, and the record continues with it', async () => {
    for (const id of PROVIDER_IDS) host.fault(id, 'slow');
    const { output } = await start('auto');
    expect(output()).toMatch(/no live data could be reached within 3 s: the market is SIMULATED/);
    expect((await get('/api/btc-price')).kind).toBe('simulated');
    running!.child.kill('SIGTERM');
    await running!.ended;
    for (const id of PROVIDER_IDS) host.heal(id);
    const again = await start('auto');
    expect(again.output()).toMatch(/was made from the SIMULATED market/);
    expect((await get('/api/status')).market.kind).toBe('simulated');
  });
});
