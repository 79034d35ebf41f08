import { describe, expect, it } from 'vitest';
import { formatDay, instantOf } from '../../../../src/forecast/day.ts';
import { etfAnalytics } from '../../../../src/market/reports/etf-analytics.ts';
import { everyDay, observationsOf } from '../support.ts';
import { reportOn } from './support.ts';

const DAY = 20_000;
const NOON = instantOf(DAY, 12);
const flows = (value: (day: number) => number) => observationsOf('etfFlow', everyDay(DAY - 400, DAY - 1, value));

const funds = { AAA: flows(() => 3), BBB: flows((day) => (day % 2 === 0 ? 1 : -1)) };
const etfFlow = flows((day) => (day % 2 === 0 ? 4 : 2));
const fundFlows = async () => funds;

describe('the analysis of fund flows', () => {
  it('sums, shares, streaks and extremes of the total and of each fund', async () => {
    const body = await reportOn(etfAnalytics, NOON, { etfFlow }, { fundFlows });
    expect(body.total).toMatchObject({
      lastDay: 2_000_000,
      // Calendar days that end today, which has no figure yet.
      flow7d: 18_000_000,
      flow30d: 86_000_000,
      flow90d: 266_000_000,
      streak: { direction: 'inflow', days: 400 },
      biggestInflow: { usd: 4_000_000 },
      biggestOutflow: null,
    });
    expect(body.funds.map(({ ticker, share, streak }: Record<string, unknown>) => ({ ticker, share, streak }))).toEqual([
      { ticker: 'AAA', share: 0.75, streak: { direction: 'inflow', days: 400 } },
      { ticker: 'BBB', share: 0.25, streak: { direction: 'outflow', days: 1 } },
    ]);
    expect(body.funds[1]).toMatchObject({ lastDay: -1_000_000, flow7d: 0, flow30d: -1_000_000 });
    expect(body.lastDayDate).toBe(formatDay(DAY - 1));
  });

  it('correlates the flow with the return of its own and of the next day, and says of how many', async () => {
    // Closes double on days with the larger flow and halve on the others.
    const btcClose = observationsOf(
      'btcClose',
      everyDay(DAY - 400, DAY - 1, (day) => (day % 2 === 0 ? 200 : 100)),
    );
    const { correlation } = await reportOn(etfAnalytics, NOON, { etfFlow, btcClose }, { fundFlows });
    expect(correlation.sameDay).toEqual({ correlation: 1, pairs: 364 });
    // The return after the last flow is not known yet.
    expect(correlation.nextDay).toEqual({ correlation: -1, pairs: 363 });
    expect(correlation.note).toContain('no forecast');
  });

  it('has no share without funds, and no correlation from a few days', async () => {
    const few = observationsOf('etfFlow', everyDay(DAY - 10, DAY - 1));
    const btcClose = observationsOf('btcClose', everyDay(DAY - 400, DAY - 1));
    const body = await reportOn(etfAnalytics, NOON, { etfFlow: few, btcClose });
    expect(body).toMatchObject({ funds: [], correlation: { sameDay: { correlation: null, pairs: 10 } } });
    const idle = { AAA: flows(() => 0) };
    expect((await reportOn(etfAnalytics, NOON, { etfFlow }, { fundFlows: async () => idle })).funds[0].share).toBeNull();
  });
});
