import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { openCsvFeed } from '../../../src/market/csv.ts';
import { getSignalTimeMs } from '../../../src/market/feed.ts';
import { buildDailyCsv, createCsvFolder } from './csv-folder.ts';
import { describeFeedContract, describeScheduledFeed } from './feed-contract.ts';

const first = parseDay('2014-01-01');
const last = parseDay('2016-06-30');

function folder(files: Record<string, string> = {}): string {
  return createCsvFolder({
    'btc_daily.csv': buildDailyCsv('close_median', first, last),
    'fear_greed_daily.csv': buildDailyCsv('fng', first, last + 2, (day) => day % 101),
    'etf_flows_farside.csv': buildDailyCsv('total_musd', first, last, (day) => day / 10),
    ...files,
  });
}

describeFeedContract('the CSV feed', () => openCsvFeed(folder()), last - 10);
describeScheduledFeed('the CSV feed', () => openCsvFeed(folder()), last - 10);

describe('openCsvFeed', () => {
  it('has the folder name as source and the prices as coverage', async () => {
    const path = folder();
    const feed = await openCsvFeed(`${path}/`);
    expect(feed).toMatchObject({ kind: 'csv', source: 'csv:prices' });
    expect(await feed.coverage()).toEqual({ firstDay: first, lastDay: last });
  });

  it('returns the close as spot price from 21:35 UTC', async () => {
    const feed = await openCsvFeed(folder());
    const spot = await feed.spot(getSignalTimeMs(last));
    expect(spot).toMatchObject({ priceUsd: last, observedAtMs: getSignalTimeMs(last) });
    expect(spot.change24hPct).toBeCloseTo(100 / (last - 1), 12);
    expect(await feed.spot(getSignalTimeMs(last) - 1)).toMatchObject({ priceUsd: last - 1, observedAtMs: toInstantMs(last) });
  });

  it.each([
    ['after its last day', toInstantMs(last + 1)],
    ['before its first', toInstantMs(first) - 1],
    ['before the first close', toInstantMs(first, 12)],
  ])('throws PRICE_UNAVAILABLE %s', async (_, atMs) => {
    const feed = await openCsvFeed(folder());
    await expect(feed.spot(atMs)).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
      message: expect.stringContaining('covers 2014-01-01 to 2016-06-30'),
    });
  });

  it('returns the close of a covered day, and a reason for any other', async () => {
    const feed = await openCsvFeed(folder());
    expect(await feed.dailyCloses(last, toInstantMs(last + 1))).toEqual([{ venue: feed.source, priceUsd: last }]);
    expect(await feed.dailyCloses(last + 1, toInstantMs(last + 9))).toEqual([
      { venue: feed.source, priceUsd: null, reason: 'not in the files' },
    ]);
  });

  it('reads prices until February 2014 from the on-chain file', async () => {
    const feed = await openCsvFeed(
      folder({ 'onchain_coinmetrics.csv': buildDailyCsv('price_usd,realized_price_usd', first - 3, last, (day) => `${day * 2},7`) }),
    );
    const { days, values, source } = await feed.observations('btcClose', toInstantMs(last));
    const at = (date: string) => values[days.indexOf(parseDay(date))];
    expect(days[0]).toBe(first - 3);
    expect(at('2014-02-28')).toBe(2 * parseDay('2014-02-28'));
    expect(at('2014-03-01')).toBe(parseDay('2014-03-01'));
    expect(source).toBe('onchain_coinmetrics.csv + btc_daily.csv');
  });

  it('returns an empty series without its file', async () => {
    const feed = await openCsvFeed(folder());
    const vix = await feed.observations('vix', toInstantMs(last));
    expect(vix.days).toHaveLength(0);
    expect(vix.source).toBe('none (vix_daily.csv is missing or empty)');
  });

  it('treats an empty cell as a missing value', async () => {
    const gap = first + 5;
    const feed = await openCsvFeed(folder({ 'vix_daily.csv': buildDailyCsv('close', first, last, (day) => (day === gap ? '' : 20)) }));
    const { days } = await feed.observations('vix', toInstantMs(last));
    expect([...days.slice(4, 6)]).toEqual([gap - 1, gap + 1]);
  });

  it('dates the PMI by its release and skips unreleased figures', async () => {
    const text = 'month,pmi_first_print,release_date\n2013-12-01,,\n2014-01-01,51.3,2014-02-03\n2014-02-01,53.2,2014-03-03\n';
    const feed = await openCsvFeed(folder({ 'ism_manufacturing_pmi_monthly.csv': text }));
    const released = parseDay('2014-03-03');
    expect((await feed.observations('pmi', toInstantMs(released, 14))).values).toEqual(Float64Array.of(51.3));
    expect((await feed.observations('pmi', toInstantMs(released, 15))).values).toEqual(Float64Array.of(51.3, 53.2));
  });
});

