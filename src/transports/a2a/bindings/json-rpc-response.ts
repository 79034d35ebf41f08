import { formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';
import type { Request, Response } from 'express';
import { A2A_LEGACY_VERSION } from '../../../../agent-card/protocols.ts';
import { isLegacyStream } from './methods.ts';
import { getRequestVersion } from './versions.ts';

/**
 * Sends a JSON-RPC error. Clients of 0.3 read the answer to a streaming method as events and nothing else (0.3, section 3.3.1), so there
 * it is one event. Under an error status of HTTP they read JSON.
 */
export function sendRpcError(response: Response, envelope: object): void {
  if (response.statusCode !== 200 || !expectsLegacyEvents(response.req)) return void response.json(envelope);
  response.set(SSE_HEADERS);
  response.end(formatSSEEvent(envelope));
}

/** Whether a client of 0.3 has asked for a stream: by the method, or by `Accept` where the body names none. */
export function expectsLegacyEvents(request: Request): boolean {
  if (getRequestVersion(request) !== A2A_LEGACY_VERSION) return false;
  const method: unknown = request.body?.method;
  return typeof method === 'string' ? isLegacyStream(method) : (request.get('Accept') ?? '').includes('text/event-stream');
}
