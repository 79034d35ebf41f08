import { createEtfSource } from './etf-source.ts';
import { parseFlowTable } from './flow-table.ts';

/** Flows of all funds; the page has the last weeks. */
export const bitbo = createEtfSource({
  provider: 'bitbo',
  history: { days: 20 },
  request: { path: '/treasuries/etf-flows/', format: 'text' },
  read: parseFlowTable,
});
