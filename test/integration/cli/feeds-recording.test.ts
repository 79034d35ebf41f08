import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { askOnce } from '../../../src/cli/feeds.ts';
import { serveApp } from '../../support/http/serve.ts';
import { sharedPath } from '../../support/record/shared.ts';

/** Answers of providers as they were captured, by the beginning of the path. */
const SAMPLES: [prefix: string, sample: string][] = [
  ['/yahoo/v8/finance/chart/DX-Y', 'yahoo_chart_dxy.json'],
  ['/yahoo/v8/finance/chart/%5EGSPC', 'yahoo_chart_spx.json'],
  ['/bitview/api/series/sth_realized_price', 'bitview_sth_realized_price.json'],
  ['/bitcoin-data/v1/sth-realized-price', 'bitcoin_data_sth_realized_price.json'],
  ['/sosovalue/openapi/v2/etf/historicalInflowChart', 'etf_sosovalue_inflow.json'],
];

it.each([
  ['2026-08-22T12:00:00Z', ['sp500 yahoo', 'dxy yahoo', 'etfFlow sosovalue']],
  ['2026-09-16T12:00:00Z', ['sthRealizedPrice bitview', 'sthRealizedPrice bitcoin-data', 'sp500 yahoo', 'dxy yahoo']],
])('at %s asks every provider once, keeps the answers, and reads the same out of the folder without a network', async (at, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'oracle-recording-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const asked: string[] = [];
  const host = await serveApp((request, response) => {
    asked.push(request.url!);
    const sample = SAMPLES.find(([prefix]) => request.url!.startsWith(prefix))?.[1];
    response.writeHead(sample === undefined ? 451 : 200, { 'content-type': 'text/plain' });
    response.end(sample === undefined ? 'not here' : readFileSync(sharedPath('data/api-samples', sample)));
  });
  const settings = { PROVIDER_URLS: `*=${host.url}/{provider}`, SOSOVALUE_API_KEY: 's3cr3t-key-of-the-operator' };
  const live = await askOnce(settings, { record: folder }, Date.parse(at));
  await host.close();
  const requests = asked.length;
  const elsewhere = { PROVIDER_URLS: '*=http://127.0.0.1:9/{provider}', SOSOVALUE_API_KEY: undefined };
  expect(await askOnce(elsewhere, { replay: folder })).toEqual(live);
  expect(asked.length).toBe(requests);

  const read = live.filter(({ problem }) => problem === undefined);
  expect(read.map(({ what, provider }) => `${what} ${provider}`)).toEqual(expected);
  for (const { what, value, ageMs, differs, terms } of read) {
    expect([Number.isFinite(value), ageMs! >= 0, terms !== '']).toEqual([true, true, true]);
    if (what === 'sthRealizedPrice') expect(Math.abs(differs!)).toBeLessThan(0.02);
  }
  expect(live.find(({ provider }) => provider === 'kraken')?.problem).toMatch(/^Kraken: .* answered 451$/);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
  expect(files.map((file) => readFileSync(join(folder, file), 'utf8')).join('')).not.toContain('s3cr3t');
});
