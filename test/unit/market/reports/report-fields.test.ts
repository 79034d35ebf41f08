import { describe, expect, it } from 'vitest';
import { type Day, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { buildReportSchema } from '../../../../src/http/routes/market.ts';
import { openCsvFeed } from '../../../../src/market/csv.ts';
import type { Feed } from '../../../../src/market/feed.ts';
import { MARKET_REPORTS } from '../../../../src/market/reports/reports.ts';
import { SERIES_IDS, type SeriesId } from '../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { buildDailyCsv, createCsvFolder } from '../csv/csv-folder.ts';
import { buildDailyPairs, buildObservations, createMemoryFeed } from '../memory-feed.ts';
import { readReportBody } from './report-body.ts';

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
