import { describe, expect, it } from 'vitest';
import { type Day, instantOf, parseDay } from '../../../../src/forecast/day.ts';
import { reportReply } from '../../../../src/http/schemas/market.ts';
import { openCsvFeed } from '../../../../src/market/csv/feed.ts';
import type { Feed } from '../../../../src/market/feed.ts';
import { MARKET_REPORTS } from '../../../../src/market/reports/all.ts';
import { SERIES_IDS, type SeriesId } from '../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated/feed.ts';
import { undocumented } from '../../../support/reply-schema.ts';
import { csvFolder, dailyCsv } from '../csv/support.ts';
import { everyDay, memoryFeed, observationsOf } from '../support.ts';
import { asRead } from './support.ts';

const DAY = parseDay('2025-06-12');
const AT = instantOf(DAY, 9, 30);

const closes = dailyCsv('close_median', DAY - 200, DAY, (day) => 60_000 + 500 * Math.sin(day));

/** Every series with a value a day, from `first` to `last`. */
function filled(first: Day, last: Day): Feed {
  const series = SERIES_IDS.map((id) => [
    id,
    observationsOf(
      id,
      everyDay(first, last, (day) => 40 + Math.sin(day)),
    ),
  ]);
  return memoryFeed(Object.fromEntries(series) as Record<SeriesId, ReturnType<typeof observationsOf>>);
}

const FEEDS: Record<string, () => Feed | Promise<Feed>> = {
  'the simulated feed': openSimulatedFeed,
  'a folder with prices only': () => openCsvFeed(csvFolder({ 'btc_daily.csv': closes })),
  'a folder whose index has fractions': () =>
    openCsvFeed(csvFolder({ 'btc_daily.csv': closes, 'fear_greed_daily.csv': dailyCsv('fng', DAY - 40, DAY, () => 54.6) })),
  'live data': () => filled(DAY - 400, DAY - 1),
  'live data of one day': () => filled(DAY - 1, DAY - 1),
  'live data that has stopped': () => filled(DAY - 400, DAY - 100),
  'live data of which nothing but the price is known': () => memoryFeed({}),
};

describe.each(MARKET_REPORTS.map((report) => [report.path, report] as const))('%s', (_, report) => {
  const schema = reportReply(report);

  it.each(Object.entries(FEEDS))('tells what its fields say, and nothing else, on %s', async (_name, open) => {
    expect(undocumented(schema, await asRead(report, await open(), AT))).toEqual([]);
  });

  it('describes every field', () => {
    expect(Object.entries(schema.shape).filter(([, field]) => !field.description)).toEqual([]);
  });
});

it('tells the index in whole numbers, with the label of the number that is told', async () => {
  const fearGreed = MARKET_REPORTS.find(({ path }) => path === '/api/fear-greed')!;
  const body = await asRead(fearGreed, await FEEDS['a folder whose index has fractions'](), AT);
  expect(body).toMatchObject({ value: 55, label: 'Greed', yesterday: { value: 55, label: 'Greed' } });
});
