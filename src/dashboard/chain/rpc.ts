import { BodyTooLargeError, readBoundedBytes } from './bounded-body.ts';

/** JSON-RPC client for endpoints chosen by the reader. Their answers are not trusted. */

/** The endpoint failed or gave an invalid answer. */
export class RpcUnavailableError extends Error {}

export class RpcResponseTooLargeError extends RpcUnavailableError {}

const MAX_BATCH_CALLS = 40;
const MAX_ANSWER_BYTES = 2_000_000;
const TIMEOUT_MS = 20_000;
/** Endpoints without JSON-RPC batching. */
const endpointsWithoutBatches = new Set<string>();

export interface RpcCall {
  method: string;
  params: readonly unknown[];
}
export type RpcOutcome = { result: unknown } | { problem: string };
type Fetch = (url: string, request: RequestInit) => Promise<Response>;

/**
 * Answers in the order of the calls; batched where the endpoint supports it.
 * @throws {RpcUnavailableError} when the endpoint is unreachable or violates JSON-RPC
 */
export async function callAll(
  url: string,
  calls: readonly RpcCall[],
  { signal, fetch = globalThis.fetch.bind(globalThis) }: { signal?: AbortSignal; fetch?: Fetch } = {},
): Promise<RpcOutcome[]> {
  const answers = [];
  for (let from = 0; from < calls.length; from += MAX_BATCH_CALLS) {
    answers.push(...(await callBatch({ url, signal, fetch }, calls.slice(from, from + MAX_BATCH_CALLS))));
  }
  return answers;
}

/** @throws {RpcUnavailableError} */
export function requireResult(answer: RpcOutcome) {
  if ('problem' in answer) throw new RpcUnavailableError(answer.problem);
  return answer.result;
}

interface Endpoint {
  url: string;
  signal?: AbortSignal;
  fetch: Fetch;
}

/** Splits the batch when the response is too large, which an attester can cause with large attestations. */
async function callBatch(endpoint: Endpoint, calls: readonly RpcCall[]): Promise<RpcOutcome[]> {
  try {
    return await callAtOnce(endpoint, calls);
  } catch (error) {
    if (!(error instanceof RpcResponseTooLargeError) || calls.length === 1) throw error;
    const half = Math.ceil(calls.length / 2);
    return [...(await callBatch(endpoint, calls.slice(0, half))), ...(await callBatch(endpoint, calls.slice(half)))];
  }
}

async function callAtOnce(endpoint: Endpoint, calls: readonly RpcCall[]): Promise<RpcOutcome[]> {
  const requests = calls.map((call, index) => ({ jsonrpc: '2.0', id: index + 1, ...call }));
  if (requests.length > 1 && !endpointsWithoutBatches.has(endpoint.url)) {
    const answer = await postJson(endpoint, requests);
    if (Array.isArray(answer)) return requests.map(({ id }) => findAnswer(id, answer));
  }
  const answers = [];
  for (const request of requests) answers.push(findAnswer(request.id, [(await postJson(endpoint, request)) as RpcAnswer | null]));
  if (requests.length > 1) endpointsWithoutBatches.add(endpoint.url);
  return answers;
}

interface RpcAnswer {
  id?: unknown;
  result?: unknown;
  error?: unknown;
  detail?: unknown;
}

function findAnswer(id: number, answers: readonly (RpcAnswer | null)[]): RpcOutcome {
  const mine = answers.filter((answer) => answer?.id === id);
  if (mine.length !== 1) throw new RpcUnavailableError(mine.length === 0 ? explainMissingAnswer(answers) : 'it answers one call twice');
  const { result, error } = mine[0] ?? {};
  if (error !== undefined) return { problem: formatRpcError(error) };
  return result === undefined ? { problem: 'it answers without a result' } : { result };
}

/** A rejected batch has no call ids. */
function explainMissingAnswer(answers: readonly (RpcAnswer | null)[]) {
  const [first] = answers;
  if (first?.error !== undefined) return formatRpcError(first.error);
  // Problem details (RFC 9457), as this service sends them.
  return typeof first?.detail === 'string' ? formatRpcError({ message: first.detail }) : 'it answers other calls than those sent';
}

function formatRpcError(error: unknown) {
  const { message } = (error ?? {}) as { message?: unknown };
  return `it returns an error: ${typeof message === 'string' ? message.slice(0, 120) : 'no reason given'}`;
}

async function postJson({ url, signal, fetch }: Endpoint, body: unknown): Promise<unknown> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    // Sends neither credentials nor the page URL to the endpoint.
    credentials: 'omit' as const,
    referrerPolicy: 'no-referrer' as const,
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  };
  const { status, text } = await fetchText(() => fetch(url, request), signal);
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcUnavailableError(`it answers with status ${status} and without JSON`);
  }
}

async function fetchText(send: () => Promise<Response>, signal: AbortSignal | undefined) {
  try {
    const response = await send();
    return { status: response.status, text: new TextDecoder().decode(await readBoundedBytes(response, MAX_ANSWER_BYTES)) };
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw new RpcResponseTooLargeError(error.message);
    if (signal?.aborted) throw error;
    const late = error instanceof Error && error.name === 'TimeoutError';
    throw new RpcUnavailableError(late ? `it does not answer within ${TIMEOUT_MS / 1_000} s` : 'it cannot be reached from this browser');
  }
}
