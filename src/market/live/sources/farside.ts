import { etfSource } from './etf-source.ts';
import { FIRST_FLOW_DATE } from './flow-days.ts';
import { readFlowTable } from './flow-table.ts';

/** Flows of every fund since the first day. */
export const farside = etfSource({
  provider: 'farside',
  history: { from: FIRST_FLOW_DATE },
  request: { path: '/bitcoin-etf-flow-all-data/', format: 'text' },
  read: readFlowTable,
});
