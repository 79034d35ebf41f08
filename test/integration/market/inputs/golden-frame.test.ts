import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { type Day, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import {
  BUSINESS_DAY_COLUMNS,
  type BusinessDayColumn,
  DAILY_COLUMNS,
  type DailyColumn,
  type InputFrame,
} from '../../../../src/forecast/inputs.ts';
import { openCsvFeed } from '../../../../src/market/csv.ts';
import { type Feed, getSignalTimeMs } from '../../../../src/market/feed.ts';
import { createEtfFlowFilter } from '../../../../src/market/inputs.ts';
import { createMarket, type Market } from '../../../../src/market/market.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';

const DAILY_NAMES: Record<Exclude<DailyColumn, 'high' | 'low'>, string> = {
  close: 'close',
  fearGreed: 'fng',
  realizedPrice: 'realized_price',
  takerBuyFraction: 'taker',
  fundingRate: 'funding',
  gold: 'gold',
  pmi: 'pmi',
};
const GOLDEN_COLUMNS = Object.keys(DAILY_NAMES) as (keyof typeof DAILY_NAMES)[];
const BUSINESS_NAMES: Record<BusinessDayColumn, string> = { etfFlow: 'etf', sp500: 'spx', dxy: 'dxy' };

function goldenRows(file: string): Record<string, string>[] {
  const [header, ...lines] = readFileSync(sharedPath('golden', file), 'utf8').trim().split('\n');
  const names = header.trim().split(',');
  return lines.map((line) =>
    Object.fromEntries(
      line
        .trim()
        .split(',')
        .map((cell, index) => [names[index], cell]),
    ),
  );
}

describeWithShared('frames from the reference history', () => {
  let feed: Feed;
  let market: Market;
  let firstDay: Day;
  let lastDay: Day;
  let frame: InputFrame;

  beforeAll(async () => {
    feed = await openCsvFeed(sharedPath('data'));
    market = createMarket(feed);
    const coverage = await market.coverage();
    firstDay = coverage.firstDay;
    lastDay = coverage.lastDay!;
    frame = (await market.inputs(lastDay, getSignalTimeMs(lastDay))).frame;
  });

  it('equal the golden daily columns in every row', () => {
    const rows = goldenRows('inputs_daily.csv');
    expect([firstDay, lastDay]).toEqual([parseDay(rows[0].date), parseDay(rows.at(-1)!.date)]);
    for (const column of GOLDEN_COLUMNS) {
      const golden = rows.map((row) => (row[DAILY_NAMES[column]] === '' ? Number.NaN : Number(row[DAILY_NAMES[column]])));
      expect(frame[column].length).toBe(golden.length);
      golden.forEach((value, row) => {
        if (!(Math.abs(frame[column][row] - value) <= 1e-9 || (Number.isNaN(value) && Number.isNaN(frame[column][row])))) {
          expect.fail(`${column} of ${rows[row].date} is ${frame[column][row]}, golden ${value}`);
        }
      });
    }
  });

  it('hold the golden business-day observations dated before their last day', () => {
    for (const column of BUSINESS_DAY_COLUMNS) {
      const golden = goldenRows('inputs_bday.csv').filter((row) => row.series === BUSINESS_NAMES[column] && parseDay(row.date) < lastDay);
      expect([...frame[column].days]).toEqual(golden.map((row) => parseDay(row.date)));
      expect([...frame[column].values]).toEqual(golden.map((row) => Number(row.value)));
    }
  });

  it('exclude exactly the later business-day observations', async () => {
    const later = toInstantMs(lastDay + 10);
    const [etfFlow, sp500, dxy] = await Promise.all(BUSINESS_DAY_COLUMNS.map((column) => feed.observations(column, later)));
    const known = { etfFlow: createEtfFlowFilter().update(etfFlow, sp500), sp500, dxy };
    for (const column of BUSINESS_DAY_COLUMNS) {
      const golden = goldenRows('inputs_bday.csv').filter((row) => row.series === BUSINESS_NAMES[column] && parseDay(row.date) >= lastDay);
      const from = known[column].days.findIndex((day) => day >= lastDay);
      expect([...known[column].days.subarray(from)]).toEqual(golden.map((row) => parseDay(row.date)));
      expect([...known[column].values.subarray(from)]).toEqual(golden.map((row) => Number(row.value)));
    }
  });

  it('of an earlier day are prefixes of later frames', async () => {
    for (let day = firstDay + 100; day < lastDay; day += 397) {
      const atMs = getSignalTimeMs(day);
      const then = (await createMarket(feed).inputs(day, atMs)).frame;
      const rows = day - firstDay + 1;
      for (const column of DAILY_COLUMNS) expect(then[column]).toEqual(frame[column].slice(0, rows));
      for (const column of BUSINESS_DAY_COLUMNS) {
        expect(then[column].days.at(-1) ?? 0).toBeLessThan(day);
        expect(then[column].days).toEqual(frame[column].days.slice(0, then[column].days.length));
        expect(frame[column].days[then[column].days.length] ?? day).toBeGreaterThanOrEqual(day);
      }
    }
  });

  it('have the same digest with and without earlier replays', async () => {
    const replaying = createMarket(feed);
    for (let day = lastDay - 30; day <= lastDay; day++) {
      const replayed = await replaying.inputs(day, getSignalTimeMs(day));
      if (day % 10 === 0) expect(replayed.digest).toBe((await createMarket(feed).inputs(day, getSignalTimeMs(day))).digest);
    }
  });

  it('close on known prices', async () => {
    const close = async (date: string) => (await market.dailyClose(parseDay(date), getSignalTimeMs(lastDay))).priceUsd;
    expect(await close('2021-11-08')).toBeCloseTo(67_500, -3);
    expect(await close('2022-11-21')).toBeCloseTo(15_800, -3);
    expect(await close('2024-12-17')).toBeCloseTo(106_100, -3);
    expect((await market.context(getSignalTimeMs(parseDay('2024-11-22')))).fearGreed).toBe(94);
  });
});
