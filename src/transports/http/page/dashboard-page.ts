import { IDENTITY } from '../../../../agent-card/identity.ts';
import { escapeHtml } from '../server/replies/escape-html.ts';
import { getPageBundle } from './page-bundle.ts';

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
  return getPageBundle().template.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: keyof typeof values) => escapeHtml(values[name]));
}
