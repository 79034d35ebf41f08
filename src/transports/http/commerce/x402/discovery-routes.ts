import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import type { HttpDeps } from '../../deps.ts';
import { toTaggedReply } from '../../server/replies/tagged-reply.ts';
import { type Route, route } from '../../server/route.ts';
import { buildX402Document, buildX402Resources } from './discovery-document.ts';
import { X402_DOCUMENT, X402_RESOURCES } from './schemas.ts';

const FIVE_MINUTES = 'public, max-age=300';

/** Interface, section 4.1: discovery of paid resources. */
export function x402Routes(deps: Pick<HttpDeps, 'commerce' | 'publicUrl'>): Route[] {
  return [
    route(`GET ${ENDPOINTS.x402}`, 'getX402Document', {
      tag: 'commerce',
      summary: 'x402 resources, their terms, and how to verify receipts',
      reply: X402_DOCUMENT,
      handle: () => toTaggedReply(buildX402Document(deps), { 'Cache-Control': FIVE_MINUTES }),
    }),
    route(`GET ${ENDPOINTS.x402Resources}`, 'listX402Resources', {
      tag: 'commerce',
      summary: 'The same as a bare list of URLs, for crawlers',
      reply: X402_RESOURCES,
      handle: () => toTaggedReply(buildX402Resources(deps), { 'Cache-Control': FIVE_MINUTES }),
    }),
  ];
}
