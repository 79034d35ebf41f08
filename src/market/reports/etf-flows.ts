import { flowSumUsd, windowEnd } from './flow-sums.ts';
import { dateOf, millionsToUsd } from './numbers.ts';
import type { MarketReport } from './report.ts';

export const etfFlows: MarketReport = {
  path: '/api/etf-flows',
  summary: 'Net flows into US spot Bitcoin ETFs of the last day, 7 and 30 calendar days, in US dollars',
  dependsOn: ['etfFlow'],
  async build({ read, atMs }) {
    const { reading, known } = await read('etfFlow');
    const end = windowEnd(reading, atMs);
    const flow7d = flowSumUsd(known, end, 7);
    const flow30d = flowSumUsd(known, end, 30);
    return {
      flow7d,
      flows7d: flow7d,
      flow30d,
      flows30d: flow30d,
      lastDay: millionsToUsd(reading.value),
      lastDayDate: dateOf(reading.observedDay),
      // Funds report late: the figure of a day may change until noon UTC of the next.
      provisional: reading.provisional,
    };
  },
};
