import { joinUrl } from '../../src/platform/service-url.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { listInterfaces } from '../interfaces.ts';

export const API_CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

type CatalogSource = { publicUrl: string };

/** RFC 9727: every endpoint as an item, each with its description, guide and status (RFC 8631), as a link set (RFC 9264). */
export function buildApiCatalog({ publicUrl }: CatalogSource) {
  const toUrl = (path: string) => joinUrl(publicUrl, path);
  const endpoints = listInterfaces().flatMap(({ endpoints, description, guide }) =>
    endpoints.map((path) => ({
      anchor: toUrl(path),
      'service-desc': [{ href: toUrl(description.path), type: description.type }],
      'service-doc': [{ href: toUrl(guide) }],
      status: [{ href: toUrl(ENDPOINTS.health), type: 'application/json' }],
    })),
  );
  const items = endpoints.map(({ anchor }) => ({ href: anchor }));
  return { linkset: [{ anchor: toUrl(ENDPOINTS.apiCatalog), item: items }, ...endpoints] };
}

/** `Link` header by which other documents name the catalog. */
export function formatCatalogLink({ publicUrl }: CatalogSource): string {
  return `<${joinUrl(publicUrl, ENDPOINTS.apiCatalog)}>; rel="api-catalog"`;
}

/** `Link` header of the catalog: itself and its items, which HEAD delivers without the body (RFC 9727, section 2). */
export function formatCatalogLinks({ publicUrl }: CatalogSource): string {
  const items = listInterfaces().flatMap(({ endpoints }) => endpoints.map((path) => `<${joinUrl(publicUrl, path)}>; rel="item"`));
  return [formatCatalogLink({ publicUrl }), ...items].join(', ');
}
