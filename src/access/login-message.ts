import { OracleError } from '../errors.ts';

/** How far the time in a signed message may be from ours, to either side (interface, section 8). */
export const LOGIN_WINDOW_MS = 5 * 60_000;

/** Seconds since 1970 stay below it until the year 5138; milliseconds have been above it since 1973. */
const LEAST_MILLISECONDS = 100_000_000_000;

/** The text that a wallet signs (interface, section 4.2): both parts exactly as they are sent. */
export function loginMessage(wallet: string, timestamp: number): string {
  return `Verify svc balance: ${wallet}:${timestamp}`;
}

/** A Unix time in milliseconds. @param timestamp in seconds or milliseconds, told apart by its size */
export function timestampMs(timestamp: number): number {
  return timestamp < LEAST_MILLISECONDS ? timestamp * 1_000 : timestamp;
}

/** @throws OracleError UNAUTHENTICATED naming `field` when the time is outside the window. */
export function requireInWindow(atMs: number, now: Date, field: string): void {
  if (Math.abs(now.getTime() - atMs) <= LOGIN_WINDOW_MS) return;
  throw loginRefused(field, 'The signed time is not within 5 minutes of the time here', now);
}

/** A login that is refused; the time here helps a caller whose clock is wrong. */
export function loginRefused(field: string, problem: string, now: Date): OracleError {
  return new OracleError('UNAUTHENTICATED', problem, {
    field,
    suggestedAction: 'Sign a new message with the present time and send it within 5 minutes.',
    details: { serverTime: now.toISOString(), windowSeconds: LOGIN_WINDOW_MS / 1_000 },
  });
}

/** A second login with a message that has opened a session, or is about to: whoever has seen it must not get in with it. */
export function loginRepeated(now: Date): OracleError {
  return new OracleError('CONFLICT', 'This signed message was used before: each opens one session', {
    field: 'signature',
    suggestedAction:
      'Use the token of the first login, or sign a message with another timestamp (EIP-4361: another nonce) and log in with that. Timestamps in milliseconds keep two logins within a second apart.',
    details: { serverTime: now.toISOString() },
  });
}
