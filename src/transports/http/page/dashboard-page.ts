import { IDENTITY } from '../../../../agent-card/identity.ts';
import { escapeHtml } from '../server/replies/escape-html.ts';
import { getPageFiles, PAGE_FOLDERS, readPageTemplate } from './page-files.ts';

/** All resources come from this origin. `connect-src` admits the RPC endpoint that the reader verifies attestations with. */
export const PAGE_CSP = [
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

export function renderDashboardPage({ publicUrl }: { publicUrl: string }): string {
  const base = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`;
  const values = { base, title: IDENTITY.name, description: IDENTITY.description };
  const styles = renderLinks('styles', (href) => `<link rel="stylesheet" href="${href}">`);
  const modules = PAGE_FOLDERS.filter((folder) => folder !== 'styles').map((folder) =>
    renderLinks(folder, (href) => `<link rel="modulepreload" href="${href}">`),
  );
  return readPageTemplate()
    .replace('<!-- styles -->', styles)
    .replace('<!-- modules -->', modules.join('\n'))
    .replaceAll(/\{\{(\w+)\}\}/g, (_all, name: keyof typeof values) => escapeHtml(values[name]));
}

/** The other style sheets override it. */
const FIRST_STYLE = 'base.css';

/** URLs are relative to the base of the page. */
function renderLinks(folder: (typeof PAGE_FOLDERS)[number], renderLink: (href: string) => string): string {
  const names = [...getPageFiles(folder).keys()].toSorted((a, b) => Number(b === FIRST_STYLE) - Number(a === FIRST_STYLE));
  return names.map((name) => renderLink(`page/${folder}/${name}`)).join('\n');
}
