import type { ReplayRange } from '../dev/replay.ts';
import type { LiveMarket } from '../market/live/live-market.ts';
import type { PipelineDeps } from '../pipeline/deps.ts';
import type { Schedule } from '../pipeline/schedule/schedule.ts';
import type { Config } from '../platform/config/settings.ts';
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/mongo.ts';
import type { Shutdown } from '../platform/shutdown.ts';
import type { StartupProgress } from '../platform/startup-progress.ts';
import type { ProtocolAdapter } from '../transports/adapter.ts';
import type { HttpDeps } from '../transports/http/deps.ts';
import type { AppOptions } from '../transports/http/server/app.ts';
import type { Venue } from '../wager/venue.ts';
import type { Jobs } from './commerce/jobs.ts';
import type { EventPublishing } from './events/event-log.ts';
import type { WebhookDelivery } from './events/webhook-delivery.ts';
import type { WebSocketService } from './events/websocket.ts';
import type { Infrastructure } from './infrastructure.ts';

/** What the doors, the schedule and the commands stand on. */
export interface Service {
  config: Config;
  log: Log;
  shutdown: Shutdown;
  infrastructure: Infrastructure;
  database: Database;
  pipeline: PipelineDeps;
  /** The event log. */
  push: EventPublishing;
  webhookDelivery: WebhookDelivery;
  websocket: WebSocketService;
  /** Where replayed days wager: no other venue has quotes of the past. */
  replayVenue: Venue;
  http: HttpDeps;
  /** What stands before the routes of HTTP. */
  appOptions: AppOptions;
  /** Other protocols behind the same socket. */
  adapters: readonly ProtocolAdapter[];
  /** What collects live data; null where the feed asks nobody. */
  live: LiveMarket | null;
  /** Takes on jobs of agent commerce until the process stops; null where none are taken. */
  watchJobs: Jobs['watch'];
  /** Range for a first replay; null where there is none. */
  range: ReplayRange | null;
  feedReason: string | null;
  /** Points the on-chain identity to this service's address. A transaction of now: not before a replay of the past. */
  announce(): Promise<void>;
  /** Deletes what has expired. */
  purge(now: Date): Promise<void>;
  /** What is left of the start. */
  progress: StartupProgress;
  /** The running jobs, once they run. */
  state: { schedule: Schedule | null };
}
