import { A2A_INDEXES } from '../a2a/a2a.ts';
import { PUSH_CONFIG_INDEXES } from '../a2a/push/store.ts';
import { ACCESS_INDEXES } from '../access/access.ts';
import { REQUEST_COUNT_INDEXES } from '../access/request-counts.ts';
import { JOB_INDEXES } from '../commerce/jobs/job-store.ts';
import { COMMERCE_INDEXES } from '../commerce/ledger.ts';
import { PURCHASE_INDEXES } from '../commerce/purchases/store.ts';
import { X402_INDEXES } from '../commerce/x402/claims.ts';
import { FAILED_SETTLEMENT_INDEXES } from '../commerce/x402/failed-settlements.ts';
import { CONTEST_INDEXES } from '../contest/parts.ts';
import { AUDIT_INDEXES } from '../http/admin/audit-log.ts';
import { LIVE_INDEXES } from '../market/live/stores.ts';
import type { CollectionIndexes } from '../mongo.ts';
import { QUEUE_INDEXES } from '../pipeline/queue-indexes.ts';
import { STEP_RUN_INDEXES } from '../pipeline/step-runs.ts';
import { EVENT_INDEXES } from '../push/events/log.ts';
import { DAILY_USE_INDEXES } from '../push/webhooks/daily-use.ts';
import { DELIVERY_INDEXES } from '../push/webhooks/queue.ts';
import { WEBHOOK_INDEXES } from '../push/webhooks/store.ts';
import { RECORD_INDEXES } from '../record/record.ts';
import { SELF_TEST_INDEXES } from '../record/self-test/store.ts';
import { PAPER_INDEXES } from '../wager/paper-venue.ts';
import { POLYMARKET_INDEXES } from '../wager/polymarket/orders.ts';
import { WAGER_INDEXES } from '../wager/wagers.ts';
import { REPORT_INDEXES } from './reports.ts';
import { WEBSOCKET_INDEXES } from './websocket.ts';

/** The indexes of all collections. */
export const ALL_INDEXES: readonly CollectionIndexes[] = [
  ...RECORD_INDEXES,
  ...WAGER_INDEXES,
  ...PAPER_INDEXES,
  ...STEP_RUN_INDEXES,
  ...QUEUE_INDEXES,
  ...LIVE_INDEXES,
  ...POLYMARKET_INDEXES,
  ...CONTEST_INDEXES,
  ...ACCESS_INDEXES,
  ...REQUEST_COUNT_INDEXES,
  ...COMMERCE_INDEXES,
  ...JOB_INDEXES,
  ...X402_INDEXES,
  ...FAILED_SETTLEMENT_INDEXES,
  ...PURCHASE_INDEXES,
  ...EVENT_INDEXES,
  ...WEBHOOK_INDEXES,
  ...WEBSOCKET_INDEXES,
  ...DELIVERY_INDEXES,
  ...DAILY_USE_INDEXES,
  ...A2A_INDEXES,
  ...PUSH_CONFIG_INDEXES,
  ...REPORT_INDEXES,
  ...SELF_TEST_INDEXES,
  ...AUDIT_INDEXES,
];
