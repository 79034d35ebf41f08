const SAMPLE_MS = 100;

interface QueueingDelayOptions {
  /** A request to the database that does nothing, over the connections that all requests share. */
  ping(): Promise<unknown>;
  observe(delayMs: number): void;
  signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  now?(): number;
}

/** Samples how long work waits before it runs: for the event loop, and for a connection and an answer of the database. */
export function watchQueueingDelay({ ping, observe, signal, now = () => performance.now() }: QueueingDelayOptions): void {
  let pingedAtMs: number | null = null;
  let pingMs = 0;
  const startPing = () => {
    const startedAtMs = now();
    pingedAtMs = startedAtMs;
    // A failure is no delay: requests fail as fast.
    const end = (ms: number) => {
      pingMs = ms;
      pingedAtMs = null;
    };
    ping().then(
      () => end(now() - startedAtMs),
      () => end(0),
    );
  };
  const sample = (dueAtMs: number) => {
    if (signal.aborted) return;
    const atMs = now();
    observe(atMs - dueAtMs + (pingedAtMs === null ? pingMs : Math.max(pingMs, atMs - pingedAtMs)));
    if (pingedAtMs === null) startPing();
    schedule();
  };
  const schedule = () => setTimeout(sample, SAMPLE_MS, now() + SAMPLE_MS).unref();
  schedule();
}
