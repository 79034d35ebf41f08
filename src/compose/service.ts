import type { Door } from '../access/door.ts';
import type { Config } from '../config.ts';
import type { AppOptions } from '../http/app.ts';
import type { HttpParts } from '../http/parts.ts';
import type { Infrastructure } from '../local/infrastructure.ts';
import type { ReplayRange } from '../local/replay.ts';
import type { Log } from '../log.ts';
import type { LiveMarket } from '../market/live/live-market.ts';
import type { Database } from '../mongo.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import type { Schedule } from '../pipeline/schedule.ts';
import type { Setup } from '../setup.ts';
import type { Shutdown } from '../shutdown.ts';
import type { Venue } from '../wager/venue.ts';
import type { Jobs } from './jobs.ts';
import type { Push } from './push.ts';
import type { WebhookDelivery } from './webhook-delivery.ts';
import type { WebSocketService } from './websocket.ts';

/** What the doors, the schedule and the commands stand on. */
export interface Service {
  config: Config;
  log: Log;
  shutdown: Shutdown;
  infrastructure: Infrastructure;
  database: Database;
  pipeline: PipelineParts;
  /** The event log. */
  push: Push;
  webhookDelivery: WebhookDelivery;
  websocket: WebSocketService;
  /** Where replayed days wager: no other venue has quotes of the past. */
  replayVenue: Venue;
  http: HttpParts;
  /** What stands before the routes of HTTP. */
  door: AppOptions;
  /** Other protocols behind the same socket. */
  doors: readonly Door[];
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
  setup: Setup;
  /** The running jobs, once they run. */
  state: { schedule: Schedule | null };
}
