import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Day, instantOf } from '../../../src/forecast/day.ts';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, lastDayOf } from '../../../src/forecast/frame.ts';
import { createFrameHistory, type FrameObservations } from '../../../src/market/frame.ts';
import { knownAt } from '../../../src/market/observations.ts';
import { signalInstant } from '../../../src/market/signal-time.ts';
import { everyDay, frameObservations, observationsOf } from './support.ts';

const FIRST = 16_000;
const DAY = FIRST + 40;

const everything = frameObservations({
  close: observationsOf('btcClose', everyDay(FIRST, DAY + 30)),
  fearGreed: observationsOf('fearGreed', everyDay(FIRST, DAY + 30)),
  realizedPrice: observationsOf('realizedPrice', everyDay(FIRST, DAY + 30)),
  takerBuyFraction: observationsOf('takerBuyFraction', everyDay(FIRST, DAY + 30)),
  fundingRate: observationsOf('fundingRate', everyDay(FIRST, DAY + 30)),
  gold: observationsOf('gold', everyDay(FIRST - 500, DAY + 30)),
  pmi: observationsOf('pmi', [[DAY - 5, 50]]),
  etfFlow: observationsOf('etfFlow', everyDay(FIRST, DAY + 30)),
  sp500: observationsOf('sp500', everyDay(FIRST - 500, DAY + 30)),
  dxy: observationsOf('dxy', everyDay(FIRST - 500, DAY + 30)),
});

function truncated(atMs: number, observations: FrameObservations = everything): FrameObservations {
  return Object.fromEntries(Object.entries(observations).map(([name, series]) => [name, knownAt(series, atMs)])) as FrameObservations;
}

function frameAt(day: Day, parts: Partial<FrameObservations> = {}, atMs = signalInstant(day)) {
  return createFrameHistory(FIRST).frame({ day, atMs, lastClose: 777, observations: { ...everything, ...parts } }).frame;
}

describe('lags', () => {
  it('reads each series as late as it may', () => {
    const frame = frameAt(DAY);
    expect(lastDayOf(frame)).toBe(DAY);
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
    });
    expect([...frame.close.slice(0, -1)]).toEqual(everyDay(FIRST, DAY - 1).map(([, value]) => value));
  });

  it('ends the business-day series the day before, also when later ones are at hand', () => {
    for (const column of BUSINESS_DAY_COLUMNS) expect(frameAt(DAY)[column].days.at(-1)).toBe(DAY - 1);
  });

  it('begins the business-day series 412 days before the first row', () => {
    expect(frameAt(DAY).sp500.days[0]).toBe(FIRST - 412);
  });

  it.each([
    ['fearGreed', 'fearGreed', 3],
    ['realizedPrice', 'realizedPrice', 7],
    ['takerBuyFraction', 'takerBuyFraction', 1],
    ['fundingRate', 'fundingRate', 1],
    ['gold', 'gold', 7],
    ['pmi', 'pmi', 45],
  ] as const)('masks %s when its last observation is more than its limit old', (column, id, staleDays) => {
    const single = (age: number) => frameAt(DAY + 20, { [column]: observationsOf(id, [[DAY + 20 - age, 9]]) })[column].at(-1);
    expect(single(staleDays)).toBe(9);
    expect(single(staleDays + 1)).toBeNaN();
  });

  it('masks what was dated in time but published after 21:35', () => {
    const late = observationsOf('gold', everyDay(DAY - 9, DAY - 1), (day) => signalInstant(day + 1) + 1);
    expect(frameAt(DAY, { gold: late }).gold.at(-1)).toBe(DAY - 2);
  });

  it('looks no further than the asked instant while the day runs', () => {
    const released = observationsOf('pmi', [
      [DAY - 30, 48],
      [DAY, 50],
    ]);
    expect(frameAt(DAY, { pmi: released }, instantOf(DAY, 14)).pmi.at(-1)).toBe(48);
    expect(frameAt(DAY, { pmi: released }, instantOf(DAY, 15)).pmi.at(-1)).toBe(50);
  });
});

describe('prefixes', () => {
  it('are the same from data cut at their own day', () => {
    const day = fc.integer({ min: FIRST, max: DAY });
    const property = fc.property(day, day, (a, b) => {
      const [early, late] = [Math.min(a, b), Math.max(a, b)];
      const rows = early - FIRST;
      const cut = frameAt(early, truncated(signalInstant(early)));
      const whole = frameAt(late);
      for (const column of DAILY_COLUMNS) {
        const length = column === 'close' ? rows : rows + 1;
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

  it('are the same in whatever order the days are asked', () => {
    const history = createFrameHistory(FIRST);
    const ask = (day: Day) => {
      const atMs = signalInstant(day);
      return history.frame({ day, atMs, lastClose: 777, observations: truncated(atMs) }).frame;
    };
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: DAY }), (day) => {
        expect(ask(day)).toEqual(frameAt(day));
      }),
    );
  });

  it('keep the price of their own instant when the day closes at another', () => {
    const history = createFrameHistory(FIRST);
    const ask = (day: Day, lastClose: number) =>
      history.frame({ day, atMs: signalInstant(day), lastClose, observations: everything }).frame;
    const early = ask(DAY, 1);
    const later = ask(DAY + 1, 2);
    expect(early.close.at(-1)).toBe(1);
    expect([...later.close.slice(-2)]).toEqual([DAY, 2]);
  });
});

describe('what is missing', () => {
  it('is an error when it is history', () => {
    expect(() => frameAt(FIRST - 1)).toThrow(expect.objectContaining({ code: 'HISTORY_TOO_SHORT' }));
  });

  it('is an error when it is the close of a day before', () => {
    const gap = everyDay(FIRST, DAY).filter(([day]) => day !== FIRST + 3);
    expect(() => frameAt(DAY, { close: observationsOf('btcClose', gap) })).toThrow(
      expect.objectContaining({ code: 'PRICE_UNAVAILABLE', message: expect.stringContaining('2013-10-25') }),
    );
  });

  it('is masked when it is another series', () => {
    const frame = createFrameHistory(FIRST).frame({
      day: DAY,
      atMs: signalInstant(DAY),
      lastClose: 777,
      observations: frameObservations({ close: everything.close }),
    }).frame;
    for (const column of DAILY_COLUMNS.filter((name) => name !== 'close')) expect(frame[column].every(Number.isNaN)).toBe(true);
    for (const column of BUSINESS_DAY_COLUMNS) expect(frame[column].days).toHaveLength(0);
  });
});
