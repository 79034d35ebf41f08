import { IDENTITY } from '../../../agent-card/identity.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';

/** The list of what is served, made from the routes themselves. */
export function rootRoutes({ version, publicUrl, market }: HttpParts, routes: Route[]): Route[] {
  return [
    route({
      path: '/',
      summary: 'This list',
      handle: () => ({
        body: {
          success: true,
          name: IDENTITY.name,
          description: IDENTITY.description,
          version,
          source: market.source,
          resources: routes.map(({ path, summary }) => ({ method: 'GET', url: `${publicUrl}${path}`, summary })),
        },
      }),
    }),
  ];
}
