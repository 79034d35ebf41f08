import { createEtfSource, FIRST_FLOW_DATE } from './etf-source.ts';
import { parseFlowTable } from './flow-table.ts';

/** Flows of all funds since the first day. */
export const farside = createEtfSource({
  provider: 'farside',
  history: { from: FIRST_FLOW_DATE },
  request: { path: '/bitcoin-etf-flow-all-data/', format: 'text' },
  read: parseFlowTable,
});
