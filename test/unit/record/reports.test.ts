import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Day, formatDay, formatWeek, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { composeWeeklyReport, summarizeNewlyPublicWagers, type WeeklyReportData } from '../../../src/record/reports.ts';
import type { WagerDoc } from '../../../src/wager/wagers.ts';
import { buildPricedWager } from './crowd-pin-fixture.ts';
import { buildTestDay } from './day-fixture.ts';
import { buildTestForecast } from './forecast-fixture.ts';

/** A Monday. */
const WEEK = parseDay('2026-01-05');
const dueAt = (week: Day) => new Date(toInstantMs(week + 7, 0, 30));

const data = (rest: Partial<WeeklyReportData> = {}): WeeklyReportData => ({
  week: WEEK,
  before: dueAt(WEEK - 7),
  asOf: dueAt(WEEK),
  generatedAt: dueAt(WEEK),
  late: false,
  source: 'simulated (seed 2)',
  openUsd: 100_000,
  closeUsd: 98_000,
  days: [],
  forecasts: [],
  stakes: [],
  ...rest,
});

/** Revealed when its window ended. */
const resolved = (date: string, horizonDays: number, state: 'WIN' | 'LOSS' | 'HOLD', actual: 'UP' | 'DOWN') =>
  buildTestForecast({ date, horizonDays, state, direction: (state === 'LOSS') === (actual === 'UP') ? 'DOWN' : 'UP', actual });

const stake = (day: Day, settledAt: Date, rest: Partial<WagerDoc> = {}): WagerDoc => ({
  ...buildPricedWager({ day, decidingDay: day + 2, winner: 'YES' }),
  ...{ state: 'WIN', side: 'YES', contracts: 10, costMicros: 4_000_000, payoutMicros: 10_000_000, settledAt },
  ...rest,
});

describe('a weekly report', () => {
  it('counts forecasts of its days, and resolutions by reveal time', () => {
    const report = composeWeeklyReport(
      data({
        forecasts: [
          resolved('2026-01-02', 1, 'WIN', 'UP'),
          resolved('2026-01-04', 1, 'WIN', 'UP'),
          resolved('2026-01-06', 1, 'LOSS', 'DOWN'),
          resolved('2026-01-07', 1, 'WIN', 'DOWN'),
          resolved('2026-01-08', 1, 'HOLD', 'UP'),
          buildTestForecast({ date: '2026-01-11', horizonDays: 1 }),
          buildTestForecast({ date: '2026-01-12', horizonDays: 1 }),
        ],
      }),
    );
    // The forecast of 2 January was revealed on the 4th, before the previous report.
    expect(report.horizons[0]).toMatchObject({ horizon: '1d', made: 4, over: 4, wins: 2, losses: 1, holds: 1, openAtEnd: 1 });
    expect(report.horizons[0].hitRate).toBeCloseTo(2 / 3, 12);
    expect(report.horizons[0].alwaysUpRate).toBeCloseTo(1 / 3, 12);
    expect(report.horizons[0]).toMatchObject({ meanReturnBps: 0, meanCalledReturnBps: 37 });
    expect(report.horizons[0].brier!.n).toBe(4);
    expect(report).toMatchObject({ weekId: '2026-W02', from: '2026-01-05', to: '2026-01-11', market: { changePct: -2 } });
    expect(report.attestations).toMatchObject({ predictions: 4, resolutions: 4, gasWei: '1000000000000000' });
  });

  it('is the same when made late', () => {
    const after = new Date(dueAt(WEEK).getTime() + 1);
    const waiting = buildTestForecast({ date: '2026-01-06', horizonDays: 2 });
    const won = buildTestForecast({ date: '2026-01-06', horizonDays: 2, state: 'WIN' });
    const inTime = composeWeeklyReport(data({ forecasts: [waiting] }));
    const late = composeWeeklyReport(
      data({
        forecasts: [{ ...won, reveal: { ...won.reveal!, at: after } }, buildTestForecast({ date: '2026-01-12' })],
        stakes: [stake(WEEK - 20, after)],
        generatedAt: after,
        late: true,
      }),
    );
    expect(late).toEqual({ ...inTime, generatedAt: after.toISOString(), late: true });
    expect(inTime.incidents).toEqual([{ date: '2026-01-06', kind: 'waiting', detail: expect.stringContaining('2d: over') }]);
  });

  it('lists days, regimes and incidents', () => {
    const days = [
      buildTestDay(WEEK, { replayed: true, regime: 'CRISIS' }),
      buildTestDay(WEEK + 1, { late: true }),
      buildTestDay(WEEK + 2, { missedBecause: 'no `price`', regime: null, late: true }),
      buildTestDay(WEEK + 3),
    ];
    const report = composeWeeklyReport(
      data({
        days,
        forecasts: [
          buildTestForecast({ date: formatDay(WEEK + 3), state: 'VOID' }),
          buildTestForecast({ date: formatDay(WEEK + 6), state: 'DRAFT' }),
        ],
      }),
    );
    expect(report.days).toEqual({ recorded: 4, forecast: 3, missed: 1, late: 1, replayed: 1 });
    expect(report.replayed).toBe(true);
    expect(report.regimes).toEqual([
      { regime: 'CRISIS', days: 1 },
      { regime: 'CHOP', days: 2 },
    ]);
    expect(report.incidents.map(({ date, kind }) => [date, kind])).toEqual([
      ['2026-01-06', 'late'],
      ['2026-01-07', 'missed'],
      ['2026-01-08', 'void'],
      ['2026-01-11', 'uncommitted'],
    ]);
    expect(report.incidents[1].detail).toBe('no price');
  });

  it('has closes in cents, and the change between them', () => {
    const { market } = composeWeeklyReport(data({ openUsd: 0.014999, closeUsd: 61_234.56789 }));
    expect(market).toEqual({ openUsd: 0.01, closeUsd: 61_234.57, changePct: 612_345_600 });
    expect(composeWeeklyReport(data({ openUsd: 100_000.004, closeUsd: 98_765.4321 })).market).toEqual({
      openUsd: 100_000,
      closeUsd: 98_765.43,
      changePct: -1.23,
    });
  });

  it('of an empty week is all zeros and nulls', () => {
    const report = composeWeeklyReport(data({ openUsd: null }));
    expect(report.market).toEqual({ openUsd: null, closeUsd: 98_000, changePct: null });
    expect(report).toMatchObject({ wagers: [], incidents: [], attestations: { transactions: 0, gasWei: '0' }, replayed: false });
    for (const horizon of report.horizons)
      expect(horizon).toMatchObject({ made: 0, over: 0, hitRate: null, brier: null, meanReturnBps: null });
  });
});