describe('optional files of a folder', () => {
  it.each([
    ['us2y', 'us2y_daily.csv', 'date,close'],
    ['policyRate', 'fed_policy_rate_upper_monthly.csv', 'date,rate'],
    ['sthRealizedPrice', 'sth_realized_price_daily.csv', 'date,sth_realized_price_usd'],
    ['perpBasis', 'perp_basis_daily.csv', 'date,basis'],
  ] as const)('add %s', async (series, file, header) => {
    const feed = await openCsvFeed(folder({ [file]: `${header}\n2016-05-01,4.25\n2016-06-01,4.5\n` }));
    const { source, days, values } = await feed.observations(series, toInstantMs(parseDay('2016-06-02')));
    expect({ source, values: [...values] }).toEqual({ source: file, values: [4.25, 4.5] });
    expect([...days]).toEqual([parseDay('2016-05-01'), parseDay('2016-06-01')]);
    expect((await feed.observations(series, toInstantMs(parseDay('2016-06-02')) - 1)).days).toHaveLength(1);
  });
});

describe('fund flows of a folder', () => {
  const text = 'date,total_musd,AAA,BBB\n2016-06-01,3,1,2\n2016-06-02,-1.5,,-1.5\n2016-06-03,4,4,0\n';

  it('are the columns other than the total, as published', async () => {
    const feed = await openCsvFeed(folder({ 'etf_flows_farside.csv': text }));
    const { AAA, BBB, ...others } = await feed.fundFlows(toInstantMs(parseDay('2016-06-04'), 12) - 1);
    expect(others).toEqual({});
    expect([...AAA.values]).toEqual([1]);
    expect(BBB.source).toBe('etf_flows_farside.csv');
    expect([...BBB.days]).toEqual([parseDay('2016-06-01'), parseDay('2016-06-02')]);
    expect([...BBB.values]).toEqual([2, -1.5]);
  });

  it('are empty without the file or with totals only', async () => {
    expect(await (await openCsvFeed(folder())).fundFlows(toInstantMs(last))).toEqual({});
    const bare = await openCsvFeed(createCsvFolder({ 'btc_daily.csv': buildDailyCsv('close_median', first, last) }));
    expect(await bare.fundFlows(toInstantMs(last))).toEqual({});
  });

  it('must be numbers', async () => {
    const bad = folder({ 'etf_flows_farside.csv': text.replace(',4,0', ',4,none') });
    await expect(openCsvFeed(bad)).rejects.toThrow(/etf_flows_farside\.csv, line 4: "none" in column "BBB" is not a number/);
  });
});

describe('an invalid folder', () => {
  const btc = (text: string) => ({ 'btc_daily.csv': text });

  it.each([
    ['a missing required file', {}, 'btc_daily.csv is missing', 'date and close_median'],
    ['a missing column', btc('date,close\n2014-01-01,1\n'), 'btc_daily.csv, line 1: column "close_median" is missing', 'date, close'],
    ['a number that is none', btc('date,close_median\n2014-01-01,1\n2014-01-02,1.000,5\n'), 'btc_daily.csv, line 3: not readable', 'cells'],
    ['a text for a number', btc('date,close_median\n2014-01-01,n/a\n'), 'btc_daily.csv, line 2: "n/a" in column "close_median"', 'empty'],
    ['an impossible date', btc('date,close_median\n2014-02-30,1\n'), 'line 2: "2014-02-30" in column "date" is not a date', 'YYYY-MM-DD'],
    ['a date twice', btc('date,close_median\n2014-01-01,1\n\n2014-01-01,2\n'), 'line 4: 2014-01-01 appears twice', 'Sort'],
    ['dates out of order', btc('date,close_median\n2014-01-02,1\n2014-01-01,2\n'), 'line 3: 2014-01-01 follows 2014-01-02', 'Sort'],
    ['a missing day', btc('date,close_median\n2014-01-01,1\n2014-01-03,2\n'), 'line 3: no price of 2014-01-02', 'Add'],
    ['a missing price', btc('date,close_median\n2014-01-01,1\n2014-01-02,\n2014-01-03,2\n'), 'line 4: no price of 2014-01-02', 'Add'],
    ['a price of zero', btc('date,close_median\n2014-01-01,0\n'), 'line 2: "0" in column "close_median" is not a price', 'greater'],
    ['an open quote', btc('date,close_median\n2014-01-01,"1\n'), 'btc_daily.csv, line', 'quotes'],
    ['an empty file', btc(''), 'btc_daily.csv, line 1: the file is empty', 'header'],
    ['no rows', btc('date,close_median\n'), 'btc_daily.csv holds no price', 'rows'],
  ])('reports the line of %s with a suggested action', async (_, files: Record<string, string>, message, action) => {
    await expect(openCsvFeed(createCsvFolder(files))).rejects.toMatchObject({
      code: 'FEED_INVALID',
      message: expect.stringContaining(message),
      suggestedAction: expect.stringContaining(action),
    });
  });

  it('reports an invalid line of an optional file', async () => {
    const bad = folder({ 'gold_daily.csv': 'date,close\n2014-01-02,1200\n2014-01-03,x\n' });
    await expect(openCsvFeed(bad)).rejects.toThrow(/gold_daily\.csv, line 3: "x" in column "close" is not a number/);
  });

  it('reports a missing folder', async () => {
    await expect(openCsvFeed('/nowhere/at/all')).rejects.toMatchObject({ code: 'FEED_INVALID', message: '/nowhere/at/all does not exist' });
    const path = folder();
    await expect(openCsvFeed(`${path}/btc_daily.csv`)).rejects.toThrow(/is not a folder/);
  });
});
