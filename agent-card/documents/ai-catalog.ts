import { joinUrl } from '../../src/platform/service-url.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { IDENTITY } from '../identity.ts';
import { INTERFACES, type ServiceInterface } from '../interfaces.ts';

export const AI_CATALOG_TYPE = 'application/ai-catalog+json';

/** AI Catalog 0.9 (ai-catalog.io): what agents can use here. Names and versions are in the documents that it links. */
export function buildAiCatalog({ publicUrl }: { publicUrl: string }) {
  const { hostname } = new URL(publicUrl);
  const entries = Object.entries<ServiceInterface>(INTERFACES).flatMap(([kind, { artifactType: type, description }]) =>
    type === null ? [] : [{ identifier: `urn:air:${hostname}:${IDENTITY.slug}:${kind}`, type, url: joinUrl(publicUrl, description.path) }],
  );
  return {
    specVersion: '0.9',
    host: {
      displayName: IDENTITY.name,
      identifier: hostname,
      documentationUrl: joinUrl(publicUrl, ENDPOINTS.skillFile),
      logoUrl: joinUrl(publicUrl, ENDPOINTS.icon),
    },
    entries,
  };
}
