import { readFileSync } from 'node:fs';
import { Lexer, type Token, type Tokens } from 'marked';
import { z } from 'zod';
import { renderMethodology } from '../../../agent-card/documents.ts';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { renderSkillFile } from '../../../agent-card/skill-documents.ts';
import { el, type Markup } from '../../page/markup.ts';
import { createStaticReply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { PAGE_HEADERS, renderPage } from './home.ts';

const DOCS_FOLDER = new URL('../../../docs/', import.meta.url);

/** A Markdown text that is also a page. */
interface DocumentPage {
  /** Path of the page, without the base. */
  path: string;
  /** Path of the Markdown, without the base. */
  markdownPath: string;
  /** Name in navigation and in the title of the browser. */
  label: string;
  description: string;
  /** Path of the page that this one belongs to; empty: the first page. */
  parent: string;
  /** File in `docs/`, to which links of other files refer; absent for a generated text. */
  file?: string;
  /** @throws if the folder `docs/` is not installed */
  readMarkdown(deps: Services): string;
}

/** Pages of the header's navigation. */
export const MAIN_DOCUMENTS: readonly DocumentPage[] = [
  {
    path: 'method',
    markdownPath: ENDPOINTS.methodology.slice(1),
    label: 'Method',
    description: 'How forecasts are made, committed, resolved and scored, and what the record is worth.',
    parent: '',
    readMarkdown: renderMethodology,
  },
  {
    path: 'agents',
    markdownPath: ENDPOINTS.skillFile.slice(1),
    label: 'For agents',
    description: 'Step-by-step instructions for agents: skills, tokens, payments, MCP and A2A.',
    parent: '',
    readMarkdown: renderSkillFile,
  },
  readable('VERIFY', { path: 'verify', label: 'Verify', description: 'How to check a forecast, the record or a receipt without trust.' }),
  readable('OPERATE', {
    path: 'operate',
    label: 'Operate',
    description: 'How to run a real record: on Base, with real prices, for years.',
  }),
];

/** Texts below the main ones; `documents/{name}`. */
const FURTHER_DOCUMENTS: readonly DocumentPage[] = [
  readable('MODEL', { parent: 'method', label: 'Model card', description: 'Inputs, method, results, failures and limits of the model.' }),
  readable('DATA', { parent: 'method', label: 'Data', description: 'Market data, inputs of the model, attestations, and the dataset.' }),
  readable('AUDIT', { parent: 'verify', label: 'Audit', description: 'The command that recomputes the record from chain and prices.' }),
  readable('PROMISES', { parent: 'verify', label: 'Promises', description: 'What the service guarantees, and the tests that check it.' }),
  readable('API', { parent: 'agents', label: 'API guide', description: 'Operations, login, limits, errors and conventions.' }),
  readable('ASSISTANTS', { parent: 'agents', label: 'Assistants', description: 'How to connect an assistant or an editor over MCP.' }),
  readable('CLI', { parent: 'agents', label: 'Command line', description: 'The commands of svc, a client of the service.' }),
  readable('EVENTS', { parent: 'agents', label: 'Events', description: 'Events over WebSocket and webhooks.' }),
  readable('PAYING', { parent: 'agents', label: 'Paying', description: 'Three ways to pay, retries, receipts and the ledger.' }),
  readable('CONTEST', { parent: 'agents', label: 'Contest', description: 'Rules and scoring of the contest against the oracle.' }),
  readable('SETTINGS', { parent: 'operate', label: 'Settings', description: 'All settings of the service.' }),
];

export const DOCUMENT_PAGES: readonly DocumentPage[] = [...MAIN_DOCUMENTS, ...FURTHER_DOCUMENTS];

/** A file of `docs/`, whose Markdown is served as `documents/{name}.md`. */
function readable(name: string, page: Pick<DocumentPage, 'label' | 'description'> & { path?: string; parent?: string }): DocumentPage {
  const file = `${name}.md`;
  const readMarkdown = () => readFileSync(new URL(file, DOCS_FOLDER), 'utf8');
  const path = `documents/${name.toLowerCase()}`;
  return { path, parent: '', ...page, markdownPath: `${path}.md`, file, readMarkdown };
}

const MARKDOWN_HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8', 'Cache-Control': 'public, max-age=3600' };

const FOLDER = 'documents/';

/** Documents as pages, and those that no other route serves also as Markdown. */
export function documentRoutes(deps: Services): Route[] {
  const createPageReply = (page: DocumentPage) =>
    createStaticReply(
      () => renderDocumentPage(page, deps),
      () => PAGE_HEADERS,
    );
  const replies = new Map([
    ...FURTHER_DOCUMENTS.map((page) => [page.path, createPageReply(page)] as const),
    ...DOCUMENT_PAGES.map(
      (page) =>
        [
          page.markdownPath,
          createStaticReply(
            () => page.readMarkdown(deps),
            () => MARKDOWN_HEADERS,
          ),
        ] as const,
    ),
  ]);
  const files = [...replies.keys()].filter((path) => path.startsWith(FOLDER)).map((path) => path.slice(FOLDER.length));
  return [
    ...MAIN_DOCUMENTS.map((page) =>
      route(`GET /${page.path}`, `get${page.label.replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())}Page`, {
        tag: 'service',
        summary: `Page for browsers: ${page.label}`,
        description: `${page.description} As Markdown: \`/${page.markdownPath}\`.`,
        reply: null,
        alternatives: { 'text/html': { description: 'The page.' } },
        handle: createPageReply(page),
      }),
    ),
    route(`GET /${FOLDER}{file}`, 'getDocument', {
      tag: 'service',
      summary: 'A document, as a page or as Markdown',
      description: 'Names with the ending `.md` are Markdown, such as `verify.md`; the others are pages for browsers.',
      params: z.object({ file: z.enum(files, 'is no document').describe('Name of the document') }),
      reply: null,
      alternatives: { 'text/html': { description: 'The page.' }, 'text/markdown': { description: 'The Markdown.' } },
      handle: ({ params: { file } }) => replies.get(`${FOLDER}${file}`)!(),
    }),
  ];
}

/** A document as HTML: its text beside its table of contents. */
function renderDocumentPage(page: DocumentPage, deps: Services): string {
  const { headings, body } = renderMarkdown(page.readMarkdown(deps), (href) => resolveLink(href, page, deps.publicUrl));
  return renderPage(deps.publicUrl, {
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

interface Heading {
  id: string;
  text: string;
  depth: number;
}

/** Markdown as a tree of elements, whose text is only ever text: HTML in it is not interpreted. */
export function renderMarkdown(markdown: string, resolve: LinkResolver): { headings: Heading[]; body: Markup } {
  const renderer = new MarkdownRenderer(resolve);
  // Agent Skills begin with a block of YAML.
  const body = renderer.renderBlocks(new Lexer({ gfm: true }).lex(markdown.replace(/^---\n[\s\S]*?\n---\n/, '')));
  return { headings: renderer.headings, body };
}

class MarkdownRenderer {
  readonly headings: Heading[] = [];
  private readonly toId = createHeadingIds();
  private readonly resolve: LinkResolver;

  constructor(resolve: LinkResolver) {
    this.resolve = resolve;
  }

  renderBlocks(tokens: readonly Token[]): Markup {
    return (tokens as readonly Tokens.Generic[]).map((token) => this.renderBlock(token));
  }

  private renderBlock(token: Tokens.Generic): Markup {
    switch (token.type) {
      case 'heading':
        return this.renderHeading(token as Tokens.Heading);
      case 'paragraph':
        return el('p', {}, this.renderLine(token));
      case 'text':
        return this.renderLine(token);
      case 'list':
        return this.renderList(token as Tokens.List);
      case 'table':
        return renderTable(token as Tokens.Table, this.headings.at(-1)?.text ?? '', this.resolve);
      case 'code':
        return el('pre', {}, el('code', {}, token.text.trimEnd()));
      case 'blockquote':
        return el('blockquote', {}, this.renderBlocks(token.tokens ?? []));
      case 'hr':
        return el('hr');
      case 'html':
        return isComment(token.raw) ? null : el('p', {}, token.raw);
      default:
        return null;
    }
  }

  private renderHeading({ depth, tokens }: Tokens.Heading): Markup {
    const text = toPlainText(tokens);
    const id = this.toId(text);
    this.headings.push({ id, text, depth });
    return el(`h${depth}`, { id }, renderInline(tokens, this.resolve));
  }

  private renderList({ ordered, start, items }: Tokens.List): Markup {
    const entries = items.map(({ tokens }) => el('li', {}, this.renderBlocks(tokens)));
    return ordered ? el('ol', { start: start !== 1 && start }, entries) : el('ul', {}, entries);
  }

  private renderLine({ tokens, text }: Tokens.Generic): Markup {
    return tokens === undefined ? text : renderInline(tokens, this.resolve);
  }
}

/** Assigns ids to headings as GitHub does: a repeated one gets a number. */
function createHeadingIds(): (text: string) => string {
  const used = new Map<string, number>();
  return (text) => {
    const id = text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = used.get(id) ?? 0;
    used.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

/** Address of a link; null: its text alone is written. */
type LinkResolver = (href: string) => string | null;

/** Text within a line. Everything that is no Markdown, such as HTML, is written as text. */
function renderInline(tokens: readonly Token[], resolve: LinkResolver): Markup {
  return (tokens as readonly (Tokens.Generic | Token)[]).map((token) => renderToken(token as Tokens.Generic, resolve));
}

function renderToken(token: Tokens.Generic, resolve: LinkResolver): Markup {
  const inner = () => (token.tokens === undefined ? decodeEntities(token.text) : renderInline(token.tokens, resolve));
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return el(token.type, {}, inner());
    case 'codespan':
      return el('code', {}, token.text);
    case 'br':
      return el('br');
    case 'link': {
      const href = resolve(token.href);
      return href === null ? inner() : el('a', { href }, inner());
    }
    case 'image':
    case 'escape':
      return token.text;
    case 'html':
      return isComment(token.raw) ? null : token.raw;
    default:
      return inner();
  }
}

/** Markers of generated tables. */
function isComment(html: string): boolean {
  return /^\s*<!--[\s\S]*-->\s*$/.test(html);
}

/** What a reader sees of a line: for ids and labels. */
function toPlainText(tokens: readonly Token[]): string {
  return (tokens as readonly Tokens.Generic[])
    .map((token) => (token.tokens === undefined ? decodeEntities(token.text ?? '') : toPlainText(token.tokens)))
    .join('');
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' };

/** The parser leaves entities as they are. */
function decodeEntities(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name]!);
}

/** A table that scrolls within itself, by keyboard too. @param heading nearest heading above, which names it */
function renderTable({ header, rows }: Tokens.Table, heading: string, resolve: LinkResolver): Markup {
  return el(
    'div',
    { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': `Table: ${heading}` },
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, header.map(renderHeaderCell))),
      el(
        'tbody',
        {},
        rows.map((row) => el('tr', {}, row.map(renderCell))),
      ),
    ),
  );

  function renderHeaderCell(cell: Tokens.TableCell): Markup {
    return cell.text === '' ? el('td') : el('th', { scope: 'col', class: toClass(cell) }, renderInline(cell.tokens, resolve));
  }

  function renderCell(cell: Tokens.TableCell): Markup {
    return el('td', { class: toClass(cell) }, renderInline(cell.tokens, resolve));
  }
}

/** Alignment by class, since the policy of the page forbids inline styles. */
function toClass({ align }: Tokens.TableCell): string | false {
  return align === 'right' ? 'numeric' : align === 'center' && 'centered';
}

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
