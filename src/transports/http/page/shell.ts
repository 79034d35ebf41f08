import { createHash } from 'node:crypto';
import { IDENTITY } from '../../../../agent-card/identity.ts';
import { el, type Markup, renderMarkup } from '../../../views/markup.ts';
import type { PageKind } from '../../../views/page-kind.ts';
import { getPageBundle, type OwnBundle } from './page-bundle.ts';

export interface PageContent {
  /** Title in the browser; the name of the service is added. Absent: the name alone. */
  title?: string;
  description?: string;
  /** Path of this page without the base, such as `f/2026-11-22/7d`; empty for the dashboard. */
  path: string;
  /** What the script mounts: the value of `data-page` on the body. */
  kind: PageKind;
  /** For a page with a script of its own in place of the common one, and further styles. */
  bundle?: OwnBundle;
  /** Further elements of the head, such as an image for link previews. */
  head?: Markup;
  /** Parts of the header beside name and navigation. */
  header?: Markup;
  body: Markup;
  footer?: Markup;
}

/** Links of every page's header; the path is relative to the base. */
const NAVIGATION = [
  { path: 'f', label: 'Forecasts' },
  { path: 'method', label: 'Method' },
  { path: 'agents', label: 'Agents' },
  { path: 'docs', label: 'API' },
  { path: 'verify', label: 'Verify' },
  { path: 'operate', label: 'Operate' },
] as const;

/** Before the first paint, so that a chosen theme does not flash. */
const THEME_SCRIPT = `try{const t=localStorage.getItem('oracle-theme');if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch{}`;

/** All resources come from this origin. `connect-src` admits the RPC endpoint that the reader verifies attestations with. */
export const PAGE_CSP = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(THEME_SCRIPT).digest('base64')}'`,
  "style-src 'self'",
  // Wallets announce themselves with a data: icon (EIP-6963).
  "img-src 'self' data:",
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
  "frame-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export const PAGE_HEADERS = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': PAGE_CSP, Vary: 'Accept' };

/** The HTML document of a page: every page of the service has this head, header and footer, one script and one style sheet. */
export function renderPage(publicUrl: string, content: PageContent): string {
  const { kind, body, header, footer, path } = content;
  const document = el(
    'html',
    { lang: 'en' },
    renderHead(publicUrl, content),
    el(
      'body',
      { 'data-page': kind },
      el('a', { class: 'skip', href: `${path}#main` }, 'Skip to the content'),
      renderHeader(path, header),
      body,
      footer === undefined ? null : el('footer', {}, footer),
    ),
  );
  // The script holds no markup character, which `renderMarkup` would escape.
  return `<!doctype html>\n${renderMarkup(document).replace('{{theme}}', () => THEME_SCRIPT)}\n`;
}

function renderHead(publicUrl: string, { title, description = IDENTITY.description, path, head, bundle }: PageContent): Markup {
  const { names } = getPageBundle();
  const own = bundle && names[bundle];
  const base = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`;
  return el('head', {}, [
    el('meta', { charset: 'utf-8' }),
    el('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    el('meta', { name: 'color-scheme', content: 'light dark' }),
    el('meta', { name: 'description', content: description }),
    el('base', { href: base }),
    el('title', {}, title === undefined ? IDENTITY.name : `${title} - ${IDENTITY.name}`),
    el('link', { rel: 'canonical', href: `${publicUrl}/${path}` }),
    el('link', { rel: 'icon', href: 'icon.svg', type: 'image/svg+xml' }),
    el('link', { rel: 'stylesheet', href: `page/${names.style}` }),
    own && el('link', { rel: 'stylesheet', href: `page/${own.style}` }),
    el('script', {}, '{{theme}}'),
    el('script', { type: 'module', src: `page/${(own ?? names).script}` }),
    head,
  ]);
}

function renderHeader(path: string, parts: Markup): Markup {
  const links = NAVIGATION.map((link) => el('a', { href: link.path, 'aria-current': link.path === path && 'page' }, link.label));
  return el('header', { class: 'top' }, [
    el('div', { class: 'top-line' }, [
      el('p', { class: 'name' }, el('img', { src: 'icon.svg', alt: '', width: 28, height: 28 }), el('a', { href: './' }, IDENTITY.name)),
      el('nav', { 'aria-label': 'Pages' }, links),
      parts,
      el('div', { id: 'theme' }),
    ]),
  ]);
}
