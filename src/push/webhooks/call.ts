import { isOracleError, type OracleError } from '../../errors.ts';
import { guardedPost } from '../../platform/outbound/guarded-post.ts';
import type { TargetRules } from '../../platform/outbound/target.ts';
import type { SecretBox } from '../../secret-box.ts';
import type { Attempt } from './delivery.ts';
import { signatureHeaders, signingSecrets } from './signature.ts';
import type { WebhookDoc } from './webhook.ts';

/** For a receiver to take a message: name look-up, connection and answer together. */
export const CALL_TIMEOUT_MS = 15_000;

export interface CallParts {
  box: SecretBox;
  targets: TargetRules;
  now(): Date;
  /** Another time limit than the usual one. */
  timeoutMs?: number;
}

/** Where a message goes, and what it is signed with. */
export type Callee = Pick<WebhookDoc, '_id' | 'url' | 'sealedSecret' | 'previousSecret'>;

export interface CallOf {
  messageId: string;
  body: string;
  /** Ends the call before its time. */
  signal?: AbortSignal;
}

/** One call, and what the receiver asked for. */
export interface Called {
  attempt: Attempt;
  retryAfterSeconds: number | null;
}

/**
 * Sends a message to a webhook, signed as of now; whatever the receiver does is told as an attempt.
 * @throws OracleError CONFIG_INVALID when the secret does not open; RATE_LIMITED when nothing was sent, since too many host names are
 * being looked up
 */
export async function callWebhook(parts: CallParts, webhook: Callee, { messageId, body, signal }: CallOf): Promise<Called> {
  const at = parts.now();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'bitcoin-signal-oracle',
    ...signatureHeaders({ messageId, at, body }, signingSecrets(webhook, parts.box, at)),
  };
  const started = performance.now();
  const common = { url: webhook.url, headers, body, timeoutMs: parts.timeoutMs ?? CALL_TIMEOUT_MS, rules: parts.targets };
  try {
    const { status, ms, retryAfterSeconds } = await guardedPost({ ...common, ...(signal === undefined ? {} : { signal }) });
    return { attempt: { at, status, ms, reason: reasonOf(status) }, retryAfterSeconds };
  } catch (error) {
    if (!isOracleError(error) || error.code === 'RATE_LIMITED') throw error;
    return { attempt: { at, status: null, ms: Math.round(performance.now() - started), reason: wordsOf(error) }, retryAfterSeconds: null };
  }
}

function reasonOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}

/** Words of ours, which repeat nothing that the other side sent. */
function wordsOf({ code, message, details }: OracleError): string {
  return code === 'TARGET_UNREACHABLE' ? `No answer (${details?.reason})` : message;
}
