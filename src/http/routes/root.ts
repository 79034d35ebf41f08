import { IDENTITY } from '../../../agent-card/identity.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { RESOURCES, type Resources } from '../schemas/service.ts';

/** The list of what is served, made from the routes themselves. */
export function rootRoutes({ version, publicUrl, market }: HttpParts, routes: Route[]): Route[] {
  return [
    route({
      path: '/',
      name: 'listResources',
      tag: 'service',
      reply: RESOURCES,
      summary: 'This list',
      handle: (): Reply<Resources> => ({
        body: {
          success: true,
          name: IDENTITY.name,
          description: IDENTITY.description,
          version,
          source: market.source,
          resources: routes.map(({ method, path, summary }) => ({ method: method.toUpperCase(), url: `${publicUrl}${path}`, summary })),
        },
      }),
    }),
  ];
}
