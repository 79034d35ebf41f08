import { formatSSEErrorEvent, formatSSEEvent, HTTP_EXTENSION_HEADER, SSE_HEADERS } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { type A2ARequestHandler, JsonRpcTransportHandler, type ServerCallContext } from '@a2a-js/sdk/server';
import type { Request, Response } from 'express';
import { A2A_LEGACY_VERSION } from '../../agent-card/protocols.ts';
import { callContext, LEGACY_EXTENSION_HEADER } from './call-context.ts';
import { completedError } from './library-words.ts';
import type { AgentUser } from './owner.ts';
import { protocolError } from './protocol-error.ts';
import { unknownVersion } from './refusal.ts';
import { expectsLegacyEvents, sendRpcError } from './rpc-response.ts';
import { isSpoken, versionOf } from './versions.ts';

/** How a version of the protocol takes a request, and tells an error. */
interface Speaker {
  handle(body: unknown, context: ServerCallContext): Promise<unknown>;
  errorOf(error: unknown): { code: number; message: string; data?: unknown };
}

/**
 * JSON-RPC in both versions. In place of the library's own handler, which writes every refused stream with its trace to standard
 * error.
 */
export function jsonRpcBinding(handler: A2ARequestHandler): (request: Request, response: Response, user: AgentUser) => Promise<void> {
  const [current, legacy] = [new JsonRpcTransportHandler(handler), new LegacyJsonRpcTransportHandler(handler)];
  const speakers: Record<'current' | 'legacy', Speaker> = {
    current: { handle: (body, context) => current.handle(body as never, context), errorOf: JsonRpcTransportHandler.mapToJSONRPCError },
    legacy: {
      handle: (body, context) => legacy.handle(body as never, context),
      errorOf: LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError,
    },
  };
  return async (request, response, user) => {
    const requestedVersion = versionOf(request);
    const context = callContext({ headers: request.headers, user, requestedVersion });
    const isLegacy = requestedVersion === A2A_LEGACY_VERSION;
    const speaker = speakers[isLegacy ? 'legacy' : 'current'];
    const activated = context.activatedExtensions ?? [];
    if (activated.length > 0) response.set(isLegacy ? LEGACY_EXTENSION_HEADER : HTTP_EXTENSION_HEADER, activated.join(', '));
    const refused = (error: unknown) => ({ jsonrpc: '2.0', id: request.body.id ?? null, error: completedError(speaker.errorOf(error)) });
    if (!isSpoken(requestedVersion)) return sendRpcError(response, refused(protocolError(unknownVersion(), context)));
    const answer = await speaker.handle(request.body, context);
    if (isStream(answer)) await sendStream(answer, response, refused);
    else sendAnswer(response, answer as Envelope);
  };
}

/** An error before the first event is an answer like any other, in 1.0. */
async function sendStream(events: AsyncGenerator<unknown>, response: Response, refused: (error: unknown) => object): Promise<void> {
  try {
    for await (const event of events) {
      if (!response.headersSent) response.set(SSE_HEADERS).flushHeaders();
      response.write(formatSSEEvent(event));
    }
  } catch (error) {
    if (!response.headersSent) return sendRpcError(response, refused(error));
    // Clients of 0.3 read the envelope, whatever the event is called.
    response.write(expectsLegacyEvents(response.req) ? formatSSEEvent(refused(error)) : formatSSEErrorEvent(refused(error)));
  }
  response.end();
}

interface Envelope {
  error?: Parameters<typeof completedError>[0];
}

function sendAnswer(response: Response, { error, ...envelope }: Envelope): void {
  if (error === undefined) response.json(envelope);
  else sendRpcError(response, { ...envelope, error: completedError(error) });
}

function isStream(answer: unknown): answer is AsyncGenerator<unknown> {
  return typeof (answer as AsyncGenerator<unknown>)?.[Symbol.asyncIterator] === 'function';
}
