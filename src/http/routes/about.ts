import { ecosystemOf } from '../about/ecosystem.ts';
import { infoOf } from '../about/info.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { ECOSYSTEM } from '../schemas/ecosystem.ts';
import { INFO } from '../schemas/info.ts';

/** What this service is, and what it stands on. */
export function aboutRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/info',
      name: 'getInfo',
      tag: 'service',
      reply: INFO,
      summary: 'What this service is: model card, horizons, times, tiers, limits, data, documents, and how good it is',
      handle: async ({ caller }) => ({ body: await infoOf(parts, caller) }),
    }),
    route({
      path: '/api/claw/ecosystem',
      name: 'getEcosystem',
      tag: 'service',
      cost: 'rpc',
      reply: ECOSYSTEM,
      summary: 'Standards and contracts in use, with their live state',
      description: 'A contract that does not answer is told as `unreachable`; the page is served all the same.',
      handle: async () => ({ body: await ecosystemOf(parts) }),
    }),
  ];
}
