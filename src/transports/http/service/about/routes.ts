import { type Route, route } from '../../server/route.ts';
import { buildEcosystem, type EcosystemDeps } from './ecosystem.ts';
import { ECOSYSTEM } from './ecosystem-schemas.ts';
import { buildInfo, type InfoDeps } from './info.ts';
import { INFO } from './info-schemas.ts';

export function aboutRoutes(deps: InfoDeps & EcosystemDeps): Route[] {
  return [
    route({
      path: '/api/svc/info',
      name: 'getInfo',
      tag: 'service',
      reply: INFO,
      summary: 'What this service is: model card, horizons, times, tiers, limits, data, documents, and how good it is',
      handle: async ({ caller }) => ({ body: await buildInfo(deps, caller) }),
    }),
    route({
      path: '/api/claw/ecosystem',
      name: 'getEcosystem',
      tag: 'service',
      cost: 'rpc',
      reply: ECOSYSTEM,
      summary: 'Standards and contracts in use, with their live state',
      description: 'A contract that does not answer is told as `unreachable`; the page is served all the same.',
      handle: async () => ({ body: await buildEcosystem(deps) }),
    }),
  ];
}
