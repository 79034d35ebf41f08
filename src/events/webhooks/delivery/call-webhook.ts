import { isOracleError, type OracleError } from '../../../platform/errors.ts';
import { type PostResult, postGuarded } from '../../../platform/outbound/guarded-post.ts';
import type { TargetRules } from '../../../platform/outbound/target.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import { getTraceHeaders } from '../../../platform/tracing/active-trace.ts';
import type { ChatVerdict } from '../formats/chat-format.ts';
import { openTargetUrl } from '../formats/chat-target.ts';
import { CHAT_FORMATS } from '../formats/chats/chat-formats.ts';
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

export type WebhookTarget = Pick<WebhookDoc, '_id' | 'sealedUrl' | 'chat' | 'sealedSecret' | 'previousSecret'>;

export interface WebhookRequest {
  messageId: string;
  body: string;
  signal?: AbortSignal;
}

export interface WebhookCallResult {
  attempt: DeliveryAttempt;
  retryAfterSeconds: number | null;
  /** Time that a chat asks for before the next message to it. */
  pauseMs: number;
  /** Why the receiver wants no more calls; null otherwise. */
  ended: string | null;
}

/** Ends the subscription, by Standard Webhooks. */
const HTTP_GONE = 410;

/** Any behaviour of the receiver is an attempt. @throws OracleError CONFIG_INVALID for the secret or the URL; RATE_LIMITED, with nothing sent */
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
  const url = openTargetUrl(webhook, deps.box);
  const common = {
    url,
    headers,
    body,
    timeoutMs: deps.timeoutMs ?? WEBHOOK_CALL_TIMEOUT_MS,
    rules: deps.targets,
    ...(webhook.chat === undefined ? {} : { keepsAnswer: true as const }),
  };
  try {
    const result = await postGuarded({ ...common, ...(signal === undefined ? {} : { signal }) });
    const { reason, ...verdict } = judgeAnswer(webhook, result);
    return { attempt: { at, status: result.status, ms: result.durationMs, reason }, ...verdict };
  } catch (error) {
    if (!isOracleError(error) || error.code === 'RATE_LIMITED') throw error;
    const ms = Math.round(performance.now() - started);
    return { attempt: { at, status: null, ms, reason: formatErrorReason(error) }, retryAfterSeconds: null, pauseMs: 0, ended: null };
  }
}

function judgeAnswer({ chat }: WebhookTarget, { status, retryAfterSeconds, answer }: PostResult): ChatVerdict {
  if (chat === undefined) {
    const ended = status === HTTP_GONE ? 'The receiver answered 410 Gone' : null;
    return { reason: formatStatusReason(status), retryAfterSeconds, pauseMs: 0, ended };
  }
  const { headers = {}, text = '' } = answer ?? {};
  const header = (name: string) => headers[name]?.toString();
  return CHAT_FORMATS[chat.format].judge({ status, retryAfterSeconds, text, header });
}

function formatStatusReason(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}

/** Contains nothing that the receiver sent. */
function formatErrorReason({ code, message, details }: OracleError): string {
  return code === 'TARGET_UNREACHABLE' ? `No answer (${details?.reason})` : message;
}
