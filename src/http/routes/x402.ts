import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { weakEtag } from '../etag.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { X402_DOCUMENT, X402_RESOURCES } from '../schemas/x402.ts';
import { x402Document, x402Resources } from '../x402-discovery.ts';

const FIVE_MINUTES = 'public, max-age=300';

/** Interface, section 4.1: what is paid for with the request, for programs that look for it. */
export function x402Routes(parts: Pick<HttpParts, 'commerce' | 'publicUrl'>): Route[] {
  return [
    route({
      path: ENDPOINTS.x402,
      name: 'getX402Document',
      tag: 'commerce',
      summary: 'What is paid for with the request itself by x402, on which terms, and how receipts are checked',
      reply: X402_DOCUMENT,
      handle() {
        const body = x402Document(parts);
        return { headers: { 'Cache-Control': FIVE_MINUTES, ETag: weakEtag(body) }, body };
      },
    }),
    route({
      path: ENDPOINTS.x402Resources,
      name: 'listX402Resources',
      tag: 'commerce',
      summary: 'The same as a bare list of URLs, for indexes of paid resources',
      reply: X402_RESOURCES,
      handle() {
        const body = x402Resources(parts);
        return { headers: { 'Cache-Control': FIVE_MINUTES, ETag: weakEtag(body) }, body };
      },
    }),
  ];
}
