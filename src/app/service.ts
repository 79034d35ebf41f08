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
import type { StartupContext } from './process-context.ts';

/** Parts that the transports, the schedule and the commands use. */
export interface Service
  extends StartupContext,
    Pick<ServiceCore, 'infrastructure' | 'database' | 'live' | 'range' | 'feedReason' | 'announce'> {
  pipeline: PipelineDeps;
  /** The event log. */
  push: EventPublishing;
  webhookDelivery: WebhookDelivery;
  websocket: WebSocketService;
  /** Venue of replayed days: only it quotes past days. */
  replayVenue: Venue;
  http: HttpDeps;
  appOptions: AppOptions;
  /** Other protocols on the HTTP socket. */
  adapters: readonly ProtocolAdapter[];
  /** Processes agent commerce jobs until the process stops; null where none are accepted. */
  watchJobs: Jobs['watch'];
  /** Deletes expired documents. */
  purge(now: Date): Promise<void>;
  /** Set once the jobs run. */
  state: { schedule: Schedule | null };
}
