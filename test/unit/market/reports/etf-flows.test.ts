import { describe, expect, it } from 'vitest';
import { formatDay, instantOf } from '../../../../src/forecast/day.ts';
import { etfFlows } from '../../../../src/market/reports/etf-flows.ts';
import { everyDay, observationsOf } from '../support.ts';
import { reportOn } from './support.ts';

const DAY = 20_000;
const NOON = instantOf(DAY, 12);

describe('fund flows', () => {
  it('are sums of 7 and 30 calendar days in dollars, in both spellings', async () => {
    const flows = everyDay(DAY - 60, DAY, (day) => (day === DAY - 1 ? -3.3 : 0.1));
    expect(await reportOn(etfFlows, NOON, { etfFlow: observationsOf('etfFlow', flows) })).toMatchObject({
      // Five and 28 days of 0.1 million, and one of -3.3: today has none yet.
      flow7d: -2_800_000,
      flows7d: -2_800_000,
      flow30d: -500_000,
      flows30d: -500_000,
      lastDay: -3_300_000,
      lastDayDate: formatDay(DAY - 1),
      provisional: false,
      stale: false,
    });
  });

  it('are provisional before they are published', async () => {
    const etfFlow = observationsOf('etfFlow', [[DAY - 1, 7]], () => instantOf(DAY, 3));
    const body = await reportOn(etfFlows, NOON - 1, { etfFlow });
    expect(body).toMatchObject({ lastDay: 7_000_000, flow7d: 7_000_000, provisional: true });
    expect(body.inputs).toMatchObject([{ provisional: true }]);
  });

  it('end with the last day known once they are stale', async () => {
    const etfFlow = observationsOf(
      'etfFlow',
      everyDay(DAY - 100, DAY - 50, () => 1),
    );
    expect(await reportOn(etfFlows, NOON, { etfFlow })).toMatchObject({ flow7d: 7_000_000, flow30d: 30_000_000, stale: true });
  });

  it('are null where there are none', async () => {
    expect(await reportOn(etfFlows, NOON, {})).toMatchObject({ flow7d: null, flows30d: null, lastDay: null, lastDayDate: null });
  });
});
