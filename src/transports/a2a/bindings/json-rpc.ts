import { formatSSEErrorEvent, formatSSEEvent, HTTP_EXTENSION_HEADER, SSE_HEADERS } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { type A2ARequestHandler, JsonRpcTransportHandler, type ServerCallContext } from '@a2a-js/sdk/server';
import type { Request, Response } from 'express';
import { A2A_LEGACY_VERSION } from '../../../../agent-card/protocols.ts';
import type { AgentUser } from '../agent-user.ts';
import { toProtocolError } from '../errors/protocol-error.ts';
import { unknownVersion } from '../errors/rejections.ts';
import { correctRpcError, type RpcError } from '../errors/sdk-errors.ts';
import { buildCallContext, LEGACY_EXTENSION_HEADER } from './call-context.ts';
import { expectsLegacyEvents, sendRpcError } from './json-rpc-response.ts';
import { getRequestVersion, isSupportedVersion } from './versions.ts';

interface VersionHandler {
  handle(body: unknown, context: ServerCallContext): Promise<unknown>;
  toRpcError(error: unknown): RpcError;
}

/** JSON-RPC in both versions. The SDK's Express handler would log each rejected stream with its stack trace to standard error. */
export function createJsonRpcBinding(handler: A2ARequestHandler): (request: Request, response: Response, user: AgentUser) => Promise<void> {
  const [current, legacy] = [new JsonRpcTransportHandler(handler), new LegacyJsonRpcTransportHandler(handler)];
  const versionHandlers: Record<'current' | 'legacy', VersionHandler> = {
    current: { handle: (body, context) => current.handle(body as never, context), toRpcError: JsonRpcTransportHandler.mapToJSONRPCError },
    legacy: {
      handle: (body, context) => legacy.handle(body as never, context),
      toRpcError: LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError,
    },
  };
  return async (request, response, user) => {
    const requestedVersion = getRequestVersion(request);
    const context = buildCallContext({ headers: request.headers, user, requestedVersion });
    const isLegacy = requestedVersion === A2A_LEGACY_VERSION;
    const versionHandler = versionHandlers[isLegacy ? 'legacy' : 'current'];
    const activated = context.activatedExtensions ?? [];
    if (activated.length > 0) response.set(isLegacy ? LEGACY_EXTENSION_HEADER : HTTP_EXTENSION_HEADER, activated.join(', '));
    const toErrorEnvelope = (error: unknown) => ({
      jsonrpc: '2.0',
      id: request.body.id ?? null,
      error: correctRpcError(versionHandler.toRpcError(error)),
    });
    if (!isSupportedVersion(requestedVersion)) return sendRpcError(response, toErrorEnvelope(toProtocolError(unknownVersion(), context)));
    const answer = await versionHandler.handle(request.body, context);
    if (isStream(answer)) await sendStream(answer, response, toErrorEnvelope);
    else sendEnvelope(response, answer as Envelope);
  };
}

/** In 1.0, an error before the first event is a JSON response. */
async function sendStream(events: AsyncGenerator<unknown>, response: Response, toErrorEnvelope: (error: unknown) => object): Promise<void> {
  try {
    for await (const event of events) {
      if (!response.headersSent) response.set(SSE_HEADERS).flushHeaders();
      response.write(formatSSEEvent(event));
    }
  } catch (error) {
    if (!response.headersSent) return sendRpcError(response, toErrorEnvelope(error));
    // Clients of 0.3 ignore the event name and read the envelope.
    response.write(
      expectsLegacyEvents(response.req) ? formatSSEEvent(toErrorEnvelope(error)) : formatSSEErrorEvent(toErrorEnvelope(error)),
    );
  }
  response.end();
}

interface Envelope {
  error?: RpcError;
}

function sendEnvelope(response: Response, { error, ...envelope }: Envelope): void {
  if (error === undefined) response.json(envelope);
  else sendRpcError(response, { ...envelope, error: correctRpcError(error) });
}

function isStream(answer: unknown): answer is AsyncGenerator<unknown> {
  return typeof (answer as AsyncGenerator<unknown>)?.[Symbol.asyncIterator] === 'function';
}
