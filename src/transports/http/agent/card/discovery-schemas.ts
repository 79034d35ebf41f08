import { z } from 'zod';
import { listOf, objectOf } from '../../../../platform/validation/described.ts';
import { MCP_SERVER_FILE } from './schemas.ts';

export const AI_CATALOG = z.object({
  specVersion: z.literal('0.9').describe('Version of the specification'),
  host: objectOf('Operator of the catalog', {
    displayName: z.string().describe('Name of the service'),
    identifier: z.string().describe('Its host name'),
    documentationUrl: z.url().describe('Step-by-step instructions'),
    logoUrl: z.url().describe('Its icon'),
  }),
  entries: listOf('Artifacts', {
    identifier: z.string().describe('`urn:air:<host>:<name>:<kind>`'),
    type: z.string().describe('Media type of the artifact'),
    url: z.url().describe('Its document'),
  }),
});

const LINK = z.object({ href: z.url().describe('Target'), type: z.string().optional().describe('Media type of the target') });

export const API_CATALOG = z.object({
  linkset: listOf('Links by context: first the catalog with its items, then each endpoint', {
    anchor: z.url().describe('Context of the links'),
    item: z.array(LINK).optional().describe('Endpoints of the catalog'),
    'service-desc': z.array(LINK).optional().describe('Machine-readable descriptions of the endpoint'),
    'service-doc': z.array(LINK).optional().describe('Documentation for people'),
    status: z.array(LINK).optional().describe('Status of the service'),
  }),
});

const REMOTE = MCP_SERVER_FILE.shape.remotes.element;

export const MCP_SERVER_CARD = z.object({
  ...MCP_SERVER_FILE.shape,
  icons: listOf('Icons', {
    src: z.url().describe('URL'),
    mimeType: z.string().describe('Media type'),
    sizes: z.array(z.string()).describe('Sizes; `any` for a scalable one'),
  }),
  remotes: listOf('Endpoints', {
    ...REMOTE.shape,
    supportedProtocolVersions: z.array(z.string()).describe('MCP revisions, the newest first'),
  }),
});
