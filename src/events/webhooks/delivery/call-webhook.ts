import { isOracleError, type OracleError } from '../../../platform/errors.ts';
import { postGuarded } from '../../../platform/outbound/guarded-post.ts';
import type { TargetRules } from '../../../platform/outbound/target.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import { getTraceHeaders } from '../../../platform/tracing/active-trace.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import { buildSignatureHeaders, openSigningSecrets } from '../signing/signature.ts';
import type { DeliveryAttempt } from './delivery.ts';

/** Covers name lookup, connection and response. */
export const WEBHOOK_CALL_TIMEOUT_MS = 15_000;

export interface CallWebhookDeps {
  box: SecretBox;
  targets: TargetRules;
  now(): Date;
  timeoutMs?: number;
}

export type WebhookTarget = Pick<WebhookDoc, '_id' | 'url' | 'sealedSecret' | 'previousSecret'>;

export interface WebhookRequest {
  messageId: string;
  body: string;
  signal?: AbortSignal;
}

export interface WebhookCallResult {
  attempt: DeliveryAttempt;
  retryAfterSeconds: number | null;
}

/** Any behaviour of the receiver is an attempt. @throws OracleError CONFIG_INVALID for the secret; RATE_LIMITED, with nothing sent */
export async function callWebhook(deps: CallWebhookDeps, webhook: WebhookTarget, request: WebhookRequest): Promise<WebhookCallResult> {
  const { messageId, body, signal } = request;
  const at = deps.now();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'bitcoin-signal-oracle',
    ...getTraceHeaders(),
    ...buildSignatureHeaders({ messageId, at, body }, openSigningSecrets(webhook, deps.box, at)),
  };
  const started = performance.now();
  const common = { url: webhook.url, headers, body, timeoutMs: deps.timeoutMs ?? WEBHOOK_CALL_TIMEOUT_MS, rules: deps.targets };
  try {
    const { status, durationMs: ms, retryAfterSeconds } = await postGuarded({ ...common, ...(signal === undefined ? {} : { signal }) });
    return { attempt: { at, status, ms, reason: formatStatusReason(status) }, retryAfterSeconds };
  } catch (error) {
    if (!isOracleError(error) || error.code === 'RATE_LIMITED') throw error;
    const ms = Math.round(performance.now() - started);
    return { attempt: { at, status: null, ms, reason: formatErrorReason(error) }, retryAfterSeconds: null };
  }
}

function formatStatusReason(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}

/** Contains nothing that the receiver sent. */
function formatErrorReason({ code, message, details }: OracleError): string {
  return code === 'TARGET_UNREACHABLE' ? `No answer (${details?.reason})` : message;
}
