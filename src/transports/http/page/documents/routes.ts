import { z } from 'zod';
import { createStaticReply } from '../../server/replies/static-reply.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { PAGE_HEADERS } from '../shell.ts';
import { renderDocumentPage } from './document-page.ts';
import { DOCUMENT_PAGES, type DocumentDeps, type DocumentPage, FURTHER_DOCUMENTS, MAIN_DOCUMENTS } from './documents.ts';

const MARKDOWN_HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8', 'Cache-Control': 'public, max-age=3600' };

const FOLDER = 'documents/';

/** Documents as pages, and those that no other route serves also as Markdown. */
export function documentRoutes(deps: DocumentDeps): Route[] {
  return [...MAIN_DOCUMENTS.map((page) => pageRoute(page, deps)), fileRoute(deps)];
}

function pageRoute(page: DocumentPage, deps: DocumentDeps): Route {
  return route(`GET /${page.path}`, `get${page.label.replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())}Page`, {
    tag: 'service',
    summary: `Page for browsers: ${page.label}`,
    description: `${page.description} As Markdown: \`/${page.markdownPath}\`.`,
    reply: null,
    alternatives: { 'text/html': { description: 'The page.' } },
    handle: createPageReply(page, deps),
  });
}

function fileRoute(deps: DocumentDeps): Route {
  const replies = new Map<string, () => Reply<never>>([
    ...FURTHER_DOCUMENTS.map((page) => [toFileName(page.path), createPageReply(page, deps)] as const),
    ...DOCUMENT_PAGES.filter(({ markdownPath }) => markdownPath.startsWith(FOLDER)).map(
      (page) => [toFileName(page.markdownPath), createMarkdownReply(page, deps)] as const,
    ),
  ]);
  return route(`GET /${FOLDER}{file}`, 'getDocument', {
    tag: 'service',
    summary: 'A document, as a page or as Markdown',
    description: 'Names with the ending `.md` are Markdown, such as `verify.md`; the others are pages for browsers.',
    params: z.object({ file: z.enum([...replies.keys()], 'is no document').describe('Name of the document') }),
    reply: null,
    alternatives: { 'text/html': { description: 'The page.' }, 'text/markdown': { description: 'The Markdown.' } },
    handle: ({ params: { file } }) => replies.get(file)!(),
  });
}

function toFileName(path: string): string {
  return path.slice(FOLDER.length);
}

function createPageReply(page: DocumentPage, deps: DocumentDeps): () => Reply<never> {
  return createStaticReply(
    () => renderDocumentPage(page, deps),
    () => PAGE_HEADERS,
  );
}

function createMarkdownReply(page: DocumentPage, deps: DocumentDeps): () => Reply<never> {
  return createStaticReply(
    () => page.readMarkdown(deps),
    () => MARKDOWN_HEADERS,
  );
}
