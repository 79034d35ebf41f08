import { OracleError } from '../../platform/errors.ts';

/** How far the time in a signed message may be from ours, to either side (interface, section 8). */
export const LOGIN_WINDOW_MS = 5 * 60_000;

/** Seconds since 1970 stay below it until the year 5138; milliseconds have been above it since 1973. */
const MIN_MILLISECOND_TIMESTAMP = 100_000_000_000;

/** The text that a wallet signs (interface, section 4.2): both parts exactly as they are sent. */
export function formatLoginMessage(wallet: string, timestamp: number): string {
  return `Verify svc balance: ${wallet}:${timestamp}`;
}

/** A Unix time in milliseconds. @param timestamp in seconds or milliseconds, told apart by its size */
export function toTimestampMs(timestamp: number): number {
  return timestamp < MIN_MILLISECOND_TIMESTAMP ? timestamp * 1_000 : timestamp;
}

/** @throws OracleError UNAUTHENTICATED naming `field` when the time is outside the window. */
export function requireWithinLoginWindow(atMs: number, now: Date, field: string): void {
  if (Math.abs(now.getTime() - atMs) <= LOGIN_WINDOW_MS) return;
  throw loginRejected(field, 'The signed time is not within 5 minutes of the time here', now);
}

/** A login that is refused; the time here helps a caller whose clock is wrong. */
export function loginRejected(field: string, problem: string, now: Date): OracleError {
  return new OracleError('UNAUTHENTICATED', problem, {
    field,
    suggestedAction: 'Sign a new message with the present time and send it within 5 minutes.',
    details: { serverTime: now.toISOString(), windowSeconds: LOGIN_WINDOW_MS / 1_000 },
  });
}

/** A second login with a message that has opened a session, or is about to: whoever has seen it must not get in with it. */
export function loginAlreadyUsed(now: Date): OracleError {
  return new OracleError('CONFLICT', 'This signed message was used before: each opens one session', {
    field: 'signature',
    suggestedAction:
      'Use the token of the first login, or sign a message with another timestamp (EIP-4361: another nonce) and log in with that. Timestamps in milliseconds keep two logins within a second apart.',
    details: { serverTime: now.toISOString() },
  });
}
