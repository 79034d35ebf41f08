import { IDENTITY } from '../../../../agent-card/identity.ts';
import { escapeHtml } from '../server/replies/escape-html.ts';
import { getPageFiles, PAGE_FOLDERS, readPageTemplate } from './page-files.ts';

/** Where the page is, beside its parts. */
const PAGE_PATH = '/page';

/**
 * Everything that the page runs and shows comes from this service. It asks this service, and the RPC endpoint that its reader chooses to
 * check attestations by: any over https, or one of his own machine.
 */
export const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Wallets introduce themselves with an icon of their own (EIP-6963).
  "img-src 'self' data:",
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The page as it is sent, under the path that the service is reached at. */
export function renderDashboardPage({ publicUrl }: { publicUrl: string }): string {
  const base = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`;
  const filled = { base, title: IDENTITY.name, description: IDENTITY.description };
  return readPageTemplate()
    .replace(
      '<!-- styles -->',
      renderLinks('styles', (href) => `<link rel="stylesheet" href="${href}">`),
    )
    .replace(
      '<!-- modules -->',
      MODULE_FOLDERS.map((folder) => renderLinks(folder, (href) => `<link rel="modulepreload" href="${href}">`)).join('\n'),
    )
    .replaceAll(/\{\{(\w+)\}\}/g, (_all, name: keyof typeof filled) => escapeHtml(filled[name]));
}

const MODULE_FOLDERS = PAGE_FOLDERS.filter((folder) => folder !== 'styles');

/** The sheet that the others build on. */
const FIRST_STYLE = 'base.css';

/** Relative to the base of the page. */
function renderLinks(folder: (typeof PAGE_FOLDERS)[number], link: (href: string) => string): string {
  const names = [...getPageFiles(folder).keys()].toSorted((a, b) => Number(b === FIRST_STYLE) - Number(a === FIRST_STYLE));
  return names.map((name) => link(`${PAGE_PATH.slice(1)}/${folder}/${name}`)).join('\n');
}
