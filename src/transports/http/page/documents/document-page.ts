import { el, type Markup } from '../../../../views/markup.ts';
import { renderPage } from '../shell.ts';
import { DOCUMENT_PAGES, type DocumentDeps, type DocumentPage } from './documents.ts';
import { type Heading, renderMarkdown } from './render-markdown.ts';
import { resolveLink } from './resolve-link.ts';

/** A document as HTML: its text beside its table of contents. */
export function renderDocumentPage(page: DocumentPage, deps: DocumentDeps): string {
  const { publicUrl } = deps;
  const { headings, body } = renderMarkdown(page.readMarkdown(deps), (href) => resolveLink(href, page, publicUrl));
  return renderPage(publicUrl, {
    title: page.label,
    description: page.description,
    path: page.path,
    kind: 'document',
    head: el('link', { rel: 'alternate', type: 'text/markdown', href: page.markdownPath }),
    body: el('main', { id: 'main', class: 'document', tabindex: -1 }, [
      renderWayBack(page),
      el('div', { class: 'document-aside' }, renderContents(page, headings), renderRelated(page)),
      el('article', {}, body),
    ]),
  });
}

/** Links to the pages above, and to the Markdown. */
function renderWayBack(page: DocumentPage): Markup {
  const parent = DOCUMENT_PAGES.find(({ path }) => path === page.parent);
  return el('nav', { class: 'way-back', 'aria-label': 'Breadcrumb' }, [
    el('a', { href: './' }, 'Today'),
    parent && el('a', { href: parent.path }, parent.label),
    el('span', { 'aria-current': 'page' }, page.label),
    el('a', { class: 'as-markdown', href: page.markdownPath, type: 'text/markdown' }, 'As Markdown'),
  ]);
}

/** Chapters and their sections. Closed where there is little room; the style sheet shows it beside the text elsewhere. */
function renderContents({ path }: DocumentPage, headings: readonly Heading[]): Markup {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (listed.length === 0) return null;
  return el(
    'details',
    { class: 'contents' },
    el('summary', {}, 'On this page'),
    el(
      'nav',
      { 'aria-label': 'On this page' },
      el(
        'ul',
        {},
        listed.map(({ id, text, depth }) => el('li', { class: `depth-${depth}` }, el('a', { href: `${path}#${id}` }, text))),
      ),
    ),
  );
}

/** Documents that belong to this one, or beside it to the same. */
function renderRelated({ path, parent }: DocumentPage): Markup {
  const wanted = parent === '' ? path : parent;
  const related = DOCUMENT_PAGES.filter((other) => other.parent === wanted && other.path !== path);
  if (related.length === 0) return null;
  return el('nav', { class: 'related', 'aria-label': 'Related documents' }, [
    el('p', {}, 'See also'),
    el(
      'ul',
      {},
      related.map((other) => el('li', {}, el('a', { href: other.path }, other.label))),
    ),
  ]);
}
