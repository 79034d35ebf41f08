import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Request, Response } from 'express';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { OracleError } from '../../platform/errors.ts';
import type { AdapterError, ProtocolAdapter } from '../adapter.ts';
import type { McpBackend } from './backends/backend.ts';
import { completeErrorResponse } from './errors/http-errors.ts';
import { SERVER_ERROR } from './errors/rpc-error.ts';
import type { McpServerOptions } from './options.ts';
import { buildMcpServer } from './server.ts';
import { validateHttpRequest } from './validation/http-request.ts';
import type { RequestSource } from './validation/origins.ts';

/** The largest message that any tool needs is a few kilobytes. */
const BODY_LIMIT_BYTES = 64 * 1024;

/** Messages that revisions up to 2025-03-26 may send at once. */
const MAX_BATCH = 20;

/** Streams on which a client waits for news: nothing that is listed changes, so nobody needs many. */
const MAX_SUBSCRIPTIONS = 64;

export interface McpAdapterOptions extends Omit<McpServerOptions, 'onError'> {
  backendFor(context: RequestContext): McpBackend;
  /** @throws OracleError ORIGIN_REFUSED */
  checkOrigin(names: RequestSource): void;
  /** After so long without an answer its stream begins with a sign of life. Unset: 15 s, as the library has it. */
  keepAliveMs?: number;
  /** Hears why the protocol's own code refused a request, in words that may be the caller's. */
  onRejected?(error: Error): void;
  /** Hears of failures of ours, which the caller is told nothing of but the id of his request. */
  onError?(error: unknown, requestId: string): void;
}

export interface McpAdapter extends ProtocolAdapter {
  /** Ends what is streamed. */
  close(): Promise<void>;
}

/** MCP over Streamable HTTP, each request by itself: a server is made for it, and knows its caller and nobody else. */
export function createMcpAdapter({
  backendFor,
  checkOrigin,
  keepAliveMs,
  onRejected: onRefused,
  onError,
  ...options
}: McpAdapterOptions): McpAdapter {
  const onerror = (error: Error) => onRefused?.(error);
  const createServer = (context: RequestContext) =>
    buildMcpServer(backendFor(context), { ...options, onError: (error) => onError?.(error, context.requestId) });
  const handler = createMcpHandler(({ authInfo }) => createServer(getRequestContext(authInfo)), {
    onerror,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    keepAliveMs,
    maxRequestBodySize: BODY_LIMIT_BYTES,
  });
  const fetch = async (...asked: Parameters<typeof handler.fetch>) =>
    completeErrorResponse(await handler.fetch(...asked), asked[1]?.parsedBody);
  const answer = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: BODY_LIMIT_BYTES });
  return {
    mounts: [{ path: ENDPOINTS.mcp }],
    bodyTypes: ['application/json'],
    bodyLimitBytes: BODY_LIMIT_BYTES,
    inspectRequest: (request) => checkOrigin({ host: request.host, origin: request.get('Origin') }),
    async handle(request, response, context) {
      validateHttpRequest(request, response);
      await countBatch(request.body, context);
      await answer(Object.assign(request, { auth: toAuthInfo(context) }), response, request.body);
    },
    serializeError: sendError,
    close: () => handler.close(),
  };
}

/** How the asker reaches the server that is made for his request. His token stays behind: nothing further needs it. */
function toAuthInfo(context: RequestContext) {
  return { token: '', clientId: context.caller.wallet ?? 'anybody', scopes: [context.caller.tier], extra: { asker: context } };
}

function getRequestContext(authInfo: { extra?: Record<string, unknown> } | undefined): RequestContext {
  const context = authInfo?.extra?.asker;
  if (context === undefined) throw new OracleError('INTERNAL', 'A request has come without its asker');
  return context as RequestContext;
}

/** A request counts as one call; what comes with it counts as more. */
async function countBatch(body: unknown, context: RequestContext): Promise<void> {
  if (!Array.isArray(body)) return;
  if (body.length > MAX_BATCH) {
    throw new OracleError('INPUT_INVALID', `A batch may have ${MAX_BATCH} messages`, {
      field: 'batch',
      suggestedAction: 'Send fewer messages at once.',
    });
  }
  for (const _ of body.slice(1)) await context.countCall();
}

/** A JSON-RPC error; whose request it answers is not known before the body is read. */
function sendError({ status: _, ...error }: AdapterError, response: Response): void {
  const { code, field, message } = error;
  response.type('application/json').send(
    JSON.stringify({
      jsonrpc: '2.0',
      id: getRpcId(response.req),
      error: { code: toAdapterErrorCode(code, field), message: `${message}. ${error.suggestedAction}`, data: error },
    }),
  );
}

function toAdapterErrorCode(code: AdapterError['code'], field: string | undefined): number {
  if (code === 'INTERNAL') return ProtocolErrorCode.InternalError;
  if (code !== 'INPUT_INVALID') return SERVER_ERROR;
  return field === 'body' ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
}

function getRpcId({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 100) ? id : null;
}
