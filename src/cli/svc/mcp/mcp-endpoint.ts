import { setTimeout as delay } from 'node:timers/promises';
import { isOracleError } from '../../../platform/errors.ts';
import { createOperatorFetch } from '../../../platform/outbound/operator-fetch.ts';
import { isTokenRejected, parseServiceError, readFailure } from '../../../platform/service-client/service-client.ts';
import { joinUrl } from '../../../platform/service-url.ts';
import { readEventData } from './event-stream.ts';
import { buildRequestHeaders } from './request-headers.ts';
import { isRpcBody, type RpcBody } from './rpc-message.ts';

const PATH = '/mcp';
/** The time after which MCP clients give a call up by default. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Streams of `subscriptions/listen` end with the client. The longest time that a timer can wait. */
const STREAM_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_BYTES = 16 * 2 ** 20;
/** An assistant that starts with its machine may be there before the service. */
const HANDSHAKE_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

export interface McpEndpointOptions {
  /** Base URL of the service. */
  url: string;
  /** Awaited before each request; undefined: anonymous. @throws OracleError of a login */
  getToken(): Promise<string | undefined>;
  /** Drops a token that the service has rejected. True if the next one may differ. */
  forgetToken(): boolean;
  onNotice(text: string): void;
  handshakeWaitsMs?: readonly number[];
}

export interface McpEndpoint {
  /** Answers in their order. @throws OracleError SERVICE_UNREACHABLE, CONFIG_INVALID, those of a login and of the service */
  send(body: RpcBody, signal: AbortSignal): AsyncGenerator<RpcBody>;
}

/** The MCP endpoint of a service over Streamable HTTP, which it serves without sessions. */
export function createMcpEndpoint({ handshakeWaitsMs = HANDSHAKE_WAITS_MS, ...options }: McpEndpointOptions): McpEndpoint {
  const { url } = options;
  let negotiated: string | undefined;
  return {
    async *send(body, signal) {
      const post = () => postWithRetry(options, { body, signal, headers: buildRequestHeaders(body, negotiated) });
      const isHandshake = isMethod(body, 'initialize') || isMethod(body, 'server/discover');
      const response = isHandshake
        ? await postPatiently(post, { waitsMs: handshakeWaitsMs, signal, onNotice: options.onNotice })
        : await post();
      for await (const answer of readAnswers(response, url)) {
        if (isMethod(body, 'initialize')) negotiated = readRevision(answer) ?? negotiated;
        yield answer;
      }
    },
  };
}

const isMethod = (body: RpcBody, method: string) => !Array.isArray(body) && body.method === method;

function readRevision(answer: RpcBody): string | undefined {
  const revision = Array.isArray(answer) ? undefined : answer.result?.protocolVersion;
  return typeof revision === 'string' ? revision : undefined;
}

interface Patience extends Pick<McpEndpointOptions, 'onNotice'> {
  waitsMs: readonly number[];
  signal: AbortSignal;
}

/** Repeats what did not reach the service. */
async function postPatiently(post: () => Promise<Response>, { waitsMs, signal, onNotice }: Patience): Promise<Response> {
  for (const waitMs of waitsMs) {
    try {
      return await post();
    } catch (error) {
      if (!isOracleError(error, 'SERVICE_UNREACHABLE')) throw error;
      onNotice(`${error.message}; again in ${waitMs / 1_000} s`);
      await delay(waitMs, undefined, { signal });
    }
  }
  return post();
}

interface Post {
  body: RpcBody;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** Retries once with another token: the service has answered as to an anonymous client, and no method changes anything. */
async function postWithRetry(options: McpEndpointOptions, request: Post): Promise<Response> {
  const first = await post(options, request);
  if (!(first.status === 401 || isTokenRejected(first)) || !options.forgetToken()) return first;
  await first.body?.cancel();
  return post(options, request);
}

async function post({ url, getToken }: McpEndpointOptions, { body, headers, signal }: Post): Promise<Response> {
  const token = await getToken();
  const timeoutMs = isMethod(body, 'subscriptions/listen') ? STREAM_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
  const fetchService = createOperatorFetch({ base: url, timeoutMs, maxBytes: MAX_BYTES });
  const sent = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...headers,
  };
  try {
    return await fetchService(joinUrl(url, PATH), { method: 'POST', headers: sent, body: JSON.stringify(body), signal });
  } catch (error) {
    signal.throwIfAborted();
    throw readFailure(error, { url, deadlineMs: timeoutMs });
  }
}

async function* readAnswers(response: Response, url: string): AsyncGenerator<RpcBody> {
  const { status, headers, body } = response;
  try {
    if (body !== null && /^text\/event-stream\b/i.test(headers.get('Content-Type') ?? '')) {
      for await (const data of readEventData(body)) yield JSON.parse(data);
      return;
    }
    const text = await response.text();
    if (text === '' && status < 300) return;
    const answer = parseJson(text);
    if (!isRpcBody(answer)) throw parseServiceError({ status, headers, body: answer }, url);
    yield answer;
  } catch (error) {
    throw isOracleError(error) ? error : readFailure(error, { url, deadlineMs: REQUEST_TIMEOUT_MS });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
