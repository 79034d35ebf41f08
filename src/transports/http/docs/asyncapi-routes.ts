import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../../agent-card/identity.ts';
import { buildAsyncApiDocument } from '../../../events/asyncapi/document.ts';
import type { HttpDeps } from '../deps.ts';
import { API_VERSION } from '../openapi/document.ts';
import { createJsonReply } from '../server/replies/static-reply.ts';
import { type Route, route } from '../server/route.ts';
import { HANDSHAKE_QUERY } from '../websocket/schemas.ts';
import { ASYNCAPI_DOCUMENT } from './schemas.ts';

export function asyncApiRoutes({ publicUrl, chainId }: Pick<HttpDeps, 'publicUrl' | 'chainId'>): Route[] {
  const { name: title, description } = IDENTITY;
  return [
    route(`GET ${ENDPOINTS.asyncApi}`, 'getAsyncApi', {
      tag: 'service',
      summary: 'AsyncAPI 3.1 document of all WebSocket and webhook events',
      description: 'Generated from the message schemas, with validated examples.',
      reply: ASYNCAPI_DOCUMENT,
      handle: createJsonReply(() =>
        buildAsyncApiDocument({ publicUrl, chainId, title, description, version: API_VERSION, handshake: HANDSHAKE_QUERY }),
      ),
    }),
  ];
}
