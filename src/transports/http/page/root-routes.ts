import { formatCatalogLink } from '../../../../agent-card/documents/api-catalog.ts';
import { IDENTITY } from '../../../../agent-card/identity.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { negotiateMediaType } from '../server/replies/negotiate.ts';
import { createStaticReply } from '../server/replies/static-reply.ts';
import { type Route, route } from '../server/route.ts';
import { RESOURCES, type Resources } from '../service/health/schemas.ts';
import { renderDashboardPage } from './dashboard-page.ts';
import type { HomeDeps } from './home-data.ts';
import { createHomeReply } from './home-reply.ts';
import { PAGE_HEADERS } from './shell.ts';

/** JSON first: clients without an `Accept` header get the list. */
const TYPES = ['application/json', 'text/html'] as const;

/** `GET /`: the list of all routes as JSON, the page as HTML. */
export function rootRoutes(deps: HomeDeps & Pick<HttpDeps, 'version' | 'publicUrl'>, routes: Route[]): Route[] {
  const { version, publicUrl, market } = deps;
  const page = createHomeReply(deps, publicUrl);
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
    () => ({ 'Content-Type': 'application/json; charset=utf-8', Link: formatCatalogLink({ publicUrl }), Vary: 'Accept' }),
  );
  return [
    route('GET /', 'listResources', {
      tag: 'service',
      // Rendered once a minute.
      units: 0.2,
      reply: RESOURCES,
      alternatives: { 'text/html': { description: 'The dashboard: forecast, record, and verification of each attestation.' } },
      summary: 'List of all operations; the dashboard in browsers',
      handle: ({ accept }) => (prefersHtml(accept) ? page() : list()),
    }),
  ];
}

/** `GET /` during startup: the page, which shows the progress. Unmetered: neither callers nor limits exist yet. */
export function startingRootRoutes(publicUrl: string): Route[] {
  const page = createStaticReply(
    () => renderDashboardPage(publicUrl),
    () => PAGE_HEADERS,
  );
  return [
    route('GET /', 'listResources', {
      tag: 'service',
      cost: 'free',
      reply: null,
      summary: 'The dashboard',
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
