import { describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { computeFlowStreak, etfAnalyticsReport, etfFlowsReport, findBiggestDays } from '../../../../src/market/reports/etf.ts';
import { buildDailyPairs, buildObservations } from '../memory-feed.ts';
import { buildReportBody } from './report-body.ts';

describe('etf analytics', () => {
  const DAY = 20_000;
  const NOON = toInstantMs(DAY, 12);
  const flows = (value: (day: number) => number) => buildObservations('etfFlow', buildDailyPairs(DAY - 400, DAY - 1, value));

  const funds = { AAA: flows(() => 3), BBB: flows((day) => (day % 2 === 0 ? 1 : -1)) };
  const etfFlow = flows((day) => (day % 2 === 0 ? 4 : 2));
  const fundFlows = async () => funds;

  describe('ETF analytics report', () => {
    it('returns sums, shares, streaks and extremes of the total and each fund', async () => {
      const body = await buildReportBody(etfAnalyticsReport, NOON, { etfFlow }, { fundFlows });
      expect(body.total).toMatchObject({
        lastDay: 2_000_000,
        // Calendar days that end with the last reported one.
        flow7d: 20_000_000,
        flow30d: 90_000_000,
        flow90d: 270_000_000,
        streak: { direction: 'inflow', days: 400 },
        biggestInflow: { usd: 4_000_000 },
        biggestOutflow: null,
      });
      expect(body.funds.map(({ ticker, share, streak }: Record<string, unknown>) => ({ ticker, share, streak }))).toEqual([
        { ticker: 'AAA', share: 0.75, streak: { direction: 'inflow', days: 400 } },
        { ticker: 'BBB', share: 0.25, streak: { direction: 'outflow', days: 1 } },
      ]);
      expect(body.funds[1]).toMatchObject({ lastDay: -1_000_000, flow7d: -1_000_000, flow30d: 0 });
      expect(body.lastDayDate).toBe(formatDay(DAY - 1));
    });

    it('correlates flows with returns of the same and the next day, with the number of pairs', async () => {
      // Closes double on days with the larger flow and halve on the others.
      const btcClose = buildObservations(
        'btcClose',
        buildDailyPairs(DAY - 400, DAY - 1, (day) => (day % 2 === 0 ? 200 : 100)),
      );
      const { correlation } = await buildReportBody(etfAnalyticsReport, NOON, { etfFlow, btcClose }, { fundFlows });
      expect(correlation.sameDay).toEqual({ correlation: 1, pairs: 365 });
      // The return after the last flow is not known yet.
      expect(correlation.nextDay).toEqual({ correlation: -1, pairs: 364 });
      expect(correlation.note).toContain('neither a forecast');
    });

    describe('ETF analytics report with a stale fund', () => {
      const until = (last: number) =>
        buildObservations(
          'etfFlow',
          buildDailyPairs(DAY - 400, last, () => 3),
        );
      const analyze = async (flowsOfFunds: Record<string, ReturnType<typeof flows>>) =>
        (await buildReportBody(etfAnalyticsReport, NOON, { etfFlow }, { fundFlows: async () => flowsOfFunds })) as {
          funds: Record<string, unknown>[];
        };

      it("reports the day of each fund's figures and its staleness", async () => {
        const { funds } = await analyze({ AAA: until(DAY - 1), LATE: until(DAY - 7), OLD: until(DAY - 8) });
        expect(funds.map(({ ticker, lastDayDate, stale }) => [ticker, lastDayDate, stale])).toEqual([
          ['AAA', formatDay(DAY - 1), false],
          ['LATE', formatDay(DAY - 7), false],
          ['OLD', formatDay(DAY - 8), true],
        ]);
      });

      it('ends the windows of each fund with its own last day', async () => {
        const { funds } = await analyze({ AAA: until(DAY - 1), LATE: until(DAY - 7), OLD: until(DAY - 40) });
        expect(funds.map(({ flow7d, flow30d, flow90d }) => [flow7d, flow30d, flow90d])).toEqual([
          [21_000_000, 90_000_000, 270_000_000],
          [21_000_000, 90_000_000, 270_000_000],
          [21_000_000, 90_000_000, 270_000_000],
        ]);
        expect(funds[2]).toMatchObject({ lastDay: 3_000_000, streak: { direction: 'inflow', days: 361 } });
      });

      it('returns no share for the stale fund', async () => {
        const shares = async (...last: number[]) =>
          (await analyze(Object.fromEntries(last.map((day, index) => [`F${index}`, until(day)])))).funds.map(({ share }) => share);
        expect(await shares(DAY - 1, DAY - 1, DAY - 20)).toEqual([0.5, 0.5, null]);
        expect(await shares(DAY - 20, DAY - 20, DAY - 60), 'without any recent fund').toEqual([0.5, 0.5, null]);
      });
    });

    it('returns no share without funds and no correlation with few pairs', async () => {
      const few = buildObservations('etfFlow', buildDailyPairs(DAY - 10, DAY - 1));
      const btcClose = buildObservations('btcClose', buildDailyPairs(DAY - 400, DAY - 1));
      const body = await buildReportBody(etfAnalyticsReport, NOON, { etfFlow: few, btcClose });
      expect(body).toMatchObject({ funds: [], correlation: { sameDay: { correlation: null, pairs: 10 } } });
      const idle = { AAA: flows(() => 0) };
      expect((await buildReportBody(etfAnalyticsReport, NOON, { etfFlow }, { fundFlows: async () => idle })).funds[0].share).toBeNull();
    });
  });
});

describe('etf flows', () => {
  const DAY = 20_000;
  const NOON = toInstantMs(DAY, 12);

  describe('ETF flows', () => {
    it('are sums of 7 and 30 calendar days in USD, under both names', async () => {
      const flows = buildDailyPairs(DAY - 60, DAY, (day) => (day === DAY - 1 ? -3.3 : 0.1));
      expect(await buildReportBody(etfFlowsReport, NOON, { etfFlow: buildObservations('etfFlow', flows) })).toMatchObject({
        // 6 and 29 days of 0.1 million, and one of -3.3: the windows end with the last reported day, today has none yet.
        flow7d: -2_700_000,
        flows7d: -2_700_000,
        flow30d: -400_000,
        flows30d: -400_000,
        lastDay: -3_300_000,
        lastDayDate: formatDay(DAY - 1),
        provisional: false,
        stale: false,
      });
    });

    it('are provisional before publication', async () => {
      const etfFlow = buildObservations('etfFlow', [[DAY - 1, 7]], () => toInstantMs(DAY, 3));
      const body = await buildReportBody(etfFlowsReport, NOON - 1, { etfFlow });
      expect(body).toMatchObject({ lastDay: 7_000_000, flow7d: 7_000_000, provisional: true });
      expect(body.inputs).toMatchObject([{ provisional: true }]);
    });

    it('end with the last known day once stale', async () => {
      const etfFlow = buildObservations(
        'etfFlow',
        buildDailyPairs(DAY - 100, DAY - 50, () => 1),
      );
      expect(await buildReportBody(etfFlowsReport, NOON, { etfFlow })).toMatchObject({
        flow7d: 7_000_000,
        flow30d: 30_000_000,
        stale: true,
      });
    });

    it('are null without observations', async () => {
      expect(await buildReportBody(etfFlowsReport, NOON, {})).toMatchObject({
        flow7d: null,
        flows30d: null,
        lastDay: null,
        lastDayDate: null,
      });
    });
  });
});

describe('flow figures', () => {
  const flows = (...values: number[]) =>
    buildObservations(
      'etfFlow',
      values.map((value, index) => [100 + index, value]),
    );

  describe('computeFlowStreak', () => {
    it.each([
      ['inflow', 2, [1, -1, 2, 3]],
      ['outflow', 3, [1, -1, -2, -3]],
      ['inflow', 3, [1, 1, 1]],
      ['inflow', 1, [1, 0, 1]],
      ['none', 0, [1, 0]],
      ['none', 0, []],
    ] as const)('returns %s of %d days', (direction, days, values) => {
      expect(computeFlowStreak(flows(...values))).toEqual({ direction, days });
    });
  });

  describe('findBiggestDays', () => {
    it('returns the first day with the largest inflow and outflow', () => {
      expect(findBiggestDays(flows(1, 5.5, -2, 5.5, -7, 3))).toEqual({
        biggestInflow: { date: formatDay(101), usd: 5_500_000 },
        biggestOutflow: { date: formatDay(104), usd: -7_000_000 },
      });
    });

    it('returns null without an inflow or outflow', () => {
      expect(findBiggestDays(flows(0, -1))).toMatchObject({ biggestInflow: null, biggestOutflow: { usd: -1_000_000 } });
      expect(findBiggestDays(flows())).toEqual({ biggestInflow: null, biggestOutflow: null });
    });
  });
});
