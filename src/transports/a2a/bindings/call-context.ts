import type { IncomingHttpHeaders } from 'node:http';
import { Extensions, HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import { EXTENSION_URIS } from '../../../../agent-card/card/extensions.ts';

/** Of protocol 0.3; extensions of that time name it, whatever the version. */
export const LEGACY_EXTENSION_HEADER = 'X-A2A-Extensions';

export interface CallContextOptions {
  headers: IncomingHttpHeaders;
  user: User | undefined;
  requestedVersion: string | undefined;
}

/** What a request says beside its message. Extensions that are known here are activated as soon as they are asked for. */
export function buildCallContext({ headers, user, requestedVersion }: CallContextOptions): ServerCallContext {
  const asked = headers[HTTP_EXTENSION_HEADER.toLowerCase()] ?? headers[LEGACY_EXTENSION_HEADER.toLowerCase()];
  const requestedExtensions = Extensions.parseServiceParameter(Array.isArray(asked) ? asked.join(',') : asked);
  const context = new ServerCallContext({ requestedExtensions, user, requestedVersion });
  if (requestedExtensions.includes(EXTENSION_URIS.x402)) context.addActivatedExtension(EXTENSION_URIS.x402);
  return context;
}