describe('wagers of a weekly report', () => {
  const between = (stakes: WagerDoc[], week: Day, forecasts: ForecastDoc[] = []) =>
    summarizeNewlyPublicWagers(stakes, forecasts, { before: dueAt(week - 7), asOf: dueAt(week) });

  it('are summed by venue, exactly', () => {
    const settledAt = new Date(toInstantMs(WEEK - 1));
    const stakes = [
      stake(WEEK - 6, settledAt),
      stake(WEEK - 5, settledAt, { state: 'LOSS', winner: 'NO', payoutMicros: 0, costMicros: 1_234_567 }),
      stake(WEEK - 3, settledAt, { state: 'VOID', winner: null, payoutMicros: 2_000_000, costMicros: 2_500_000 }),
      stake(WEEK - 4, settledAt, { venue: 'paper', asset: 'PAPER-USD' }),
    ];
    expect(between(stakes, WEEK)).toEqual([
      {
        ...{ venue: 'polymarket', asset: 'USDC', quotesAreOurs: false, settled: 3, wins: 1, losses: 1, voids: 1 },
        ...{ stakedMicros: 7_734_567, payoutMicros: 12_000_000, pnlMicros: 4_265_433 },
      },
      expect.objectContaining({ venue: 'paper', quotesAreOurs: true, settled: 1, pnlMicros: 6_000_000 }),
    ]);
  });

  it('are hidden while a forecast of their day or an earlier one is unresolved', () => {
    const stakes = [stake(WEEK - 6, new Date(toInstantMs(WEEK - 1)))];
    const late = buildTestForecast({ date: formatDay(WEEK - 7), horizonDays: 7 });
    expect(between(stakes, WEEK, [late])).toEqual([]);
    const revealed = { ...buildTestForecast({ date: formatDay(WEEK - 7), state: 'WIN' }) };
    expect(between(stakes, WEEK, [{ ...revealed, reveal: { ...revealed.reveal!, at: new Date(toInstantMs(WEEK + 9)) } }])).toEqual([]);
    expect(between(stakes, WEEK + 7, [{ ...revealed, reveal: { ...revealed.reveal!, at: new Date(toInstantMs(WEEK + 9)) } }])).toHaveLength(
      1,
    );
  });

  it('are in exactly one report, however late they or their forecasts were', () => {
    const offsets = fc.record({
      day: fc.integer({ min: 0, max: 20 }),
      settled: fc.integer({ min: 0, max: 30 * 24 }),
      revealed: fc.integer({ min: 0, max: 15 * 24 }),
    });
    fc.assert(
      fc.property(fc.array(offsets, { maxLength: 12 }), (items) => {
        const stakes = items.map(({ day, settled }) => stake(WEEK + day, new Date(toInstantMs(WEEK + day, settled))));
        const forecasts = items.flatMap(({ day, revealed }) =>
          HORIZONS.map((horizonDays) => {
            const doc = buildTestForecast({ date: formatDay(WEEK + day), horizonDays, state: 'WIN' });
            return { ...doc, reveal: { ...doc.reveal!, at: new Date(doc.resolvesAt.getTime() + revealed * 3_600_000) } };
          }),
        );
        const weeks = Array.from({ length: 14 }, (_, index) => WEEK + 7 * index);
        const reported = weeks.flatMap((week) => between(stakes, week, forecasts));
        expect(reported.reduce((sum, { settled }) => sum + settled, 0)).toBe(stakes.length);
        expect(formatWeek(weeks[0])).toBe('2026-W02');
      }),
      { numRuns: 40 },
    );
  });
});
