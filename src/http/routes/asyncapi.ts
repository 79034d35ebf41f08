import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../agent-card/identity.ts';
import { asyncApiDocument } from '../../push/asyncapi/document.ts';
import { API_VERSION } from '../openapi/document.ts';
import { servedJson } from '../openapi/served-document.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { ASYNCAPI_DOCUMENT } from '../schemas/reference.ts';
import { HANDSHAKE_QUERY } from '../schemas/websocket.ts';

/** What is pushed, for programs. */
export function asyncApiRoutes({ publicUrl, chainId }: Pick<HttpParts, 'publicUrl' | 'chainId'>): Route[] {
  const { name: title, description } = IDENTITY;
  return [
    route({
      path: ENDPOINTS.asyncApi,
      name: 'getAsyncApi',
      tag: 'service',
      summary: 'The events that are pushed over the WebSocket and to webhooks as an AsyncAPI 3.1 document',
      description: 'Made from the schemas that messages are made by, with examples that validate.',
      reply: ASYNCAPI_DOCUMENT,
      handle: servedJson(() =>
        asyncApiDocument({ publicUrl, chainId, title, description, version: API_VERSION, handshake: HANDSHAKE_QUERY }),
      ),
    }),
  ];
}
