import { isOracleError, type OracleError } from '../../../platform/errors.ts';
import { postGuarded } from '../../../platform/outbound/guarded-post.ts';
import type { TargetRules } from '../../../platform/outbound/target.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import { buildSignatureHeaders, openSigningSecrets } from '../signing/signature.ts';
import type { DeliveryAttempt } from './delivery.ts';

/** For a receiver to take a message: name look-up, connection and answer together. */
export const WEBHOOK_CALL_TIMEOUT_MS = 15_000;

export interface CallWebhookDeps {
  box: SecretBox;
  targets: TargetRules;
  now(): Date;
  /** Another time limit than the usual one. */
  timeoutMs?: number;
}

/** Where a message goes, and what it is signed with. */
export type WebhookTarget = Pick<WebhookDoc, '_id' | 'url' | 'sealedSecret' | 'previousSecret'>;

export interface WebhookRequest {
  messageId: string;
  body: string;
  /** Ends the call before its time. */
  signal?: AbortSignal;
}

/** One call, and what the receiver asked for. */
export interface WebhookCallResult {
  attempt: DeliveryAttempt;
  retryAfterSeconds: number | null;
}

/**
 * Sends a message to a webhook, signed as of now; whatever the receiver does is told as an attempt.
 * @throws OracleError CONFIG_INVALID when the secret does not open; RATE_LIMITED when nothing was sent, since too many host names are
 * being looked up
 */
export async function callWebhook(
  deps: CallWebhookDeps,
  webhook: WebhookTarget,
  { messageId, body, signal }: WebhookRequest,
): Promise<WebhookCallResult> {
  const at = deps.now();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'bitcoin-signal-oracle',
    ...buildSignatureHeaders({ messageId, at, body }, openSigningSecrets(webhook, deps.box, at)),
  };
  const started = performance.now();
  const common = { url: webhook.url, headers, body, timeoutMs: deps.timeoutMs ?? WEBHOOK_CALL_TIMEOUT_MS, rules: deps.targets };
  try {
    const { status, durationMs: ms, retryAfterSeconds } = await postGuarded({ ...common, ...(signal === undefined ? {} : { signal }) });
    return { attempt: { at, status, ms, reason: formatStatusReason(status) }, retryAfterSeconds };
  } catch (error) {
    if (!isOracleError(error) || error.code === 'RATE_LIMITED') throw error;
    return {
      attempt: { at, status: null, ms: Math.round(performance.now() - started), reason: formatErrorReason(error) },
      retryAfterSeconds: null,
    };
  }
}

function formatStatusReason(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}

/** Words of ours, which repeat nothing that the other side sent. */
function formatErrorReason({ code, message, details }: OracleError): string {
  return code === 'TARGET_UNREACHABLE' ? `No answer (${details?.reason})` : message;
}
