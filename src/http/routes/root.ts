import { IDENTITY } from '../../../agent-card/identity.ts';
import { OracleError } from '../../errors.ts';
import { negotiate } from '../negotiate.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { RESOURCES, type Resources } from '../schemas/service.ts';
import { pageReply } from './page.ts';

/** Programs get the list unless they ask for the page by name. */
const TYPES = ['application/json', 'text/html'] as const;

/** The list of what is served, made from the routes themselves, and the page for people. */
export function rootRoutes({ version, publicUrl, market }: HttpParts, routes: Route[]): Route[] {
  const list = (): Reply<Resources> => ({
    headers: { Vary: 'Accept' },
    body: {
      success: true,
      name: IDENTITY.name,
      description: IDENTITY.description,
      version,
      source: market.source,
      resources: routes.map(({ method, path, summary }) => ({ method: method.toUpperCase(), url: `${publicUrl}${path}`, summary })),
    },
  });
  return [
    route({
      path: '/',
      name: 'listResources',
      tag: 'service',
      reply: RESOURCES,
      alternatives: { 'text/html': { description: 'The page for people: the forecast, the record, and a check of each attestation.' } },
      summary: 'This list; for browsers the page that shows the record',
      handle: ({ accept }) => (wantsPage(accept) ? pageReply({ publicUrl }) : list()),
    }),
  ];
}

/** The page while the parts are not there yet: it says so, and fills as they come. */
export function startingRootRoutes(publicUrl: string): Route[] {
  return [
    route({
      path: '/',
      name: 'listResources',
      tag: 'service',
      reply: null,
      summary: 'The page that shows the record',
      handle: ({ accept }) => {
        if (wantsPage(accept)) return pageReply({ publicUrl });
        throw new OracleError('STEP_WAITING', 'The service is starting');
      },
    }),
  ];
}

function wantsPage(accept: string): boolean {
  return negotiate(accept, TYPES) === 'text/html';
}
