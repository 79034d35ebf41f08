import { StreamEnded } from './errors.ts';
import type { EventName, EventTypes } from './events.ts';
import { type ConnectionEnd, followConnection, type StreamDeps } from './stream-connection.ts';
import type { StreamOptions } from './stream-options.ts';

const MAX_WAIT_MS = 60_000;
const DEFAULT_RECONNECT_MS = 1_000;
/** Too many messages, and a balance below the Basic tier. */
const FINAL_CLOSE_CODES = [1008, 4003];

/**
 * Events without end, each once and in order, through drops and restarts: a new connection continues after the last event.
 * @throws StreamEnded; ServiceProblem, and OracleError INPUT_INVALID, where another connection would be rejected, too
 */
export async function* streamEvents<Name extends EventName>(
  deps: StreamDeps,
  options: StreamOptions<Name>,
): AsyncGenerator<EventTypes[Name], void, undefined> {
  const { signal, onReconnect, reconnectMs = DEFAULT_RECONNECT_MS } = options;
  const position = { lastId: options.since };
  let failures = 0;
  while (!signal?.aborted) {
    const end: ConnectionEnd = yield* followConnection(deps, options, position);
    if (signal?.aborted) return;
    if (FINAL_CLOSE_CODES.includes(end.closeCode)) throw new StreamEnded(end.closeCode, end.reason);
    failures = end.wasConnected ? 0 : failures + 1;
    const waitMs = chooseWaitMs(end, reconnectMs * 2 ** failures);
    onReconnect?.({ reason: end.reason || `closed with ${end.closeCode}`, waitMs });
    await wait(waitMs, signal);
  }
}

/** With a random part, so that the clients of a restarted service do not come back at the same instant. */
function chooseWaitMs({ minWaitMs }: ConnectionEnd, backoffMs: number): number {
  return Math.round(Math.max(minWaitMs, Math.min(MAX_WAIT_MS, backoffMs) * (0.5 + Math.random() / 2)));
}

/** Ends early when the signal is aborted. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
  });
}
