import type { AccessSource } from '../auth/access/access-entry.ts';
import type { PipelineDeps } from '../pipeline/deps.ts';
import type { Schedule } from '../pipeline/schedule/schedule.ts';
import type { ProtocolAdapter } from '../transports/adapter.ts';
import type { HttpDeps } from '../transports/http/deps.ts';
import type { AppOptions } from '../transports/http/server/app-options.ts';
import type { Venue } from '../wager/venue.ts';
import type { Jobs } from './commerce/jobs.ts';
import type { ServiceCore } from './core.ts';
import type { EventPublishing } from './events/event-log.ts';
import type { WebhookDelivery } from './events/webhook-delivery.ts';
import type { WebSocketService } from './events/websocket.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { StartupContext } from './process-context.ts';

export interface Service
  extends StartupContext,
    Pick<ServiceCore, 'infrastructure' | 'database' | 'live' | 'archive' | 'range' | 'feedReason' | 'announce' | 'champions'> {
  pipeline: PipelineDeps;
  push: EventPublishing;
  webhookDelivery: WebhookDelivery;
  websocket: WebSocketService;
  replayVenue: Venue;
  http: HttpDeps;
  /** Null unless they are served. */
  metrics: Metrics | null;
  appOptions: AppOptions;
  adapters: readonly ProtocolAdapter[];
  /** Applications that a wallet has allowed by OAuth; null where that is off. */
  applications: AccessSource | null;
  /** Processes agent commerce jobs until the process stops; null where none are accepted. */
  watchJobs: Jobs['watch'];
  /** Stamps the commitments of days at calendars; null where none are set. */
  stampDays: (() => Promise<void>) | null;
  purge(now: Date): Promise<void>;
  state: { schedule: Schedule | null };
}
