import { AUTH_INDEXES } from '../auth/auth-service.ts';
import { REFRESH_REPLY_INDEXES } from '../auth/oauth/provider/refresh-grace.ts';
import { ARTIFACT_INDEXES } from '../auth/oauth/stores/artifact-store.ts';
import { CLIENT_INDEXES } from '../auth/oauth/stores/client-store.ts';
import { GRANT_INDEXES } from '../auth/oauth/stores/grant-store.ts';
import { REQUEST_COUNT_INDEXES } from '../auth/rate-limit/request-count-store.ts';
import { CLIENT_FEEDBACK_INDEXES } from '../commerce/feedback/client-feedback-store.ts';
import { JOB_INDEXES } from '../commerce/jobs/job-store.ts';
import { COMMERCE_INDEXES } from '../commerce/ledger/ledger.ts';
import { PURCHASE_INDEXES } from '../commerce/purchases/purchase-store.ts';
import { X402_INDEXES } from '../commerce/x402/claim-store.ts';
import { FAILED_SETTLEMENT_INDEXES } from '../commerce/x402/failed-settlements.ts';
import { DEPLOYMENT_INDEXES } from '../commerce/x402/settlement/deployments/deployment-budget.ts';
import { CONTEST_INDEXES } from '../contest/deps.ts';
import { EVENT_INDEXES } from '../events/log/event-log.ts';
import { DELIVERY_INDEXES } from '../events/webhooks/delivery/delivery-queue.ts';
import { CHAT_PACE_INDEXES } from '../events/webhooks/limits/chat-pace-store.ts';
import { DAILY_QUOTA_INDEXES } from '../events/webhooks/limits/daily-quota-store.ts';
import { WEBHOOK_INDEXES } from '../events/webhooks/registry/webhook-store.ts';
import { ARCHIVE_INDEXES } from '../market/archive/archive-store.ts';
import { LIVE_INDEXES } from '../market/live/store/live-stores.ts';
import { QUEUE_INDEXES } from '../pipeline/schedule/queue-indexes.ts';
import { STEP_RUN_INDEXES } from '../pipeline/step-run-store.ts';
import { BACKUP_LOG_INDEXES } from '../platform/backup/backup-log.ts';
import type { CollectionIndexes } from '../platform/mongo.ts';
import { DATASET_INDEXES } from '../record/dataset/file-store.ts';
import { DISTRIBUTION_SCORES_INDEXES } from '../record/distributions/distribution-scores.ts';
import { RECORD_INDEXES } from '../record/forecast-record.ts';
import { REPORT_INDEXES } from '../record/report-store.ts';
import { SELF_TEST_INDEXES } from '../record/self-test/store.ts';
import { TIMESTAMP_INDEXES } from '../record/timestamps/timestamp-store.ts';
import { A2A_INDEXES } from '../transports/a2a/a2a.ts';
import { PUSH_CONFIG_INDEXES } from '../transports/a2a/push/config-store.ts';
import { AUDIT_INDEXES } from '../transports/http/admin/audit-log.ts';
import { PAPER_INDEXES } from '../wager/paper-venue.ts';
import { POLYMARKET_INDEXES } from '../wager/polymarket/execution/order-store.ts';
import { WAGER_INDEXES } from '../wager/wager-book.ts';
import { WEBSOCKET_INDEXES } from './events/websocket.ts';

export const ALL_INDEXES: readonly CollectionIndexes[] = [
  ...RECORD_INDEXES,
  ...DISTRIBUTION_SCORES_INDEXES,
  ...DATASET_INDEXES,
  ...WAGER_INDEXES,
  ...PAPER_INDEXES,
  ...STEP_RUN_INDEXES,
  ...QUEUE_INDEXES,
  ...LIVE_INDEXES,
  ...ARCHIVE_INDEXES,
  ...POLYMARKET_INDEXES,
  ...CONTEST_INDEXES,
  ...AUTH_INDEXES,
  ...ARTIFACT_INDEXES,
  ...REFRESH_REPLY_INDEXES,
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
  ...WEBSOCKET_INDEXES,
  ...DELIVERY_INDEXES,
  ...DAILY_QUOTA_INDEXES,
  ...CHAT_PACE_INDEXES,
  ...A2A_INDEXES,
  ...PUSH_CONFIG_INDEXES,
  ...REPORT_INDEXES,
  ...TIMESTAMP_INDEXES,
  ...SELF_TEST_INDEXES,
  ...AUDIT_INDEXES,
  ...BACKUP_LOG_INDEXES,
];
