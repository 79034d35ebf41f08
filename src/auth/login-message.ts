import { OracleError } from '../errors.ts';

/** Maximum difference between the signed time and the server's, in either direction (interface, section 8). */
export const LOGIN_WINDOW_MS = 5 * 60_000;

/** Unix seconds stay below until the year 5138; Unix milliseconds have been above since 1973. */
const MIN_MILLISECOND_TIMESTAMP = 100_000_000_000;

/** The message that a wallet signs (interface, section 4.2): the wallet in any case, the timestamp exactly as in the request. */
export function formatLoginMessage(wallet: string, timestamp: number): string {
  return `Verify svc balance: ${wallet}:${timestamp}`;
}

/** A Unix time in milliseconds. @param timestamp in seconds or milliseconds, distinguished by size */
export function toTimestampMs(timestamp: number): number {
  return timestamp < MIN_MILLISECOND_TIMESTAMP ? timestamp * 1_000 : timestamp;
}

/** @throws OracleError UNAUTHENTICATED naming `field` for a time outside the window */
export function requireWithinLoginWindow(atMs: number, now: Date, field: string): void {
  if (Math.abs(now.getTime() - atMs) <= LOGIN_WINDOW_MS) return;
  throw loginRejected(field, 'The signed time is not within 5 minutes of the server time', now);
}

/** Error for a rejected login, with the server's time for a client whose clock is wrong. */
export function loginRejected(field: string, problem: string, now: Date): OracleError {
  return new OracleError('UNAUTHENTICATED', problem, {
    field,
    suggestedAction: 'Sign a new message with the current time and send it within 5 minutes.',
    details: { serverTime: now.toISOString(), windowSeconds: LOGIN_WINDOW_MS / 1_000 },
  });
}

/** Error for a replayed message: an observer of a login must not be able to open a session with it. */
export function loginAlreadyUsed(now: Date): OracleError {
  return new OracleError('CONFLICT', 'This signed message was used before: each opens one session', {
    field: 'signature',
    suggestedAction:
      'Use the token of the first login, or sign a message with another timestamp (EIP-4361: another nonce). Timestamps in milliseconds allow several logins within a second.',
    details: { serverTime: now.toISOString() },
  });
}
