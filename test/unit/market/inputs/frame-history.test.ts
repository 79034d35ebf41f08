import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Day, toInstantMs } from '../../../../src/forecast/day.ts';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, getLastDay } from '../../../../src/forecast/inputs.ts';
import { getSignalTimeMs } from '../../../../src/market/feed.ts';
import { createFrameHistory, type FrameObservations } from '../../../../src/market/inputs.ts';
import { sliceKnownAt } from '../../../../src/market/series.ts';
import { buildDailyPairs, buildFrameObservations, buildObservations } from '../memory-feed.ts';

const FIRST = 16_000;
const DAY = FIRST + 40;

const everything = buildFrameObservations({
  close: buildObservations('btcClose', buildDailyPairs(FIRST, DAY + 30)),
  fearGreed: buildObservations('fearGreed', buildDailyPairs(FIRST, DAY + 30)),
  realizedPrice: buildObservations('realizedPrice', buildDailyPairs(FIRST, DAY + 30)),
  takerBuyFraction: buildObservations('takerBuyFraction', buildDailyPairs(FIRST, DAY + 30)),
  fundingRate: buildObservations('fundingRate', buildDailyPairs(FIRST, DAY + 30)),
  gold: buildObservations('gold', buildDailyPairs(FIRST - 500, DAY + 30)),
  pmi: buildObservations('pmi', [[DAY - 5, 50]]),
  etfFlow: buildObservations('etfFlow', buildDailyPairs(FIRST, DAY + 30)),
  sp500: buildObservations('sp500', buildDailyPairs(FIRST - 500, DAY + 30)),
  dxy: buildObservations('dxy', buildDailyPairs(FIRST - 500, DAY + 30)),
});

const LAST_RANGE = { highUsd: 800, lowUsd: 700 };

function truncated(atMs: number, observations: FrameObservations = everything): FrameObservations {
  return Object.fromEntries(Object.entries(observations).map(([name, series]) => [name, sliceKnownAt(series, atMs)])) as FrameObservations;
}

function frameAt(day: Day, overrides: Partial<FrameObservations> = {}, atMs = getSignalTimeMs(day)) {
  return createFrameHistory(FIRST).buildFrame({
    day,
    atMs,
    lastClose: 777,
    lastRange: LAST_RANGE,
    observations: { ...everything, ...overrides },
  }).frame;
}

describe('lags', () => {
  it('reads each series up to its lag', () => {
    const frame = frameAt(DAY);
    expect(getLastDay(frame)).toBe(DAY);
    const last = Object.fromEntries(DAILY_COLUMNS.map((column) => [column, frame[column].at(-1)]));
    const yesterday = DAY - 1;
    expect(last).toEqual({
      close: 777,
      fearGreed: DAY,
      realizedPrice: yesterday,
      takerBuyFraction: yesterday,
      fundingRate: yesterday,
      gold: yesterday,
      pmi: 50,
      high: 800,
      low: 700,
    });
    expect([...frame.close.slice(0, -1)]).toEqual(buildDailyPairs(FIRST, DAY - 1).map(([, value]) => value));
  });

  it('cut business-day series at the previous day', () => {
    for (const column of BUSINESS_DAY_COLUMNS) expect(frameAt(DAY)[column].days.at(-1)).toBe(DAY - 1);
  });

  it('start business-day series 412 days before the first row', () => {
    expect(frameAt(DAY).sp500.days[0]).toBe(FIRST - 412);
  });

  it.each([
    ['fearGreed', 'fearGreed', 3],
    ['realizedPrice', 'realizedPrice', 7],
    ['takerBuyFraction', 'takerBuyFraction', 1],
    ['fundingRate', 'fundingRate', 1],
    ['gold', 'gold', 7],
    ['pmi', 'pmi', 45],
  ] as const)('mask %s beyond its staleness limit', (column, id, staleDays) => {
    const single = (age: number) => frameAt(DAY + 20, { [column]: buildObservations(id, [[DAY + 20 - age, 9]]) })[column].at(-1);
    expect(single(staleDays)).toBe(9);
    expect(single(staleDays + 1)).toBeNaN();
  });

  it('mask a value published after 21:35', () => {
    const late = buildObservations('gold', buildDailyPairs(DAY - 9, DAY - 1), (day) => getSignalTimeMs(day + 1) + 1);
    expect(frameAt(DAY, { gold: late }).gold.at(-1)).toBe(DAY - 2);
  });

  it('ignore values after the instant during the day', () => {
    const released = buildObservations('pmi', [
      [DAY - 30, 48],
      [DAY, 50],
    ]);
    expect(frameAt(DAY, { pmi: released }, toInstantMs(DAY, 14)).pmi.at(-1)).toBe(48);
    expect(frameAt(DAY, { pmi: released }, toInstantMs(DAY, 15)).pmi.at(-1)).toBe(50);
  });
});

