import { createEtfSource } from './etf-source.ts';
import { parseFlowTable } from './flow-table.ts';

/** Flows of every fund; the page shows the last weeks. */
export const bitbo = createEtfSource({
  provider: 'bitbo',
  history: { days: 20 },
  request: { path: '/treasuries/etf-flows/', format: 'text' },
  read: parseFlowTable,
});
