import { PUSH_CONFIG_INDEXES } from '../a2a/push.ts';
import { A2A_INDEXES } from '../a2a/server.ts';
import { AUTH_INDEXES } from '../auth/auth.ts';
import { ARTIFACT_INDEXES, CLIENT_INDEXES, GRANT_INDEXES } from '../auth/oauth-clients.ts';
import { REQUEST_COUNT_INDEXES } from '../auth/rate-limits.ts';
import { CLIENT_FEEDBACK_INDEXES } from '../commerce/feedback.ts';
import { JOB_INDEXES } from '../commerce/jobs/job-store.ts';
import { COMMERCE_INDEXES } from '../commerce/ledger.ts';
import { PURCHASE_INDEXES } from '../commerce/purchases.ts';
import { FAILED_SETTLEMENT_INDEXES, X402_INDEXES } from '../commerce/x402/claims.ts';
import { DEPLOYMENT_INDEXES } from '../commerce/x402/local-facilitator.ts';
import { CONTEST_INDEXES } from '../contest.ts';
import { EVENT_INDEXES } from '../events/log.ts';
import { WEBHOOK_INDEXES } from '../events/webhooks/queue.ts';
import { SLOT_INDEXES } from '../events/websocket/hub.ts';
import { AUDIT_INDEXES } from '../http/admin.ts';
import { LIVE_INDEXES } from '../market/live/store.ts';
import { STEP_RUN_INDEXES } from '../pipeline/step-runs.ts';
import { BACKUP_LOG_INDEXES } from '../platform/backup.ts';
import type { CollectionIndexes } from '../platform/mongo.ts';
import { DATASET_INDEXES } from '../record/dataset.ts';
import { DISTRIBUTION_SCORES_INDEXES } from '../record/distribution-scores.ts';
import { RECORD_INDEXES } from '../record/forecasts.ts';
import { REPORT_INDEXES } from '../record/reports.ts';
import { SELF_TEST_INDEXES } from '../record/self-tests.ts';
import { PAPER_INDEXES } from '../wager/paper-venue.ts';
import { POLYMARKET_INDEXES } from '../wager/polymarket-exchange.ts';
import { WAGER_INDEXES } from '../wager/wagers.ts';
import { RETENTION_INDEXES } from './retention.ts';

export const ALL_INDEXES: readonly CollectionIndexes[] = [
  ...RECORD_INDEXES,
  ...DISTRIBUTION_SCORES_INDEXES,
  ...DATASET_INDEXES,
  ...WAGER_INDEXES,
  ...PAPER_INDEXES,
  ...STEP_RUN_INDEXES,
  ...LIVE_INDEXES,
  ...POLYMARKET_INDEXES,
  ...CONTEST_INDEXES,
  ...AUTH_INDEXES,
  ...ARTIFACT_INDEXES,
  ...GRANT_INDEXES,
  ...CLIENT_INDEXES,
  ...REQUEST_COUNT_INDEXES,
  ...COMMERCE_INDEXES,
  ...JOB_INDEXES,
  ...CLIENT_FEEDBACK_INDEXES,
  ...X402_INDEXES,
  ...FAILED_SETTLEMENT_INDEXES,
  ...DEPLOYMENT_INDEXES,
  ...PURCHASE_INDEXES,
  ...EVENT_INDEXES,
  ...WEBHOOK_INDEXES,
  ...SLOT_INDEXES,
  ...A2A_INDEXES,
  ...PUSH_CONFIG_INDEXES,
  ...REPORT_INDEXES,
  ...SELF_TEST_INDEXES,
  ...AUDIT_INDEXES,
  ...BACKUP_LOG_INDEXES,
  ...RETENTION_INDEXES,
];
