import { createEtfSource } from './etf-source.ts';
import { parseFlowTable } from './flow-table.ts';
import { FIRST_FLOW_DATE } from './reported-days.ts';

/** Flows of every fund since the first day. */
export const farside = createEtfSource({
  provider: 'farside',
  history: { from: FIRST_FLOW_DATE },
  request: { path: '/bitcoin-etf-flow-all-data/', format: 'text' },
  read: parseFlowTable,
});
