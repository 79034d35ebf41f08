import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { type Day, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { buildReportSchema } from '../../../../src/http/routes/market.ts';
import { openCsvFeed } from '../../../../src/market/csv.ts';
import type { Feed } from '../../../../src/market/feed.ts';
import { createMarket } from '../../../../src/market/market.ts';
import { MARKET_REPORTS } from '../../../../src/market/reports/reports.ts';
import { SERIES_IDS, type SeriesId } from '../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { buildDailyCsv, createCsvFolder } from '../csv-folder.ts';
import { buildDailyPairs, buildObservations, createMemoryFeed } from '../memory-feed.ts';
import { type Body, readReportBody } from './report-body.ts';

describe('registry', () => {
  const DAY = parseDay('2025-06-12');
  const AT = toInstantMs(DAY, 9, 30);

  const folder = () =>
    createCsvFolder({
      'btc_daily.csv': buildDailyCsv('close_median', DAY - 200, DAY, (day) => 60_000 + 500 * Math.sin(day)),
      'fear_greed_daily.csv': buildDailyCsv('fng', DAY - 200, DAY, (day) => day % 101),
    });

  /** Every number and text of a body with its path. */
  function leaves(value: unknown, path = ''): [string, unknown][] {
    if (value === null || typeof value !== 'object') return [[path, value]];
    return Object.entries(value).flatMap(([name, inner]) => leaves(inner, `${path}.${name}`));
  }

  describe.each(MARKET_REPORTS.map((report) => [report.path, report] as const))('%s', (_, report) => {
    it.each([
      ['the simulated feed', async () => openSimulatedFeed()],
      ['a folder with little in it', async () => openCsvFeed(folder())],
      [
        'a folder long after its end',
        async () => openCsvFeed(createCsvFolder({ 'btc_daily.csv': buildDailyCsv('close_median', DAY - 900, DAY - 700) })),
      ],
    ])('is complete on %s', async (_name, open) => {
      const feed = await open();
      const body: Body = await readReportBody(report, feed, AT);
      expect(body).toMatchObject({ success: true, kind: feed.kind, source: feed.source, asOf: new Date(AT).toISOString() });
      expect(body.timestamp).toBe(body.inputs[0].observedAt);
      expect(body.inputs.map(({ series }: { series: string }) => series)).toEqual(report.dependsOn);
      expect(body.stale).toBe(body.inputs.some(({ stale }: { stale: boolean }) => stale));
      for (const [path, value] of leaves(body)) {
        if (typeof value === 'number') expect(String(value).replace(/^-?\d+\.?/, '').length, `${path} = ${value}`).toBeLessThanOrEqual(8);
      }
    });

    it('is not stale and has no null on the simulated feed', async () => {
      const body = await readReportBody(report, openSimulatedFeed(), AT);
      expect(body.stale).toBe(false);
      const missing = leaves(body).filter(([path, value]) => value === null && !path.endsWith('reason'));
      expect(missing).toEqual([]);
    });

    it('reads the price only if it depends on it', async () => {
      const spot = () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'none'));
      const built = readReportBody(report, createMemoryFeed({}, { spot }), AT);
      if (report.dependsOn.includes('spot')) await expect(built).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
      else await expect(built).resolves.toMatchObject({ success: true });
    });
  });

  describe('reports of a market', () => {
    it('are built once a minute', async () => {
      const [price] = MARKET_REPORTS;
      const feed = createMemoryFeed({});
      const market = createMarket(feed);
      const first = await market.report(price, AT + 1_000);
      expect(await market.report(price, AT + 59_999)).toBe(first);
      await market.report(price, AT + 60_000);
      expect(feed.calls).toEqual(['spot', 'spot']);
    });
  });
});

describe('report fields', () => {
  const DAY = parseDay('2025-06-12');
  const AT = toInstantMs(DAY, 9, 30);

  const closes = buildDailyCsv('close_median', DAY - 200, DAY, (day) => 60_000 + 500 * Math.sin(day));

  /** Every series with a value a day, from `first` to `last`. */
  function filled(first: Day, last: Day): Feed {
    const series = SERIES_IDS.map((id) => [
      id,
      buildObservations(
        id,
        buildDailyPairs(first, last, (day) => 40 + Math.sin(day)),
      ),
    ]);
    return createMemoryFeed(Object.fromEntries(series) as Record<SeriesId, ReturnType<typeof buildObservations>>);
  }

  const FEEDS: Record<string, () => Feed | Promise<Feed>> = {
    'the simulated feed': openSimulatedFeed,
    'a folder with prices only': () => openCsvFeed(createCsvFolder({ 'btc_daily.csv': closes })),
    'a folder whose index has fractions': () =>
      openCsvFeed(createCsvFolder({ 'btc_daily.csv': closes, 'fear_greed_daily.csv': buildDailyCsv('fng', DAY - 40, DAY, () => 54.6) })),
    'live data': () => filled(DAY - 400, DAY - 1),
    'live data of one day': () => filled(DAY - 1, DAY - 1),
    'live data that has stopped': () => filled(DAY - 400, DAY - 100),
    'live data of which nothing but the price is known': () => createMemoryFeed({}),
  };

  describe.each(MARKET_REPORTS.map((report) => [report.path, report] as const))('%s', (_, report) => {
    const schema = buildReportSchema(report);

    it.each(Object.entries(FEEDS))('returns exactly its declared fields on %s', async (_name, open) => {
      expect(undocumented(schema, await readReportBody(report, await open(), AT))).toEqual([]);
    });

    it('describes every field', () => {
      expect(Object.entries(schema.shape).filter(([, field]) => !field.description)).toEqual([]);
    });
  });

  it('rounds the index and labels the rounded value', async () => {
    const fearGreed = MARKET_REPORTS.find(({ path }) => path === '/api/fear-greed')!;
    const body = await readReportBody(fearGreed, await FEEDS['a folder whose index has fractions'](), AT);
    expect(body).toMatchObject({ value: 55, label: 'Greed', yesterday: { value: 55, label: 'Greed' } });
  });
});
