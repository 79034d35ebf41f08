import { type Route, route } from '../../server/route.ts';
import { buildEcosystem, type EcosystemDeps } from './ecosystem.ts';
import { ECOSYSTEM } from './ecosystem-schemas.ts';
import { buildInfo, type InfoDeps } from './info.ts';
import { INFO } from './info-schemas.ts';

export function aboutRoutes(deps: InfoDeps & EcosystemDeps): Route[] {
  return [
    route('GET /api/svc/info', 'getInfo', {
      units: 0.2,
      tag: 'service',
      reply: INFO,
      summary: 'Service overview: model card, horizons, schedule, tiers, limits, data, documents, and skill',
      variesByCaller: true,
      handle: async ({ caller }) => ({ body: await buildInfo(deps, caller) }),
    }),
    route('GET /api/claw/ecosystem', 'getEcosystem', {
      tag: 'service',
      cost: 'rpc',
      reply: ECOSYSTEM,
      summary: 'Supported standards and contracts with live state',
      description: 'A contract that does not answer is reported as `unreachable`.',
      handle: async () => ({ body: await buildEcosystem(deps) }),
    }),
  ];
}
