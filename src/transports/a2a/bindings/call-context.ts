import type { IncomingHttpHeaders } from 'node:http';
import { Extensions, HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import { EXTENSION_URIS } from '../../../../agent-card/card/extensions.ts';

/** Header of protocol 0.3. Clients of that time send it with any version. */
export const LEGACY_EXTENSION_HEADER = 'X-A2A-Extensions';

export interface CallContextOptions {
  headers: IncomingHttpHeaders;
  user: User | undefined;
  requestedVersion: string | undefined;
}

export function buildCallContext({ headers, user, requestedVersion }: CallContextOptions): ServerCallContext {
  const header = headers[HTTP_EXTENSION_HEADER.toLowerCase()] ?? headers[LEGACY_EXTENSION_HEADER.toLowerCase()];
  const requestedExtensions = Extensions.parseServiceParameter(Array.isArray(header) ? header.join(',') : header);
  const context = new ServerCallContext({ requestedExtensions, user, requestedVersion });
  if (requestedExtensions.includes(EXTENSION_URIS.x402)) context.addActivatedExtension(EXTENSION_URIS.x402);
  return context;
}
