import { formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';
import type { Request, Response } from 'express';
import { A2A_LEGACY_VERSION } from '../../../../agent-card/protocols.ts';
import { isLegacyStream } from './methods.ts';
import { getRequestVersion } from './versions.ts';

/** 0.3 clients read the response of a streaming method as SSE only (0.3, section 3.3.1): the error is one event under status 200. */
export function sendRpcError(response: Response, envelope: object): void {
  if (response.statusCode !== 200 || !expectsLegacyEvents(response.req)) return void response.json(envelope);
  response.set(SSE_HEADERS);
  response.end(formatSSEEvent(envelope));
}

/** Whether a 0.3 client expects SSE: by the method, or by `Accept` if the body has no method. */
export function expectsLegacyEvents(request: Request): boolean {
  if (getRequestVersion(request) !== A2A_LEGACY_VERSION) return false;
  const method: unknown = request.body?.method;
  return typeof method === 'string' ? isLegacyStream(method) : (request.get('Accept') ?? '').includes('text/event-stream');
}
