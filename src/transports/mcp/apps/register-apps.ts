import type { McpServer } from '@modelcontextprotocol/server';
import { IDENTITY } from '../../../../agent-card/identity.ts';
import { APP_VIEWS, type AppView, findToolView, VIEW_TITLES } from '../../../views/mcp-app/app-views.ts';
import type { AppDocuments } from './app-documents.ts';

/** MCP Apps (SEP-1865, 2026-01-26). */
export const APP_EXTENSION = 'io.modelcontextprotocol/ui';
export const APP_MEDIA_TYPE = 'text/html;profile=mcp-app';

/** The documents connect to nothing, and have no border of their own. */
const RESOURCE_META = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

/** The same for every caller, and changed by a release alone. */
const CACHE = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

export function getAppUri(view: AppView): string {
  return `ui://${IDENTITY.slug}/${view}`;
}

/** Templates that hosts fill with the answer of a tool; they have no data. */
export function registerApps(server: McpServer, documents: AppDocuments): void {
  for (const view of APP_VIEWS) {
    const uri = getAppUri(view);
    const config = {
      title: `${VIEW_TITLES[view]}, as a view`,
      description: 'HTML in which a host with MCP Apps shows the answer of its tool',
      mimeType: APP_MEDIA_TYPE,
      cacheHint: CACHE,
      _meta: RESOURCE_META,
    };
    server.registerResource(`${view}-view`, uri, config, () => ({
      contents: [{ uri, mimeType: APP_MEDIA_TYPE, text: documents[view], _meta: RESOURCE_META }],
    }));
  }
}

/**
 * Members of a tool's `_meta` that name its view, in the current spelling and in that of earlier hosts. Every client gets them: lists are
 * cached for all clients, older revisions send their capabilities with another request, and a client without the extension ignores them.
 */
export function buildViewMeta(tool: string): Record<string, unknown> {
  const view = findToolView(tool);
  if (view === undefined) return {};
  const resourceUri = getAppUri(view);
  return { ui: { resourceUri }, 'ui/resourceUri': resourceUri };
}
