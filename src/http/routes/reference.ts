import { z } from 'zod';
import { initializerScript, pageCsp, pageHtml } from '../docs/page.ts';
import { readUiFile, UI_ETAG, UI_FILES, UI_TYPES } from '../docs/ui-files.ts';
import { servedDocument } from '../openapi/served-document.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { OPENAPI_DOCUMENT } from '../schemas/reference.ts';
import { createStaticReply } from '../static-reply.ts';

const A_DAY = 'public, max-age=86400';

/** The reference for programs and for people. `routes` is every operation that is mounted, these included. */
export function referenceRoutes({ publicUrl }: Pick<HttpParts, 'publicUrl'>, routes: () => readonly Route[]): Route[] {
  const document = servedDocument(routes, { publicUrl });
  const page = createStaticReply(
    () => pageHtml({ publicUrl }),
    () => ({ 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': pageCsp({ publicUrl }) }),
  );
  const initializer = createStaticReply(
    () => initializerScript({ publicUrl }),
    () => ({ 'Content-Type': UI_TYPES['swagger-ui-bundle.js'] }),
  );
  return [
    route({
      path: '/.well-known/openapi.json',
      name: 'getOpenApi',
      tag: 'service',
      summary: 'This interface as an OpenAPI 3.1 document',
      description: 'Made from the operations that are mounted, so that it cannot drift from them.',
      reply: OPENAPI_DOCUMENT,
      handle: document,
    }),
    route({
      path: '/docs',
      name: 'getReferencePage',
      tag: 'service',
      summary: 'This reference as a page',
      description: 'Operations can be tried out on it. It works offline: everything it loads comes from here.',
      reply: null,
      alternatives: { 'text/html': { description: 'The page.' } },
      handle: page,
    }),
    route({
      path: '/docs/{file}',
      name: 'getReferencePageFile',
      tag: 'service',
      summary: 'What the page of the reference is made of',
      params: z.object({ file: z.enum([...UI_FILES, 'initializer.js'], 'is no file of this page').describe('Name of the file') }),
      reply: null,
      alternatives: { 'text/css': { description: 'A style sheet.' }, 'text/javascript': { description: 'A script.' } },
      handle: ({ params: { file } }) => (file === 'initializer.js' ? initializer() : uiFile(file)),
    }),
  ];
}

async function uiFile(file: (typeof UI_FILES)[number]): Promise<Reply<never>> {
  return { headers: { 'Content-Type': UI_TYPES[file], 'Cache-Control': A_DAY, ETag: UI_ETAG }, encoded: await readUiFile(file) };
}
