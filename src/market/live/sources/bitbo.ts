import { etfSource } from './etf-source.ts';
import { readFlowTable } from './flow-table.ts';

/** Flows of every fund; the page shows the last weeks. */
export const bitbo = etfSource({
  provider: 'bitbo',
  history: { days: 20 },
  request: { path: '/treasuries/etf-flows/', format: 'text' },
  read: readFlowTable,
});
