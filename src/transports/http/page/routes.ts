import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { getPageBundle, PAGE_FILE_NAME, type PageFile } from './page-bundle.ts';

export function pageFileRoutes(): Route[] {
  return [
    route('GET /page/{file}', 'getPageFile', {
      tag: 'service',
      cost: 'free',
      summary: 'Asset of the dashboard at `/`',
      description:
        'Script and style sheet, without assets of other hosts. The name changes with the content, which caches keep for a year.',
      params: z.object({ file: z.string().regex(PAGE_FILE_NAME, 'is no file of the page').describe('Name of the file') }),
      reply: null,
      alternatives: { 'text/css': { description: 'The style sheet.' }, 'text/javascript': { description: 'The script.' } },
      errors: ['NOT_FOUND'],
      handle: ({ params: { file } }) => toPageFileReply(getPageBundle().files.get(file), file),
    }),
  ];
}

const HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable' };

function toPageFileReply(file: PageFile | undefined, name: string): Reply<never> {
  if (file === undefined) throw new OracleError('NOT_FOUND', `The page has no file ${name}`, { field: 'file' });
  return { headers: { ...HEADERS, 'Content-Type': file.type, ETag: `"${name}"` }, encoded: file.content };
}
