import { DOCUMENT_PAGES, type DocumentPage } from './documents.ts';

/** The paths of a repository, as URLs that can be resolved. */
const REPOSITORY = 'http://repository.invalid/';
const DOCS = `${REPOSITORY}docs/`;

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/**
 * Address of a link in a document, absolute or relative to the base of all pages. Null if it leads nowhere: to a file that is no page, or
 * to another scheme.
 */
export function resolveLink(href: string, { path }: Pick<DocumentPage, 'path'>, publicUrl: string): string | null {
  if (href.startsWith('#')) return `${path}${href}`;
  if (!URL.canParse(href, DOCS)) return null;
  const url = new URL(href, DOCS);
  if (!url.href.startsWith(REPOSITORY)) return SCHEMES.has(url.protocol) ? toOwnPage(href, publicUrl) : null;
  if (href.startsWith('/')) return href.slice(1);
  const page = DOCUMENT_PAGES.find(({ file }) => file !== undefined && url.pathname === `/docs/${file}`);
  return page === undefined ? null : `${page.path}${url.hash}`;
}

/** The page of a Markdown address of this service; other addresses stay as they are. */
function toOwnPage(href: string, publicUrl: string): string {
  const [address, fragment] = href.split('#');
  const page = DOCUMENT_PAGES.find(({ markdownPath }) => address === `${publicUrl.replace(/\/+$/, '')}/${markdownPath}`);
  if (page === undefined) return href;
  return fragment === undefined ? page.path : `${page.path}#${fragment}`;
}
