import { z } from 'zod';
import { IDENTITY } from '../../../../agent-card/identity.ts';
import { OracleError } from '../../../platform/errors.ts';
import { escapeHtml } from '../server/replies/escape-html.ts';
import { createStaticReply } from '../server/replies/static-reply.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { getPageBundle, PAGE_FILE_NAME, type PageFile } from './page-bundle.ts';

/** All resources come from this origin. `connect-src` admits the RPC endpoint that the reader verifies attestations with. */
const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Wallets announce themselves with a data: icon (EIP-6963).
  "img-src 'self' data:",
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export function createPageReply({ publicUrl }: { publicUrl: string }): () => Reply<never> {
  const headers = () => ({ 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': PAGE_CSP, Vary: 'Accept' });
  return createStaticReply(() => renderDashboardPage({ publicUrl }), headers);
}

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

function renderDashboardPage({ publicUrl }: { publicUrl: string }): string {
  const base = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`;
  const values = { base, title: IDENTITY.name, description: IDENTITY.description };
  return getPageBundle().template.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: keyof typeof values) => escapeHtml(values[name]));
}
