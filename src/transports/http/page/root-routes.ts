import { IDENTITY } from '../../../../agent-card/identity.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { negotiateMediaType } from '../server/replies/negotiate.ts';
import { createStaticReply } from '../server/replies/static-reply.ts';
import { type Route, route } from '../server/route.ts';
import { RESOURCES, type Resources } from '../service/health/schemas.ts';
import { createPageReply } from './routes.ts';

/** Programs get the list unless they ask for the page by name. */
const TYPES = ['application/json', 'text/html'] as const;

/** The list of what is served, made from the routes themselves, and the page for people. */
export function rootRoutes({ version, publicUrl, market }: HttpDeps, routes: Route[]): Route[] {
  const page = createPageReply({ publicUrl });
  // The list of routes is complete once the first request is answered.
  const list = createStaticReply(
    () => {
      const resources: Resources = {
        success: true,
        name: IDENTITY.name,
        description: IDENTITY.description,
        version,
        source: market.source,
        resources: routes.map(({ method, path, summary }) => ({ method: method.toUpperCase(), url: `${publicUrl}${path}`, summary })),
      };
      return JSON.stringify(resources);
    },
    () => ({ 'Content-Type': 'application/json; charset=utf-8', Vary: 'Accept' }),
  );
  return [
    route({
      path: '/',
      name: 'listResources',
      tag: 'service',
      reply: RESOURCES,
      alternatives: { 'text/html': { description: 'The page for people: the forecast, the record, and a check of each attestation.' } },
      summary: 'This list; for browsers the page that shows the record',
      handle: ({ accept }) => (prefersHtml(accept) ? page() : list()),
    }),
  ];
}

/** The page while the parts are not there yet: it says so, and fills as they come. */
export function startingRootRoutes(publicUrl: string): Route[] {
  const page = createPageReply({ publicUrl });
  return [
    route({
      path: '/',
      name: 'listResources',
      tag: 'service',
      // Nothing identifies or counts callers before the parts are there.
      cost: 'free',
      reply: null,
      summary: 'The page that shows the record',
      handle: ({ accept }) => {
        if (prefersHtml(accept)) return page();
        throw new OracleError('STEP_WAITING', 'The service is starting');
      },
    }),
  ];
}

function prefersHtml(accept: string): boolean {
  return negotiateMediaType(accept, TYPES) === 'text/html';
}
