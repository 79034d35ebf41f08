import { ReadableStream } from 'node:stream/web';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJsonContentType,
  isLegacyRequest,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { Request, Response } from 'express';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { MCP_PATHS } from '../../auth/oauth/resources.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { isPaymentPayload } from '../../commerce/x402/protocol/payment-payload.ts';
import { OracleError } from '../../platform/errors.ts';
import { isNestedDeeper } from '../../platform/validation/nesting.ts';
import { isPlainObject } from '../../platform/validation/plain-object.ts';
import type { AdapterError, ProtocolAdapter } from '../adapter.ts';
import type { McpAuthorization } from './authorization.ts';
import type { McpBackend } from './backends/backend.ts';
import { META_KEYS } from './meta-keys.ts';
import type { AdmitMessage, McpServerOptions } from './options.ts';
import { SERVER_ERROR } from './rpc-error.ts';
import { buildMcpServer } from './server.ts';
import type { RequestSource } from './validation/origins.ts';

/** Parsers behind this check are recursive: deeper input would overflow the stack. */
const MAX_BODY_DEPTH = 40;

/** Tools need a few kilobytes of input. */
const BODY_LIMIT_BYTES = 64 * 1024;

const SSE_TYPE = 'text/event-stream';

/** Messages in a JSON-RPC batch, which revisions up to 2025-03-26 allow. */
const MAX_BATCH = 20;

/** Open `subscriptions/listen` streams. The lists are static, so a client gains nothing from one. */
const MAX_SUBSCRIPTIONS = 64;

export interface McpAdapterOptions extends Omit<McpServerOptions, 'onError'> {
  backendFor(context: RequestContext): McpBackend;
  /** @throws OracleError ORIGIN_REFUSED */
  checkOrigin(source: RequestSource): void;
  /** Challenges callers without authorization; absent where OAuth is not offered. */
  authorization?: McpAuthorization;
  /** Time without an answer after which its SSE stream opens with a keep-alive comment. Default: 15 s, set by the SDK. */
  keepAliveMs?: number;
  /** Logs why the SDK rejected a request; the message may quote the client. */
  onRejected?(error: Error): void;
  /** Logs internal errors; the client receives the request id only. */
  onError?(error: unknown, requestId: string): void;
}

export interface McpAdapter extends ProtocolAdapter {
  close(): Promise<void>;
}

/** MCP over Streamable HTTP, stateless: each request gets a server of its own, bound to its caller. */
export function createMcpAdapter({
  backendFor,
  checkOrigin,
  authorization,
  keepAliveMs,
  onRejected,
  onError,
  ...options
}: McpAdapterOptions): McpAdapter {
  const onerror = (error: Error) => onRejected?.(error);
  /** One for all messages of a request. */
  const admissions = new WeakMap<RequestContext, AdmitMessage>();
  const createServer = (context: RequestContext) => {
    const admit = admissions.get(context) ?? createMessageAdmission(context);
    admissions.set(context, admit);
    return buildMcpServer(backendFor(context), { ...options, admit, onError: (error) => onError?.(error, context.requestId) });
  };
  const handler = createMcpHandler(({ authInfo }) => createServer(getRequestContext(authInfo)), {
    onerror,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    keepAliveMs,
    maxRequestBodySize: BODY_LIMIT_BYTES,
  });
  const fetch: Fetch = async (request, given) => {
    const messages = given?.parsedBody;
    const isSplit = Array.isArray(messages) && messages.every(isSplittable) && (await isLegacyRequest(request, messages));
    const response = isSplit ? await answerBatch(handler.fetch, messages, request, given) : await handler.fetch(request, given);
    // By the next turn the first message has begun, in a unit of its own, or there is none.
    setImmediate(() => getRequestContext(given?.authInfo).detach());
    return response;
  };
  const handleRequest = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: BODY_LIMIT_BYTES });
  return {
    mounts: [{ path: ENDPOINTS.mcp }, ...(authorization === undefined ? [] : [{ path: ENDPOINTS.mcpAccount }])],
    ...(authorization === undefined ? {} : { identify: authorization.identify }),
    bodyTypes: ['application/json'],
    bodyLimitBytes: BODY_LIMIT_BYTES,
    inspectRequest: (request) => checkOrigin({ host: request.host, origin: request.get('Origin') }),
    carriesPayment: (body) => options.payments === 'call' && [body].flat().some(hasPaymentPayload),
    async handle(request, response, context) {
      // What the router has matched: it takes other spellings of a path too.
      const path = request.route.path === ENDPOINTS.mcpAccount ? MCP_PATHS.account : MCP_PATHS.open;
      authorization?.requireAuthorized(path, request, response, context.caller);
      validateHttpRequest(request, response);
      await countNotifications(request.body, context);
      await handleRequest(Object.assign(request, { auth: toAuthInfo(context) }), response, request.body);
    },
    serializeError: sendError,
    close: () => handler.close(),
  };
}

/** Carries the request context through the SDK to the server of the request. The token stays behind: nothing further needs it. */
function toAuthInfo(context: RequestContext) {
  return { token: '', clientId: context.caller.wallet ?? 'anonymous', scopes: [context.caller.tier], extra: { context } };
}

function getRequestContext(authInfo: { extra?: Record<string, unknown> } | undefined): RequestContext {
  const context = authInfo?.extra?.context;
  if (context === undefined) throw new OracleError('INTERNAL', 'An MCP request has no request context');
  return context as RequestContext;
}

