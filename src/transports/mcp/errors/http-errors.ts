import type { RpcErrorBody } from './rpc-error.ts';
import { completeSdkError } from './sdk-errors.ts';

/** Answers of the SDK's HTTP handler that no server has made: refusals before it, and of streams. */
export async function completeErrorResponse(answer: Response, body: unknown): Promise<Response> {
  const { status, headers } = answer;
  const isRefusal = status >= 400 || getMethod(body) === 'subscriptions/listen';
  if (!isRefusal || !headers.get('Content-Type')?.startsWith('application/json')) return answer;
  const message = (await answer.json()) as { error?: RpcErrorBody };
  const completed = message.error === undefined ? message : { ...message, error: completeSdkError(message.error, { status, body }) };
  return new Response(JSON.stringify(completed), { status, headers });
}

function getMethod(body: unknown): unknown {
  return (body as { method?: unknown } | null | undefined)?.method;
}
