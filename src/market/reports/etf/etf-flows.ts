import { z } from 'zod';
import { DATE } from '../../../platform/validation/fields.ts';
import { formatDayOrNull, millionsToUsd } from '../../numbers.ts';
import { defineReport } from '../report.ts';
import { getWindowEnd, sumFlowsUsd } from './flow-figures.ts';

const FLOW = z.number().nullable();

export const etfFlowsReport = defineReport({
  path: '/api/etf-flows',
  summary: 'Net flows into US spot Bitcoin ETFs of the last day, 7 and 30 calendar days, in US dollars',
  dependsOn: ['etfFlow'],
  fields: z.object({
    flow7d: FLOW.describe('Net flow of the last 7 calendar days, USD; outflows are negative; null without a reported day'),
    flows7d: FLOW.describe('The same as `flow7d`'),
    flow30d: FLOW.describe('Net flow of the last 30 calendar days, USD'),
    flows30d: FLOW.describe('The same as `flow30d`'),
    lastDay: FLOW.describe('Net flow of the last reported day, USD; null before the first'),
    lastDayDate: DATE.nullable().describe('That day'),
    provisional: z.boolean().describe('True until noon UTC of the day after: funds report late'),
  }),
  async build({ read, atMs }) {
    const { reading, known } = await read('etfFlow');
    const end = getWindowEnd(reading, atMs);
    const flow7d = sumFlowsUsd(known, end, 7);
    const flow30d = sumFlowsUsd(known, end, 30);
    return {
      flow7d,
      flows7d: flow7d,
      flow30d,
      flows30d: flow30d,
      lastDay: millionsToUsd(reading.value),
      lastDayDate: formatDayOrNull(reading.observedDay),
      provisional: reading.provisional,
    };
  },
});