/** Whether a message, of any form, has a payment of a known form. */
function hasPaymentPayload(message: unknown): boolean {
  const params = isPlainObject(message) ? message.params : undefined;
  const meta = isPlainObject(params) ? params._meta : undefined;
  return isPlainObject(meta) && isPaymentPayload(meta[META_KEYS.payment]);
}

/** Requests of a batch are counted when they are admitted, and one message with the HTTP request. @throws OracleError INPUT_INVALID, RATE_LIMITED */
async function countNotifications(body: unknown, context: RequestContext): Promise<void> {
  if (!Array.isArray(body)) return;
  if (body.length > MAX_BATCH) {
    const suggestedAction = 'Send fewer messages at once.';
    throw new OracleError('INPUT_INVALID', `A batch may have ${MAX_BATCH} messages`, { field: 'batch', suggestedAction });
  }
  const notifications = body.filter((message) => !isPlainObject(message) || !('id' in message)).length;
  const uncounted = Math.min(notifications, body.length - 1);
  if (uncounted > 0) await context.countCall(uncounted);
}

type Fetch = ReturnType<typeof createMcpHandler>['fetch'];
type Answer = Awaited<ReturnType<Fetch>>;

/** What the SDK would reject in a batch, it rejects. */
function isSplittable(message: unknown): boolean {
  return isJSONRPCNotification(message) || (isJSONRPCRequest(message) && !isInitializeRequest(message));
}

/**
 * Messages of a batch, one after the other, each by a server of its own: the SDK keeps all answers of a server until its last is there. The
 * next begins when the client has taken the answers before it.
 */
async function answerBatch(fetch: Fetch, messages: readonly unknown[], ...[request, given]: Parameters<Fetch>): Promise<Answer> {
  const answer = (message: unknown) => fetch(request, { ...given, parsedBody: message });
  if (!messages.some(isJSONRPCRequest)) {
    for (const message of messages) await answer(message);
    return new globalThis.Response(null, { status: 202 });
  }
  const encoder = new TextEncoder();
  // Begins at once, in the unit of the request.
  const first = answer(messages[0]);
  // A client may leave before the stream is read.
  first.catch(() => undefined);
  async function* stream(): AsyncGenerator<Uint8Array> {
    for (const [index, message] of messages.entries()) {
      const response = await (index === 0 ? first : answer(message));
      if (response.headers.get('Content-Type')?.startsWith(SSE_TYPE)) yield* response.body ?? [];
      else if (response.body !== null) yield encoder.encode(`event: message\ndata: ${JSON.stringify(await response.json())}\n\n`);
    }
  }
  return new globalThis.Response(ReadableStream.from(stream()) as never, { headers: { 'Content-Type': SSE_TYPE } });
}

/**
 * Each message is metered and admitted alone, and reserves memory for its answer before that is written. The first is metered with the
 * request.
 */
function createMessageAdmission(context: RequestContext): AdmitMessage {
  let isFirst = true;
  return async (message, signal, work) => {
    if (signal.aborted) throw new OracleError('OVERLOADED', 'The client has gone');
    if (!isFirst) await context.countCall();
    isFirst = false;
    const running = context.run(work, hasPaymentPayload(message) ? 'payment' : 'work');
    // The first has taken over the capacity of the request.
    context.detach();
    const answer = await running;
    await context.reserveAnswer(estimateBytes(answer));
    return answer;
  };
}

/** Of a result: its texts, and as much again for structured content that repeats them. Serializing it twice would cost more. */
function estimateBytes(result: unknown): number {
  const { content = [], contents = [] } = result as { content?: readonly { text?: string }[]; contents?: readonly { text?: string }[] };
  return 2 * [...content, ...contents].reduce((sum, { text = '' }) => sum + text.length, 0);
}

function sendError({ status: _, ...error }: AdapterError, response: Response): void {
  const message = `${error.message}. ${error.suggestedAction}`;
  const body = { jsonrpc: '2.0', id: getRpcId(response.req), error: { code: toAdapterErrorCode(error), message, data: error } };
  response.type('application/json').send(JSON.stringify(body));
}

function toAdapterErrorCode({ code, field }: Omit<AdapterError, 'status'>): number {
  if (code === 'INTERNAL') return ProtocolErrorCode.InternalError;
  if (code !== 'INPUT_INVALID') return SERVER_ERROR;
  return field === 'body' ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
}

/** Null before the body is read, and for a batch. */
function getRpcId({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 100) ? id : null;
}

/** @throws OracleError METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA_TYPE, INPUT_INVALID */
function validateHttpRequest(request: Request, response: Response): void {
  if (request.method !== 'POST') {
    response.set('Allow', 'POST');
    const suggestedAction = 'Send a POST.';
    throw new OracleError('METHOD_NOT_ALLOWED', 'Only POST is served; there are no sessions', { suggestedAction });
  }
  if (!isJsonContentType(request.get('Content-Type'))) {
    const suggestedAction = 'Send "Content-Type: application/json".';
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type is not JSON', { field: 'Content-Type', suggestedAction });
  }
  if (isNestedDeeper(request.body, MAX_BODY_DEPTH)) {
    const suggestedAction = 'Send a flatter message.';
    throw new OracleError('INPUT_INVALID', 'The message is nested too deeply', { field: 'message', suggestedAction });
  }
}
