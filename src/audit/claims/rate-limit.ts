const MAX_WAITS = 30;
const DEFAULT_WAIT_SECONDS = 5;
const MAX_WAIT_SECONDS = 60;

/** Repeats a request that is rejected by a rate limit when it may succeed again: a long record has more pages than requests a minute. */
export async function waitForRateLimit<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  for (let waits = 0; ; waits++) {
    try {
      return await request();
    } catch (error) {
      const { code, retryAfterSeconds = DEFAULT_WAIT_SECONDS } = error as { code?: unknown; retryAfterSeconds?: number };
      if (code !== 'RATE_LIMITED' || waits === MAX_WAITS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000 * Math.min(MAX_WAIT_SECONDS, retryAfterSeconds)));
    }
  }
}
