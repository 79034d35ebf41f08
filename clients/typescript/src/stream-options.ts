import type { EventName } from './events.ts';
import type { Horizon } from './types.ts';

export interface StreamOptions<Name extends EventName = EventName> {
  /** `id` of the last event that you have, 0 for everything that is kept. Default: from now on. Store it with what you do with the event. */
  since?: number | undefined;
  /** Default: every kind. */
  events?: readonly Name[] | undefined;
  /** Default: `7d`. Events without a horizon come with any. */
  horizons?: readonly Horizon[] | 'all' | undefined;
  /** Ends the loop without an error. */
  signal?: AbortSignal | undefined;
  /** Events of the range are older than 90 days and no longer kept. */
  onGap?(gap: { from: number; to: number }): void;
  /** The connection was lost, and is opened again after the wait. */
  onReconnect?(lost: { reason: string; waitMs: number }): void;
  /** First wait before another connection, doubled up to a minute while there is none; default 1,000. */
  reconnectMs?: number | undefined;
}
