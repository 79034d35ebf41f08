import { CHAIN_ROWS } from './rows/chain.ts';
import { CHECK_ROWS } from './rows/checks.ts';
import { COMMERCE_ROWS } from './rows/commerce.ts';
import { DATABASE_ROWS } from './rows/database.ts';
import { EVENT_ROWS } from './rows/events.ts';
import { MARKET_ROWS } from './rows/market.ts';
import { PIPELINE_ROWS } from './rows/pipeline.ts';
import { PROCESS_ROWS } from './rows/processes.ts';
import { REQUEST_ROWS } from './rows/requests.ts';
import type { Alert, RunbookRow } from './runbook-row.ts';

/** Everything that an operator may see go wrong. Alert rules, their tests, the dashboard and the tables of docs/OPERATE.md come from it. */
export const RUNBOOK: readonly { topic: string; rows: readonly RunbookRow[] }[] = [
  { topic: 'processes', rows: PROCESS_ROWS },
  { topic: 'pipeline', rows: PIPELINE_ROWS },
  { topic: 'chain', rows: CHAIN_ROWS },
  { topic: 'market', rows: MARKET_ROWS },
  { topic: 'database', rows: DATABASE_ROWS },
  { topic: 'commerce', rows: COMMERCE_ROWS },
  { topic: 'events', rows: EVENT_ROWS },
  { topic: 'requests', rows: REQUEST_ROWS },
  { topic: 'checks', rows: CHECK_ROWS },
];

export const RUNBOOK_ROWS: readonly RunbookRow[] = RUNBOOK.flatMap(({ rows }) => rows);

export const ALERTS: readonly Alert[] = RUNBOOK_ROWS.flatMap(({ alerts }) => alerts);