describe('prefixes', () => {
  it('are equal when built from data cut at their own day', () => {
    const day = fc.integer({ min: FIRST, max: DAY });
    const property = fc.property(day, day, (a, b) => {
      const [early, late] = [Math.min(a, b), Math.max(a, b)];
      const rows = early - FIRST;
      const cut = frameAt(early, truncated(getSignalTimeMs(early)));
      const whole = frameAt(late);
      for (const column of DAILY_COLUMNS) {
        const length = ['close', 'high', 'low'].includes(column) ? rows : rows + 1;
        expect(cut[column].slice(0, length)).toEqual(whole[column].slice(0, length));
      }
      for (const column of BUSINESS_DAY_COLUMNS) {
        const count = cut[column].days.length;
        expect(cut[column].days).toEqual(whole[column].days.slice(0, count));
        expect(whole[column].days[count] ?? early).toBeGreaterThanOrEqual(early);
      }
    });
    fc.assert(property);
  });

  it('are equal for any order of queries', () => {
    const history = createFrameHistory(FIRST);
    const ask = (day: Day) => {
      const atMs = getSignalTimeMs(day);
      return history.buildFrame({ day, atMs, lastClose: 777, lastRange: LAST_RANGE, observations: truncated(atMs) }).frame;
    };
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: DAY }), (day) => {
        expect(ask(day)).toEqual(frameAt(day));
      }),
    );
  });

  it('keep the price of their instant after the day closes', () => {
    const history = createFrameHistory(FIRST);
    const ask = (day: Day, lastClose: number) =>
      history.buildFrame({ day, atMs: getSignalTimeMs(day), lastClose, lastRange: null, observations: everything }).frame;
    const early = ask(DAY, 1);
    const later = ask(DAY + 1, 2);
    expect(early.close.at(-1)).toBe(1);
    expect([...later.close.slice(-2)]).toEqual([DAY, 2]);
  });
});

describe('highs and lows', () => {
  const frameWith = (high: number, low: number) =>
    frameAt(DAY, { high: buildObservations('btcHigh', [[DAY - 2, high]]), low: buildObservations('btcLow', [[DAY - 2, low]]) });
  const rangeOf = ({ high, low }: ReturnType<typeof frameAt>, back: number) => [high.at(-1 - back), low.at(-1 - back)];

  it('are those of the whole day, and so far of the last', () => {
    const frame = frameWith(110, 100);
    expect([rangeOf(frame, 0), rangeOf(frame, 2)]).toEqual([
      [800, 700],
      [110, 100],
    ]);
    expect(rangeOf(frame, 1)).toEqual([Number.NaN, Number.NaN]);
  });

  it.each([
    ['a high below the low', 100, 110],
    ['a range of more than 70 % a day', 330, 100],
    ['a low of zero', 100, 0],
  ])('are both masked for %s', (_, high, low) => {
    expect(rangeOf(frameWith(high, low), 2)).toEqual([Number.NaN, Number.NaN]);
  });
});

describe('the range of the day before', () => {
  const range = { high: buildObservations('btcHigh', [[DAY - 1, 110]]), low: buildObservations('btcLow', [[DAY - 1, 100]]) };
  const knownFrom = (atMs: number) => {
    const late = (series: FrameObservations['high']) => ({ ...series, availableAt: Float64Array.of(atMs) });
    return { ...everything, high: late(range.high), low: late(range.low) };
  };
  const readAt = (history: ReturnType<typeof createFrameHistory>, atMs: number, all: FrameObservations) => {
    const known = truncated(atMs, all);
    const { high, low } = history.buildFrame({ day: DAY, atMs, lastClose: 777, lastRange: null, observations: known }).frame;
    return [high.at(-2), low.at(-2)];
  };
  const noon = toInstantMs(DAY, 12);

  it('is read when it becomes known after an earlier frame of the day', () => {
    const history = createFrameHistory(FIRST);
    expect(readAt(history, noon - 1, knownFrom(noon))).toEqual([Number.NaN, Number.NaN]);
    expect(readAt(history, getSignalTimeMs(DAY), knownFrom(noon))).toEqual([110, 100]);
  });

  it('stays masked when it becomes known after the signal of the next day', () => {
    const history = createFrameHistory(FIRST);
    const late = knownFrom(getSignalTimeMs(DAY) + 1);
    expect(readAt(history, toInstantMs(DAY + 1) - 1, late)).toEqual([Number.NaN, Number.NaN]);
    const atMs = getSignalTimeMs(DAY + 1);
    const { high } = history.buildFrame({ day: DAY + 1, atMs, lastClose: 777, lastRange: null, observations: late }).frame;
    expect(high.at(-3)).toBeNaN();
  });
});

describe('missing data', () => {
  it('throws HISTORY_TOO_SHORT before the first day', () => {
    expect(() => frameAt(FIRST - 1)).toThrow(expect.objectContaining({ code: 'HISTORY_TOO_SHORT' }));
  });

  it('throws PRICE_UNAVAILABLE without the close of an earlier day', () => {
    const gap = buildDailyPairs(FIRST, DAY).filter(([day]) => day !== FIRST + 3);
    expect(() => frameAt(DAY, { close: buildObservations('btcClose', gap) })).toThrow(
      expect.objectContaining({ code: 'PRICE_UNAVAILABLE', message: expect.stringContaining('2013-10-25') }),
    );
  });

  it('is masked in any other series', () => {
    const frame = createFrameHistory(FIRST).buildFrame({
      day: DAY,
      atMs: getSignalTimeMs(DAY),
      lastClose: 777,
      lastRange: null,
      observations: buildFrameObservations({ close: everything.close }),
    }).frame;
    for (const column of DAILY_COLUMNS.filter((name) => name !== 'close')) expect(frame[column].every(Number.isNaN)).toBe(true);
    for (const column of BUSINESS_DAY_COLUMNS) expect(frame[column].days).toHaveLength(0);
  });
});
