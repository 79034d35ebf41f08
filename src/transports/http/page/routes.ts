import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { createStaticReply } from '../server/replies/static-reply.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { PAGE_CSP, renderDashboardPage } from './dashboard-page.ts';
import { getPageFiles, PAGE_FOLDERS, type PageFile } from './page-files.ts';

const FILE_NAME = /^[\w-]{1,60}\.(?:css|js)$/;

export function createPageReply({ publicUrl }: { publicUrl: string }): () => Reply<never> {
  const headers = () => ({ 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': PAGE_CSP, Vary: 'Accept' });
  return createStaticReply(() => renderDashboardPage({ publicUrl }), headers);
}

export function pageFileRoutes(): Route[] {
  return [
    route('GET /page/{folder}/{file}', 'getPageFile', {
      tag: 'service',
      cost: 'free',
      summary: 'Asset of the dashboard at `/`',
      description: 'Scripts and style sheets, unbundled and without assets of other hosts.',
      params: z.object({
        folder: z.enum(PAGE_FOLDERS, 'is no folder of the page').describe('Folder'),
        file: z.string().regex(FILE_NAME, 'is no file of the page').describe('Name of the file'),
      }),
      reply: null,
      alternatives: { 'text/css': { description: 'A style sheet.' }, 'text/javascript': { description: 'A script.' } },
      errors: ['NOT_FOUND'],
      handle: ({ params: { folder, file } }) => toPageFileReply(getPageFiles(folder).get(file), file),
    }),
  ];
}

function toPageFileReply(file: PageFile | undefined, name: string): Reply<never> {
  if (file === undefined) throw new OracleError('NOT_FOUND', `The page has no file ${name}`, { field: 'file' });
  return { headers: { 'Content-Type': file.type, ETag: file.etag, 'Cache-Control': 'no-cache' }, encoded: file.content };
}
