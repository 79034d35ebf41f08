import { completedError } from './library-words.ts';
import type { RpcError } from './rpc-error.ts';

/** Answers of the SDK's HTTP handler that no server has made: refusals before it, and of streams. */
export async function guidedAnswer(answer: Response, body: unknown): Promise<Response> {
  const { status, headers } = answer;
  const isRefusal = status >= 400 || methodOf(body) === 'subscriptions/listen';
  if (!isRefusal || !headers.get('Content-Type')?.startsWith('application/json')) return answer;
  const message = (await answer.json()) as { error?: RpcError };
  const told = message.error === undefined ? message : { ...message, error: completedError(message.error, { status, body }) };
  return new Response(JSON.stringify(told), { status, headers });
}

function methodOf(body: unknown): unknown {
  return (body as { method?: unknown } | null | undefined)?.method;
}
