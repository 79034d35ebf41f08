import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { HttpDeps } from '../deps.ts';
import { buildOpenApiDocument } from '../openapi/document.ts';
import { createJsonReply, createStaticReply } from '../server/replies/static-reply.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { buildReferenceCsp, renderReferencePage } from './reference-page.ts';
import { OPENAPI_DOCUMENT } from './schemas.ts';
import { readUiFile, UI_ETAG, UI_FILES, UI_TYPES } from './swagger-ui-files.ts';

/** Lies beside this file. */
const OWN_STYLE = 'reference.css';

/** The OpenAPI document and its viewer. @param listRoutes all mounted operations, these included */
export function referenceRoutes({ publicUrl }: Pick<HttpDeps, 'publicUrl'>, listRoutes: () => readonly Route[]): Route[] {
  const page = createStaticReply(
    () => renderReferencePage({ publicUrl }),
    () => ({ 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': buildReferenceCsp({ publicUrl }) }),
  );
  const style = createStaticReply(
    () => readFileSync(new URL(OWN_STYLE, import.meta.url), 'utf8'),
    () => ({ 'Content-Type': UI_TYPES['swagger-ui.css'] }),
  );
  return [
    route('GET /.well-known/openapi.json', 'getOpenApi', {
      tag: 'service',
      summary: 'OpenAPI 3.1 document of this API',
      description: 'Generated from the mounted operations.',
      reply: OPENAPI_DOCUMENT,
      handle: createJsonReply(() => buildOpenApiDocument(listRoutes(), { publicUrl })),
    }),
    route('GET /docs', 'getReferencePage', {
      tag: 'service',
      summary: 'API reference for browsers',
      description: 'Operations can be tried out. Works offline: all assets come from this service.',
      reply: null,
      alternatives: { 'text/html': { description: 'The page.' } },
      handle: page,
    }),
    route('GET /docs/{file}', 'getReferencePageFile', {
      tag: 'service',
      summary: 'Asset of the API reference',
      params: z.object({ file: z.enum([...UI_FILES, OWN_STYLE], 'is no file of this page').describe('Name of the file') }),
      reply: null,
      alternatives: { 'text/css': { description: 'A style sheet.' }, 'text/javascript': { description: 'A script.' } },
      handle: ({ params: { file } }) => (file === OWN_STYLE ? style() : readUiFileReply(file)),
    }),
  ];
}

async function readUiFileReply(file: (typeof UI_FILES)[number]): Promise<Reply<never>> {
  const headers = { 'Content-Type': UI_TYPES[file], 'Cache-Control': 'public, max-age=86400', ETag: UI_ETAG };
  return { headers, encoded: await readUiFile(file) };
}
