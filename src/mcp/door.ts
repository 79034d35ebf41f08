import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Request, Response } from 'express';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import type { Asker } from '../access/asker.ts';
import type { Door, DoorError } from '../access/door.ts';
import { OracleError } from '../errors.ts';
import type { McpBackend } from './backend.ts';
import { checkRequest } from './check-request.ts';
import { guidedAnswer } from './guided-answer.ts';
import type { McpServerOptions } from './options.ts';
import type { RequestNames } from './origins.ts';
import { SERVER_ERROR } from './rpc-error.ts';
import { buildMcpServer } from './server.ts';

/** The largest message that any tool needs is a few kilobytes. */
const BODY_LIMIT_BYTES = 64 * 1024;

/** Messages that revisions up to 2025-03-26 may send at once. */
const MAX_BATCH = 20;

/** Streams on which a client waits for news: nothing that is listed changes, so nobody needs many. */
const MAX_SUBSCRIPTIONS = 64;

export interface McpDoorOptions extends Omit<McpServerOptions, 'onError'> {
  backendFor(asker: Asker): McpBackend;
  /** @throws OracleError ORIGIN_REFUSED */
  checkOrigin(names: RequestNames): void;
  /** After so long without an answer its stream begins with a sign of life. Unset: 15 s, as the library has it. */
  keepAliveMs?: number;
  /** Hears why the protocol's own code refused a request, in words that may be the caller's. */
  onRefused?(error: Error): void;
  /** Hears of failures of ours, which the caller is told nothing of but the id of his request. */
  onError?(error: unknown, requestId: string): void;
}

export interface McpDoor extends Door {
  /** Ends what is streamed. */
  close(): Promise<void>;
}

/** MCP over Streamable HTTP, each request by itself: a server is made for it, and knows its caller and nobody else. */
export function createMcpDoor({ backendFor, checkOrigin, keepAliveMs, onRefused, onError, ...options }: McpDoorOptions): McpDoor {
  const onerror = (error: Error) => onRefused?.(error);
  const serverFor = (asker: Asker) =>
    buildMcpServer(backendFor(asker), { ...options, onError: (error) => onError?.(error, asker.requestId) });
  const handler = createMcpHandler(({ authInfo }) => serverFor(askerOf(authInfo)), {
    onerror,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    keepAliveMs,
    maxRequestBodySize: BODY_LIMIT_BYTES,
  });
  const fetch = async (...asked: Parameters<typeof handler.fetch>) => guidedAnswer(await handler.fetch(...asked), asked[1]?.parsedBody);
  const answer = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: BODY_LIMIT_BYTES });
  return {
    mounts: [{ path: ENDPOINTS.mcp }],
    bodyTypes: ['application/json'],
    bodyLimitBytes: BODY_LIMIT_BYTES,
    inspect: (request) => checkOrigin({ host: request.host, origin: request.get('Origin') }),
    async handle(request, response, asker) {
      checkRequest(request, response);
      await countBatch(request.body, asker);
      await answer(Object.assign(request, { auth: authInfoOf(asker) }), response, request.body);
    },
    tell,
    close: () => handler.close(),
  };
}

/** How the asker reaches the server that is made for his request. His token stays behind: nothing further needs it. */
function authInfoOf(asker: Asker) {
  return { token: '', clientId: asker.caller.wallet ?? 'anybody', scopes: [asker.caller.tier], extra: { asker } };
}

function askerOf(authInfo: { extra?: Record<string, unknown> } | undefined): Asker {
  const asker = authInfo?.extra?.asker;
  if (asker === undefined) throw new OracleError('INTERNAL', 'A request has come without its asker');
  return asker as Asker;
}

/** A request counts as one call; what comes with it counts as more. */
async function countBatch(body: unknown, asker: Asker): Promise<void> {
  if (!Array.isArray(body)) return;
  if (body.length > MAX_BATCH) {
    throw new OracleError('INPUT_INVALID', `A batch may have ${MAX_BATCH} messages`, {
      field: 'batch',
      suggestedAction: 'Send fewer messages at once.',
    });
  }
  for (const _ of body.slice(1)) await asker.countCall();
}

/** A JSON-RPC error; whose request it answers is not known before the body is read. */
function tell({ status: _, ...error }: DoorError, response: Response): void {
  const { code, field, message } = error;
  response.type('application/json').send(
    JSON.stringify({
      jsonrpc: '2.0',
      id: idOf(response.req),
      error: { code: codeOf(code, field), message: `${message}. ${error.suggestedAction}`, data: error },
    }),
  );
}

function codeOf(code: DoorError['code'], field: string | undefined): number {
  if (code === 'INTERNAL') return ProtocolErrorCode.InternalError;
  if (code !== 'INPUT_INVALID') return SERVER_ERROR;
  return field === 'body' ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
}

function idOf({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 100) ? id : null;
}
